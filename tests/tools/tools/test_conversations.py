"""expand_chunk over the protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from hyperloci.config import Settings
from hyperloci.conversations.pyramid.pyramid_jobs import make_builder
from hyperloci.jobs import MaintenanceContext
from hyperloci.memory import Memory
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn
from hyperloci_tools.answer_values import ANSWER_CHARS
from tests.support import FakeClock, text_of
from tests.tools.conftest import Connect

pytestmark = pytest.mark.anyio

SAID = [
    f"Turn {n}: the invoice job must end by {n} o'clock.\n\t" + "It is late. " * 39 + "It is late." for n in range(130)
]
SAID[4] = " ".join(["We must keep this."] * (ANSWER_CHARS // 15))


@pytest.fixture
def chunks(settings: Settings, project: Path) -> dict[PyramidLevel, str]:
    """The id of the first chunk of each level."""
    with Memory.open(settings, project) as memory:
        turns = [
            Turn(uuid=f"u{n}", role=Speaker.USER, text=text, timestamp_ms=1_800_000_000_000 + n)
            for n, text in enumerate(SAID)
        ]
        memory.add_turns("s", turns)
        make_builder(MaintenanceContext(store=memory.store, settings=settings, clock=FakeClock())).advance_all()
        return {level: memory.store.chunks.list_of_session(1, level)[0].id for level in PyramidLevel}


async def pages(client: Client, id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    first: int | None = 0
    while first is not None:
        result = await client.call_tool("expand_chunk", {"id": id, "first": first})
        assert not result.is_error, result.content
        found.append(result.structured_content)
        first = result.structured_content.get("next")
    return found


@pytest.mark.req("C.07")
@pytest.mark.parametrize("level", PyramidLevel)
async def test_a_chunk_gives_its_turns_word_for_word_in_pages(
    chunks: dict[PyramidLevel, str], connect: Connect, level: PyramidLevel
) -> None:
    async with connect("all") as client:
        found = await pages(client, chunks[level])
    turns = [turn for page in found for turn in page["turns"]]
    assert [turn["content"] for turn in turns] == SAID[: len(turns)]
    assert len(turns) == found[0]["total"] == {"micro": 10, "mini": 25, "macro": 100}[level]
    assert all(turn["whole"] and turn["tokens"] > 0 for turn in turns)
    assert found[0]["level"] == level and "must" in found[0]["content"] and found[0]["note"]


async def test_the_text_says_the_same(chunks: dict[PyramidLevel, str], connect: Connect) -> None:
    async with connect("all") as client:
        result = await client.call_tool("expand_chunk", {"id": chunks[PyramidLevel.MICRO]})
    text = text_of(result)
    assert (
        "> Turn 3: the invoice job must end by 3 o'clock." in text
        and "10 turns in all; for the next page call again with first=" in text
    )


async def test_what_is_no_chunk_is_an_error_that_says_what_would_be(connect: Connect) -> None:
    async with connect("all") as client:
        result = await client.call_tool("expand_chunk", {"id": "nope"})
    assert result.is_error and "id='nope': no chunk" in text_of(result)


async def test_the_core_set_does_not_grow(connect: Connect) -> None:
    async with connect("core") as client:
        assert "expand_chunk" not in {tool.name for tool in (await client.list_tools()).tools}
