"""What belongs to a memory of each kind, and that nothing else makes memories."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hyperloci
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.knowledge.graph.anchors import describe_code_changes
from hyperloci.knowledge.graph.renames import follow_renames
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


def put_code(store: Store, project: str, path: str, **symbols: str) -> None:
    """Index a file with these functions, and nothing else, as it is now."""
    with store.transaction():
        scope = store.scopes.ensure_scope(project, now=NOW)
        file = store.files.put_file(scope, path, size=1, mtime_ns=1, content_hash=b"1" * 32, now=NOW)
        for chunk in store.files.list_chunks([file]).get(file, []):
            store.nodes.delete_node(chunk.node_id, now=NOW)
        for name, text in symbols.items():
            new = NewNode(type=NodeType.SNIPPET, subtype="code", content=text, scope=project)
            key = store.nodes.add_row(new, now=NOW, place=f"{path}:{name}:{text}")
            store.positions.put_position(key, Position(path=path, symbol=name, function_name=name), file)


def state(store: Store, text: str, *projects: str) -> Node:
    """Store a statement from each of some projects: the first's by writing it, the others' by confirming it."""
    with store.transaction():
        writer = MemoryWriter(store)
        node = writer.write_statement(NewNode(type=NodeType.FACT, content=text), projects[0], now=NOW)
        for project in projects[1:]:
            writer.anchor(node, project, now=NOW)
    return node


def reword(store: Store, old: Node, text: str, project: str = PROJECT) -> None:
    with store.transaction():
        store.nodes.update_node(old.id, now=NOW + 1, content=text)
        MemoryWriter(store).renew_statement(old, project, now=NOW + 1)


def tied(store: Store, node: Node) -> list[tuple[str, str | None]]:
    """Return the symbols that a statement is tied to, and by which other name each was called when it was stored."""
    return [(anchor.symbol, anchor.former_symbol) for anchor in store.positions.list_anchors([node.key])]


START, STOP = "def start_job(queue, now): queue.put(now)", "def stop_job(queue): queue.clear()"


@pytest.mark.req("D.01")
def test_a_statement_that_is_reworded_is_tied_to_the_code_that_it_names_now(store: Store) -> None:
    put_code(store, PROJECT, "jobs.py", start_job=START, stop_job=STOP)
    node = state(store, "`start_job` never waits", PROJECT)

    reword(store, node, "`stop_job` never waits")

    assert tied(store, node) == [("stop_job", None)]


@pytest.mark.req("D.01")
def test_a_statement_that_is_reworded_in_one_project_stays_tied_to_the_code_of_others(store: Store) -> None:
    put_code(store, PROJECT, "jobs.py", start_job=START)
    put_code(store, "other", "tasks.py", start_job=START)
    node = state(store, "`start_job` never waits", PROJECT, "other")

    reword(store, node, "It never waits")

    (anchor,) = store.positions.list_anchors([node.key])
    assert (anchor.path, anchor.scope_key) == ("tasks.py", store.scopes.find_key("other"))


@pytest.mark.req("D.01")
@pytest.mark.parametrize(
    ("text", "ties", "told"),
    [
        ("`start_job` hardly waits", [("begin_job", "start_job")], "was renamed to `begin_job`"),
        ("`begin_job` hardly waits", [("begin_job", None)], None),
        ("It hardly waits", [], None),
    ],
)
def test_a_statement_that_is_reworded_follows_a_renamed_symbol_as_long_as_it_names_it(
    store: Store, text: str, ties: list[tuple[str, str | None]], told: str | None
) -> None:
    put_code(store, PROJECT, "jobs.py", start_job=START)
    node = state(store, "`start_job` never waits", PROJECT)
    put_code(store, PROJECT, "jobs.py", begin_job=START.replace("start_job", "begin_job"))
    with store.transaction():
        scope = store.scopes.ensure_scope(PROJECT, now=NOW)
        assert follow_renames(store, scope, {"jobs.py": {"begin_job": None}}) == 1

    reword(store, node, text)

    assert tied(store, node) == ties
    assert (told or "") in describe_code_changes(store, [node.key]).get(node.key, "")
    assert bool(describe_code_changes(store, [node.key])) == (told is not None)


@pytest.mark.req("D.01")
@pytest.mark.parametrize(
    "now", [{"start_job": START + "  # then waits"}, {}, {"start_job_of": START}], ids=["changed", "gone", "other name"]
)
def test_what_happened_to_code_is_told_yet_of_a_statement_that_is_reworded(store: Store, now: dict[str, str]) -> None:
    put_code(store, PROJECT, "jobs.py", start_job=START)
    node = state(store, "`start_job` never waits", PROJECT)
    put_code(store, PROJECT, "jobs.py", **now)
    told = describe_code_changes(store, [node.key])
    assert told

    reword(store, node, "`start_job` never waits, mind you")

    assert describe_code_changes(store, [node.key]) == told


@pytest.mark.req("D.01")
def test_a_symbol_that_has_a_namesake_by_now_keeps_the_statement_that_names_it(store: Store) -> None:
    put_code(store, PROJECT, "jobs.py", start_job=START)
    node = state(store, "`start_job` never waits", PROJECT)
    put_code(store, PROJECT, "tasks.py", start_job=START + "  # of tasks")

    reword(store, node, "`start_job` hardly waits")

    assert [anchor.path for anchor in store.positions.list_anchors([node.key])] == ["jobs.py"]


@pytest.mark.req("D.07")
@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        (Verification.DISPUTED, Verification.DISPUTED),
        (Verification.OUTDATED, Verification.OUTDATED),
        (Verification.VERIFIED, Verification.UNVERIFIED),
    ],
)
def test_new_words_settle_no_dispute_and_are_verified_by_nobody(
    store: Store, was: Verification, becomes: Verification
) -> None:
    node = state(store, "The API listens on port 80", PROJECT)
    with store.transaction():
        store.facets.set_verification(node.key, was)

    reword(store, node, "The test suite listens on port 80")

    facets = store.facets.get_facets([node.key])[node.key]
    assert (facets.verification, facets.domain_tags) == (becomes, ("testing",))


@pytest.mark.req("D.07")
def test_what_was_verified_against_another_is_disputed_again_in_new_words(store: Store) -> None:
    node, other = (state(store, f"The API listens on port {port}", PROJECT) for port in (80, 81))
    with store.transaction():
        store.edges.link_nodes("contradicts", node.key, [other.key], now=1)
        store.facets.set_verification(node.key, Verification.VERIFIED)

    reword(store, node, "The API listens on port 82")

    assert store.facets.get_facets([node.key])[node.key].verification is Verification.DISPUTED


@pytest.mark.req("D.07")
def test_facets_set_by_hand_outlive_new_words(store: Store) -> None:
    node = state(store, "The API listens on port 80", PROJECT)
    with store.transaction():
        store.facets.set_by_hand(node.key, {"verification": Verification.VERIFIED, "domain_tags": ("mine",)})

    reword(store, node, "The test suite listens on port 80")

    facets = store.facets.get_facets([node.key])[node.key]
    assert (facets.verification, facets.domain_tags) == (Verification.VERIFIED, ("mine",))


@pytest.mark.req("B.10")
def test_a_statement_that_is_reworded_names_other_things_and_is_about_what_it_was_declared_to_be_about(
    store: Store,
) -> None:
    with store.transaction():
        writer = MemoryWriter(store)
        declared = [writer.declare_entity(name, GLOBAL_SCOPE, now=NOW) for name in ("Ada Lovelace", "Kafka")]
        imported = NewNode(type=NodeType.ENTITY, subtype="tool", content="RabbitMQ", origin=Origin.IMPORT)
        about = [key for key in (*declared, writer.add_entity(imported, now=NOW)) if key is not None]
        new = NewNode(type=NodeType.FACT, content="PostgreSQL, Kafka and RabbitMQ feed SQLite")
        node = writer.write_statement(new, PROJECT, now=NOW, about=about)
    (sqlite,) = store.entities.find_by_name("SQLite")
    with store.transaction():
        store.nodes.delete_node(sqlite.id, now=NOW)

    reword(store, node, "Redis feeds SQLite")

    assert set(names(store, node)) == {"Redis", "Ada Lovelace", "Kafka", "RabbitMQ"}
    (postgres,) = store.entities.find_by_name("PostgreSQL")
    assert postgres.mention_count == 0
    with store.transaction():
        store.nodes.restore_node(sqlite.id, now=NOW)
    assert "SQLite" in names(store, node)


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
