"""What belongs to a memory of each kind, and that nothing else makes memories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hyperloci
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.model.facets import Verification
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.model.position import Position
from hyperloci.store import Store
from tests.support import NOW, add

PROJECT = "p"
TEXT = "PostgreSQL is reached through `fetch_rows`"


@pytest.fixture
def code(store: Store) -> None:
    """A project with one function."""
    snippet = add(store, "def fetch_rows(): ...", type=NodeType.SNIPPET, subtype="code", scope=PROJECT)
    with store.transaction():
        scope = store.scopes.ensure_scope(PROJECT, now=NOW)
        file = store.files.put_file(scope, "db.py", size=1, mtime_ns=1, content_hash=b"", now=NOW)
        position = Position(path="db.py", symbol="fetch_rows", function_name="fetch_rows")
        store.positions.put_position(snippet.key, position, file)


def names(store: Store, node: Node) -> list[str]:
    return [entity.canonical_name for entity in store.entities.list_of_node(node.key)]


def log(store: Store, node: Node) -> list[tuple[str, str | None]]:
    return [(entry.operation, entry.reasoning) for entry in store.log.list_of_node(node.id)]


def is_queued(store: Store, key: NodeKey) -> bool:
    return key in [row[0] for row in store.connection.execute("SELECT node_key FROM pending")]


@pytest.mark.usefixtures("code")
def test_a_statement_is_logged_tied_to_code_annotated_and_queued(store: Store) -> None:
    new = NewNode(type=NodeType.FACT, content=TEXT, scope=PROJECT, provenance="told")
    with store.transaction():
        node = MemoryWriter(store).write_statement(new, PROJECT, now=NOW)

    assert log(store, node) == [("create", "told")]
    assert [anchor.symbol for anchor in store.positions.list_anchors([node.key])] == ["fetch_rows"]
    assert "PostgreSQL" in names(store, node)
    assert node.key in store.facets.get_facets([node.key])
    assert is_queued(store, node.key)


@pytest.mark.usefixtures("code")
def test_a_global_statement_is_tied_to_the_code_of_the_project_it_came_from(store: Store) -> None:
    with store.transaction():
        writer = MemoryWriter(store)
        node = writer.write_statement(NewNode(type=NodeType.FACT, content=TEXT), PROJECT, now=NOW, operation="extract")

    assert [anchor.symbol for anchor in store.positions.list_anchors([node.key])] == ["fetch_rows"]
    assert [operation for operation, _ in log(store, node)] == ["extract"]


def test_a_statement_is_joined_to_what_it_is_about_though_its_text_does_not_name_it(store: Store) -> None:
    with store.transaction():
        writer = MemoryWriter(store)
        entity = writer.declare_entity("Ada Lovelace", GLOBAL_SCOPE, now=NOW)
        assert entity is not None
        new = NewNode(type=NodeType.FACT, content="She prefers trains")
        node = writer.write_statement(new, PROJECT, now=NOW, about=[entity])

    assert names(store, node) == ["Ada Lovelace"]


@pytest.mark.usefixtures("code")
def test_an_event_is_annotated_and_neither_logged_nor_tied_to_code(store: Store) -> None:
    new = NewNode(type=NodeType.EXPERIENCE, subtype="episode", content=TEXT, scope=PROJECT)
    with store.transaction():
        node = MemoryWriter(store).write_event(new, now=NOW, place="s:0")

    assert "PostgreSQL" in names(store, node)
    assert node.key in store.facets.get_facets([node.key])
    assert (log(store, node), store.positions.list_anchors([node.key])) == ([], [])
    assert is_queued(store, node.key)


def test_only_what_speaks_in_an_event_names_things(store: Store) -> None:
    new = NewNode(
        type=NodeType.DECISION, subtype="commit", content="Use Redis\n\nChanged: PostgreSQL.md", scope=PROJECT
    )
    with store.transaction():
        node = MemoryWriter(store).write_event(new, now=NOW, place="abc", text="Use Redis", author="Ada Lovelace")

    assert sorted(names(store, node)) == ["Ada Lovelace", "Redis"]


def test_a_summary_is_joined_to_what_it_covers(store: Store) -> None:
    turn = add(store, "we use PostgreSQL", type=NodeType.EXPERIENCE, subtype="episode", scope=PROJECT)
    new = NewNode(type=NodeType.SNIPPET, subtype="chunk_micro", content="PostgreSQL", scope=PROJECT)
    with store.transaction():
        session = store.sessions.note_seen("s", store.scopes.ensure_scope(PROJECT, now=NOW), now=NOW)
        node = MemoryWriter(store).write_summary(new, [turn.key], now=NOW, place="s:0", session_key=session.key)

    (edge,) = store.edges.list_of_node(node.key, "contains")
    assert [member.node for member in edge.members] == [node.key, turn.key]
    assert names(store, node) == []


def test_an_entity_is_found_by_its_other_spellings_and_by_the_next_memory_of_the_run(store: Store) -> None:
    new = NewNode(
        type=NodeType.ENTITY,
        subtype="tool",
        content="PostgreSQL",
        scope=PROJECT,
        origin=Origin.IMPORT,
        tier=Tier.LONGTERM,
    )
    with store.transaction():
        writer = MemoryWriter(store)
        key = writer.add_entity(new, now=NOW)
        fact = NewNode(type=NodeType.FACT, content="Postgres runs on port 5432", scope=PROJECT)
        node = writer.write_statement(fact, PROJECT, now=NOW)

    assert [entity.node_key for entity in store.entities.find_by_name("postgres")] == [key]
    assert [entity.node_key for entity in store.entities.list_of_node(node.key)] == [key]


def test_a_statement_that_is_superseded_holds_no_longer_and_is_outdated(store: Store) -> None:
    old, new = add(store, "The port is 1"), add(store, "The port is 2")
    with store.transaction():
        MemoryWriter(store).supersede(old, new, "it moved", now=NOW + 1, until=NOW)

    ended = store.nodes.get_by_key(old.key)
    assert ended is not None
    assert ended.valid_until == NOW
    assert store.facets.get_facets([old.key])[old.key].verification is Verification.OUTDATED
    assert log(store, old) == log(store, new) == [("supersede", "it moved")]
    (edge,) = store.edges.list_of_node(new.key, "supersedes")
    assert (edge.evidence, edge.automatic) == ("it moved", False)


def test_nothing_but_the_writer_makes_memories() -> None:
    root = Path(hyperloci.__file__).parent
    makers = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search(r"\bnodes\.(?:create_node|add_row)\(", path.read_text(encoding="utf-8"))
    }

    # Pieces of files follow their files; entities are made known while annotating.
    assert makers - {"store/memories/nodes.py"} == {
        "facts/memory_writer.py",
        "knowledge/entities/registry.py",
        "indexing/file_writer.py",
    }
