"""Authorship: every writer says whose words a memory is, and through which assistant it came."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from mcp import Client

from hyperloci.app import build_server
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.memory import Memory
from hyperloci.model.node import Node
from tests.support import FakeClock

ADA = "Ada Lovelace <ada@example.com>"


@pytest.fixture
def signed(settings: Settings) -> Settings:
    return replace(settings, author=ADA, watch=False, upkeep=False, embedder=False)


@pytest.fixture
def memory(signed: Settings, tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(signed, tmp_path, clock=FakeClock()) as opened:
        yield opened


def node_of(memory: Memory, id: str) -> Node:
    node = memory.store.nodes.get_node(id)
    assert node is not None
    return node


def test_what_a_person_tells_without_an_assistant_names_no_agent(memory: Memory) -> None:
    node = node_of(memory, memory.remember_fact("Deploys go out on Tuesdays.").id)
    assert (node.author, node.agent, node.visibility) == (ADA, None, "private")


def test_what_a_client_is_told_to_remember_names_it(signed: Settings, tmp_path: Path) -> None:
    async def remember() -> str:
        async with Client(build_server(signed, tmp_path, warm=False)) as client:
            done = await client.call_tool("remember_fact", {"fact": "Deploys go out on Tuesdays."})
            assert done.structured_content is not None
            return str(done.structured_content["id"])

    id = anyio.run(remember)
    with Memory.open(signed, tmp_path) as memory:
        node = node_of(memory, id)
        assert node.author == ADA
        assert node.agent == "mcp"


def test_turns_name_their_sessions_client_where_they_are_the_assistants(memory: Memory) -> None:
    records = RecordFactory(memory.project, "s1", now=1)
    said = records.record_prompt("Why is the build slow?")
    answered = records.record_turns(None, "Because the cache is cold.")
    assert said is not None
    memory.keep(said)
    memory.keep(answered)
    session = memory.store.sessions.get_session("s1")
    assert session is not None and session.client == "claude-code"
    nodes = memory.store.nodes.query_nodes(type="experience", subtypes=("episode",))
    prompt, reply = sorted(nodes, key=lambda node: node.key)
    assert (prompt.author, prompt.agent) == (ADA, None)
    assert (reply.author, reply.agent) == (ADA, "claude-code")


def test_commits_name_their_own_author(signed: Settings, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    who = ["-c", "user.name=Bob", "-c", "user.email=bob@example.com"]
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    subprocess.run(
        ["git", "-C", str(repository), *who, "commit", "-q", "--allow-empty", "-m", "Begin"],
        check=True,
    )
    (repository / "a.py").write_text("def begin():\n    return 1\n")
    with Memory.open(signed, repository) as memory:
        memory.index_path()
        (commit,) = memory.store.nodes.query_nodes(type="decision")
        snippets = memory.store.nodes.query_nodes(type="snippet")
        assert commit.author == "Bob"
        assert snippets and all(node.author is None for node in snippets)
