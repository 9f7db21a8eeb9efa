"""Tools and the resource that show topics and timelines, through the SDK's client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType
from hyperloci.model.topic import TOPIC_WEIGHTS, TopicPhase
from hyperloci.store import Store
from hyperloci.store.memories.topics import FoundTopic
from tests.support import NOW, add, text_of
from tests.tools.conftest import Connect
from tests.topics.themes import THEMES, WordEncoder, embed, fill, model_of

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
        one = json.loads(text_of(await client.read_resource(f"memory://topic/{answer['topics'][0]['id']}")))
    assert answer["total"] == stats["topics"] == len(THEMES)
    assert len(answer["topics"]) == 2
    topic = answer["topics"][0]
    assert topic["phase"] == "emerging"
    assert topic["member_count"] == 10
    assert topic["confidence"] == pytest.approx(topic["weighted_agreement"] / 8.5, abs=0.01)
    assert len(topic["examples"]) == 1
    assert set(topic["dominant_spaces"]) <= set(one["strengths"])
    assert f"{len(THEMES) - 2} smaller topics" in answer["more"] and "memory://topic/ID" in answer["more"]


def store_topics(store: Store, count: int) -> None:
    """Store topics with three long memories each."""
    encoder = model_of(store)
    names = [f"{number} invoices, payments, refunds, currencies, taxes" for number in range(count)]
    topics = [
        FoundTopic(
            key=None,
            id=f"{number:08}-aaaa-4aaa-8aaa-aaaaaaaaaaaa",
            name=name,
            terms=tuple(name.split()),
            phase=TopicPhase.STABLE,
            agreement=6.5,
            strengths=dict.fromkeys(TOPIC_WEIGHTS, 0.75),
            churn=0.0,
            recalled=0.0,
            recalled_before=0.0,
            settled_at=NOW,
            model_key=encoder,
            centroid=b"",
            floor=0.5,
            members={
                add(store, f"{name} {place} " + "and so on " * 80, place=f"{number} {place}").key: 1.0
                for place in "abc"
            },
        )
        for number, name in enumerate(names)
    ]
    with store.transaction():
        scope = store.scopes.ensure_scope(GLOBAL_SCOPE, now=NOW)
        store.topics.replace_topics(scope, topics, {}, now=NOW)
        store.topics.record_run(scope, 3 * count, now=NOW)


async def test_a_list_of_topics_is_short_however_long_their_memories_are(
    connect: Connect, settings: Settings, themed: None
) -> None:
    with Store.open(settings.database) as store:
        store_topics(store, 100)
    async with connect("all") as client:
        few = await client.call_tool("list_topics", {})
        all_of_them = await client.call_tool("list_topics", {"limit": 100})
    assert len(few.structured_content["topics"]) == 20
    assert len(all_of_them.structured_content["topics"]) == 100
    assert len(text_of(few)) < 12_000 and len(json.dumps(few.structured_content)) < 20_000
    assert len(text_of(all_of_them)) < 50_000


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
        sessionless = await client.call_tool("timeline", {})
    assert [event["memory"]["id"] for event in answer["events"]] == ids
    assert [event["relation"] for event in answer["events"]] == ["before", "anchor", "after"]
    assert "No session of this project" in text_of(sessionless) and not sessionless.is_error


async def test_a_timeline_of_nothing_in_particular_is_that_of_the_latest_session(
    connect: Connect, settings: Settings, project: Path
) -> None:
    with Memory.open(settings, project) as memory, memory.store.transaction():
        scope = memory.store.scopes.ensure_scope(memory.project.id, now=NOW)
        for seen, name in enumerate(("first", "second")):
            key = memory.store.sessions.note_seen(name, scope, now=NOW + seen).key
            add(
                memory.store,
                f"said in the {name}",
                subtype="episode",
                type=NodeType.EXPERIENCE,
                scope=memory.project.id,
                session_key=key,
                seq=0,
            )
    async with connect("all") as client:
        answer = (await client.call_tool("timeline", {})).structured_content
    assert answer["session_id"] == "second"
    assert [event["memory"]["content"] for event in answer["events"]] == ["said in the second"]


@pytest.mark.req("E.09", "E.10")
async def test_neither_is_in_the_core_set(connect: Connect, project: Path) -> None:
    async with connect("core") as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert not {"list_topics", "timeline"} & names
