"""What is known of an entity, as a client asks for it."""

from __future__ import annotations

import json

import pytest
from mcp.shared.exceptions import MCPError

from tests.support import text_of
from tests.tools.conftest import Connect

pytestmark = pytest.mark.anyio


@pytest.mark.req("B.15")
async def test_an_entity_is_told_by_any_of_its_names(connect: Connect) -> None:
    async with connect(tools="all") as client:
        await client.call_tool("remember_fact", {"fact": "AuthService keeps its tokens in Redis."})
        answered = await client.call_tool("get_entity_info", {"name": "auth-service"})
        found = answered.structured_content
        assert found["entity"]["canonical_name"] == "AuthService"
        assert [other["name"] for other in found["related_entities"]] == ["Redis"]
        assert "> AuthService keeps its tokens in Redis." in text_of(answered)
        resource = await client.read_resource("memory://entity/AuthService")
        assert json.loads(text_of(resource)) == found


@pytest.mark.req("B.15")
async def test_a_name_that_nothing_mentions_is_refused_with_a_way_on(connect: Connect) -> None:
    async with connect(tools="all") as client:
        answered = await client.call_tool("get_entity_info", {"name": "Nobody"})
        assert answered.is_error and "name='Nobody': no memory mentions this entity" in text_of(answered)
        with pytest.raises(MCPError):
            await client.read_resource("memory://entity/Nobody")


@pytest.mark.req("B.10")
async def test_a_search_is_narrowed_to_an_entity(connect: Connect) -> None:
    async with connect(tools="all") as client:
        await client.call_tool("remember_fact", {"fact": "AuthService keeps its tokens in Redis."})
        await client.call_tool("remember_fact", {"fact": "The mailer keeps its tokens in memory."})
        answered = await client.call_tool("search_memory", {"query": "tokens", "entity_name": "auth service"})
        assert [hit["content"] for hit in answered.structured_content["results"]] == [
            "AuthService keeps its tokens in Redis."
        ]
