"""What is set aside: skipped while nothing changed, tried again once its content or the program did, gone with it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hyperloci.errors import NotReadyError, StoreBusyError, StoreError, StoreFullError
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.projects.set_aside import MAX_REASON_CHARS, SetAsideRows
from tests.support import NOW, add


def scope_of(store: Store, name: str = "p") -> int:
    """Return the key of a project's scope."""
    with store.transaction():
        return store.scopes.ensure_scope(name, now=NOW)


def test_the_same_state_is_skipped_and_another_one_is_tried_again(store: Store) -> None:
    scope = scope_of(store)
    with store.transaction():
        store.set_aside.add_failure(scope, SetAsideKind.FILE, "a.py", "too slow", now=NOW, content="h1")
    assert store.set_aside.is_set_aside(scope, SetAsideKind.FILE, "a.py", "h1")
    assert not store.set_aside.is_set_aside(scope, SetAsideKind.FILE, "a.py", "h2")
    assert not store.set_aside.is_set_aside(scope, SetAsideKind.COMMIT, "a.py", "h1")
    assert not store.set_aside.is_set_aside(scope_of(store, "q"), SetAsideKind.FILE, "a.py", "h1")


def test_another_version_of_the_program_tries_again(store: Store) -> None:
    scope = scope_of(store)
    node = add(store, "a snippet", scope="p")
    with store.transaction():
        store.set_aside.add_failure(scope, SetAsideKind.RELATIONS, node.id, "bad", now=NOW, content="h1", node=node.key)
    newer = SetAsideRows(store.connection, store.transaction, program="99")
    assert not newer.is_set_aside(scope, SetAsideKind.RELATIONS, node.id, "h1")
    assert newer.list_outdated_nodes(scope, SetAsideKind.RELATIONS) == [node.key]
    assert not newer.get_standing(scope, SetAsideKind.RELATIONS)
    assert store.set_aside.list_outdated_nodes(scope, SetAsideKind.RELATIONS) == []


def test_failing_again_counts_the_tries_and_keeps_the_first_time(store: Store) -> None:
    scope = scope_of(store)
    with store.transaction():
        store.set_aside.add_failure(scope, SetAsideKind.COMMIT, "abc", "first", now=NOW)
        store.set_aside.add_failure(scope, SetAsideKind.COMMIT, "abc", "second", now=NOW + 5)
    (item,) = store.set_aside.list_all(scope)
    assert (item.tries, item.reason, item.first_at, item.last_at) == (2, "second", NOW, NOW + 5)
    assert item.scope == "p"


def test_what_works_again_is_taken_back(store: Store) -> None:
    scope = scope_of(store)
    with store.transaction():
        for path in ("a.py", "b.py", "c.py"):
            store.set_aside.add_failure(scope, SetAsideKind.FILE, path, "bad", now=NOW)
        assert store.set_aside.clear_subjects(scope, SetAsideKind.FILE, ["a.py", "b.py", "z.py"]) == 2
    assert store.set_aside.count_by_kind(scope) == {"file": 1}
    with store.transaction():
        assert store.set_aside.clear_all() == 1
    assert store.set_aside.count_by_kind() == {}


@pytest.mark.parametrize("how", ["forgotten", "purged", "changed"])
def test_what_is_about_a_memory_goes_with_it_and_with_its_text(store: Store, how: str) -> None:
    scope = scope_of(store)
    node, other = add(store, "a snippet", scope="p"), add(store, "another", scope="p")
    with store.transaction():
        for one in (node, other):
            store.set_aside.add_failure(scope, SetAsideKind.RELATIONS, one.id, "bad", now=NOW, node=one.key)
    with store.transaction():
        if how == "forgotten":
            store.nodes.delete_node(node.id, now=NOW, reason="file changed")
        elif how == "changed":
            store.nodes.update_node(node.id, now=NOW, content="mended")
        else:
            store.connection.execute("DELETE FROM nodes WHERE key = ?", (node.key,))
    assert [item.subject for item in store.set_aside.list_all()] == [other.id]


