"""Tools, prompts and resource that look after the memory, over the protocol."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import CallToolResult

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn
from tests.support import text_of
from tests.tools.conftest import Connect

pytestmark = pytest.mark.anyio

TALK = (
    (Speaker.USER, "Let's use PostgreSQL for the invoices because SQLite locks up under our load."),
    (Speaker.ASSISTANT, "Done. The root cause was a missing index on `invoices.tenant_id`."),
)


def turns(session: str = "session-1") -> list[Turn]:
    return [
        Turn(uuid=f"turn-{n} of {session}", role=role, text=text, timestamp_ms=1_800_000_000_000 + n)
        for n, (role, text) in enumerate(TALK)
    ]


async def call(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result


async def prompted(client: Client, name: str, **arguments: str) -> str:
    return text_of(await client.get_prompt(name, arguments))


@pytest.fixture
def remembering(settings: Settings, project: Path) -> Callable[[], Memory]:
    """Opens the memory that the server of `connect` serves."""
    return lambda: Memory.open(settings, project)


@pytest.mark.req("B.15")
async def test_weak_facts_are_listed_with_their_days(connect: Connect) -> None:
    async with connect("all") as client:
        assert (await call(client, "weak_facts")).structured_content == {"facts": []}
        await call(client, "remember_fact", fact="The gateway times out after 30 seconds.", confidence=0.3)
        await call(client, "remember_fact", fact="The gateway is written in Go.")
        result = await call(client, "weak_facts")
        (fact,) = result.structured_content["facts"]
        assert fact["content"] == "The gateway times out after 30 seconds."
        assert fact["confidence_now"] == pytest.approx(0.3, abs=0.01)
        assert fact["days_to_prune"] == pytest.approx(36.9, abs=0.3)
        assert "forgotten in 37 days" in text_of(result)
        before = fact
        (again,) = (await call(client, "weak_facts")).structured_content["facts"]
        assert again["confidence"] == before["confidence"]
        assert "confirm_fact" in await prompted(client, "review_weak_facts")


@pytest.mark.req("B.17")
async def test_the_assistant_consolidates_a_session_that_it_is_shown(
    connect: Connect, remembering: Callable[[], Memory]
) -> None:
    async with connect("all") as client:
        assert "waits to be consolidated" in await prompted(client, "consolidate")
        with remembering() as memory:
            memory.add_turns("session-1", turns())
            with memory.store.transaction():
                memory.store.sessions.end_session("session-1", now=1_900_000_000_000)
        asked = await prompted(client, "consolidate")
        assert "save_consolidation with session_id session-1" in asked
        assert '{"turn": 0, "who": "user", "said": "Let\'s use PostgreSQL' in asked
        result = await call(
            client,
            "save_consolidation",
            session_id="session-1",
            payload={
                "facts": [
                    {"content": "PostgreSQL is used for the invoices.", "kind": "decision", "sources": [0]},
                    {"content": "There are 12 tenants.", "sources": [1]},
                ]
            },
        )
        shaped = result.structured_content
        assert (shaped["new"], [item["place"] for item in shaped["rejected"]]) == (1, ["facts[1]"])
        assert "refused facts[1]: says 12" in text_of(result)
        history = (await call(client, "explain_fact", id=shaped["ids"][0])).structured_content
        assert [source["content"] for source in history["sources"]] == [TALK[0][1]]
        assert "waits to be consolidated" in await prompted(client, "consolidate")
        report = json.loads(text_of(await client.read_resource("memory://session/session-1")))
        assert report["asked"] == TALK[0][1]
        assert [hit["content"] for hit in report["extracted"]] == ["PostgreSQL is used for the invoices."]
        assert TALK[1][1] in await prompted(client, "session_summary", session="session-1")


@pytest.mark.req("B.17")
async def test_the_assistant_gets_a_session_to_consolidate_by_the_tool_that_stores_it(
    connect: Connect, remembering: Callable[[], Memory]
) -> None:
    with remembering() as memory:
        for name in ("session-1", "session-2"):
            memory.add_turns(name, turns(name))
            with memory.store.transaction():
                memory.store.sessions.end_session(name, now=1_900_000_000_000)
    async with connect("core", consolidation="host") as client:
        for left in (1, 0):
            asked = (await call(client, "save_consolidation")).structured_content["request"]
            name = f"session-{2 - left}"
            assert f"save_consolidation with session_id {name}" in asked and TALK[0][1] in asked
            result = await call(client, "save_consolidation", session_id=name, payload={"facts": []})
            assert result.structured_content.get("sessions_waiting", 0) == left
            assert ("1 sessions still wait" in text_of(result)) == bool(left)
        assert "there is nothing to do" in text_of(await call(client, "save_consolidation"))


async def test_the_tool_of_consolidation_is_there_for_those_who_asked_for_it(connect: Connect) -> None:
    for changes, expected in (({}, False), ({"consolidation": "claude"}, False), ({"consolidation": "host"}, True)):
        async with connect("core", **changes) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
        assert ("save_consolidation" in names) == expected


async def test_an_unknown_session_is_refused_in_words(connect: Connect) -> None:
    async with connect("all") as client:
        result = await client.call_tool("save_consolidation", {"session_id": "nobody", "payload": {}})
        assert result.is_error
        assert "'nobody': there is no such session" in text_of(result)


@pytest.mark.req("B.12")
async def test_listing_and_reports_reinforce_nothing(connect: Connect, remembering: Callable[[], Memory]) -> None:
    with remembering() as memory:
        kept = memory.remember_fact("The gateway times out after 30 seconds.", confidence=0.3)
        before = memory.store.nodes.get_node(kept.id)
    async with connect("all") as client:
        await call(client, "weak_facts")
        await call(client, "recall_user_info")
        await client.read_resource(f"memory://node/{kept.id}")
        await prompted(client, "review_weak_facts")
    with remembering() as memory:
        assert memory.store.nodes.get_node(kept.id) == before
