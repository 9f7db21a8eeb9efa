"""The tools of relations, as a client calls them."""

from __future__ import annotations

import pytest

from tests.support import text_of
from tests.tools.conftest import Connect

pytestmark = pytest.mark.anyio


@pytest.mark.req("D.02")
async def test_a_relation_is_told_by_the_label_under_which_it_is_stored(connect: Connect) -> None:
    async with connect("all") as client:
        ids = [(await client.call_tool("remember_fact", {"fact": fact})) for fact in ("one thing", "another thing")]
        members = [{"id": found.structured_content["id"]} for found in ids if found.structured_content]
        joined = await client.call_tool("relate", {"label": " Leans on", "members": members})
    assert text_of(joined).startswith("2 memories joined by 'leans_on'")