@pytest.mark.parametrize("text", ["half \ud83d of a character", "bytes \udcff", "nul \0", "x" * 10_000])
def test_any_subject_and_reason_can_be_stored(store: Store, text: str) -> None:
    scope = scope_of(store)
    with store.transaction():
        store.set_aside.add_failure(scope, SetAsideKind.FILE, text, text, now=NOW, content=text)
    assert store.set_aside.is_set_aside(scope, SetAsideKind.FILE, text, text)
    (item,) = store.set_aside.list_all()
    assert len(item.reason) <= MAX_REASON_CHARS
    with store.transaction():
        assert store.set_aside.clear_subjects(scope, SetAsideKind.FILE, [text]) == 1


def test_a_second_process_sees_what_the_first_set_aside(store: Store, tmp_path: Path) -> None:
    scope = scope_of(store)
    with store.transaction():
        store.set_aside.add_failure(scope, SetAsideKind.FILE, "a.py", "bad", now=NOW)
    with Store.open(store.path) as other:
        assert other.set_aside.list_subjects(scope, SetAsideKind.FILE) == {"a.py"}


def test_a_block_that_fails_by_itself_is_undone_alone_and_set_aside(store: Store) -> None:
    scope = scope_of(store)
    with store.transaction():
        first = store.nodes.create_node(NewNode(type=NodeType.FACT, content="before", scope="p"), now=NOW)
        with store.set_aside.attempt_piece(scope, SetAsideKind.TRANSCRIPT_LINE, "r1", now=NOW):
            store.nodes.create_node(NewNode(type=NodeType.FACT, content="half", scope="p"), now=NOW)
            int("not a number: the secret")
        last = store.nodes.create_node(NewNode(type=NodeType.FACT, content="after", scope="p"), now=NOW)
    assert {node.content for node in store.nodes.query_nodes(type="fact")} == {first.content, last.content}
    (item,) = store.set_aside.list_all()
    assert (item.kind, item.subject) == (SetAsideKind.TRANSCRIPT_LINE, "r1")
    assert item.reason.startswith("ValueError") and "secret" not in item.reason


def test_outside_a_transaction_the_block_is_one(store: Store) -> None:
    scope = scope_of(store)
    with store.set_aside.attempt_piece(scope, SetAsideKind.MEMORY, "m", now=NOW):
        store.nodes.create_node(NewNode(type=NodeType.FACT, content="half", scope="p"), now=NOW)
        raise RecursionError
    assert not store.nodes.query_nodes(type="fact")
    (item,) = store.set_aside.list_all()
    assert item.reason.startswith("nested too deeply (")


@pytest.mark.parametrize(
    "error",
    [StoreFullError(), StoreBusyError(), OSError("disk"), NotReadyError(), sqlite3.OperationalError("disk I/O")],
)
def test_a_fault_of_the_database_or_the_system_sets_nothing_aside(store: Store, error: Exception) -> None:
    scope = scope_of(store)
    kind = StoreError if isinstance(error, sqlite3.Error) else type(error)
    with pytest.raises(kind), store.set_aside.attempt_piece(scope, SetAsideKind.FILE, "a.py", now=NOW):
        raise error
    assert store.set_aside.list_all() == []


def test_a_value_that_the_database_refuses_is_the_fault_of_the_thing(store: Store) -> None:
    scope = scope_of(store)
    for number, value in enumerate(("half \ud83d", 1 << 70)):
        with store.set_aside.attempt_piece(scope, SetAsideKind.CHUNK, str(number), now=NOW):
            store.connection.execute("SELECT ?", (value,))
    assert {item.reason.split(" (")[0] for item in store.set_aside.list_all()} == {
        "contains invalid text",
        "contains a number that is too large",
    }
