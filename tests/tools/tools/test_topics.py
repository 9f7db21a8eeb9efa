"""Tools and the resource that show topics and timelines, through the SDK's client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from hyperloci.config import Settings
from hyperloci.store import Store
from tests.support import text_of
from tests.tools.conftest import Connect
from tests.topics.themes import THEMES, WordEncoder, embed, fill

pytestmark = pytest.mark.anyio


@pytest.fixture
def themed(settings: Settings) -> None:
    with Store.open(settings.database) as store:
        fill(store, 10)
    embed(settings, WordEncoder())


@pytest.mark.req("E.09")
async def test_topics_are_listed_with_their_examples(connect: Connect, themed: None) -> None:
    async with connect("all") as client:
        answer = (await client.call_tool("list_topics", {"limit": 2})).structured_content
        stats = (await client.call_tool("memory_stats", {})).structured_content
    assert answer["total"] == stats["topics"] == len(THEMES)
    assert len(answer["topics"]) == 2
    topic = answer["topics"][0]
    assert topic["phase"] == "emerging"
    assert topic["member_count"] == 10
    assert topic["confidence"] == pytest.approx(topic["weighted_agreement"] / 8.5, abs=0.01)
    assert len(topic["examples"]) == 3
    assert set(topic["dominant_spaces"]) <= set(topic["strengths"])


@pytest.mark.req("E.09")
async def test_a_topic_is_a_resource(connect: Connect, themed: None) -> None:
    async with connect("all") as client:
        listed = (await client.call_tool("list_topics", {})).structured_content
        read = await client.read_resource(f"memory://topic/{listed['topics'][0]['id']}")
        with pytest.raises(MCPError, match="no topic"):
            await client.read_resource("memory://topic/none")
    told = json.loads(text_of(read))
    assert told["id"] == listed["topics"][0]["id"]
    assert len(told["examples"]) == 10


async def test_a_memory_without_topics_says_when_there_will_be_some(connect: Connect) -> None:
    async with connect("all") as client:
        answer = await client.call_tool("list_topics", {})
    assert answer.structured_content["topics"] == []
    assert "a dozen memories" in text_of(answer)


@pytest.mark.req("E.10")
async def test_a_timeline_is_told_in_order(connect: Connect) -> None:
    async with connect("all") as client:
        ids = [
            (await client.call_tool("remember_fact", {"fact": f"step {number}"})).structured_content["id"]
            for number in range(3)
        ]
        answer = (await client.call_tool("timeline", {"around": ids[1]})).structured_content
        refused = await client.call_tool("timeline", {})
    assert [event["memory"]["id"] for event in answer["events"]] == ids
    assert [event["relation"] for event in answer["events"]] == ["before", "anchor", "after"]
    assert refused.is_error


@pytest.mark.req("E.09", "E.10")
async def test_neither_is_in_the_core_set(connect: Connect, project: Path) -> None:
    async with connect("core") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert not {"list_topics", "timeline"} & names
