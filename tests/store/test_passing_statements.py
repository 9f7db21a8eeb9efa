"""What was said in passing, as it is kept: by its place."""

from __future__ import annotations

import pytest

from hyperloci.model.kinds import NodeType
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.passing_statements import PassingStatement
from tests.support import NOW, add

ASKED, SAID = "How often? Every minute?", "hm. every 60 s. and thanks"


@pytest.fixture
def turns(store: Store) -> tuple[Node, Node]:
    """A question of the assistant's, and what the user answered."""
    with store.transaction():
        asked, said = (
            add(store, text, type=NodeType.EXPERIENCE, subtype="episode", scope="p") for text in (ASKED, SAID)
        )
    return asked, said


def note(store: Store, turns: tuple[Node, Node]) -> bool:
    asked, said = turns
    with store.transaction():
        return store.passing_statements.add(PassingStatement(said, "every 60 s.", "How often?"), asked)


def list_said(store: Store, scope: str = "p") -> list[tuple[str, str]]:
    return [(one.quote, one.about) for one in store.passing_statements.list_latest(scope, 10)]


@pytest.mark.req("B.17")
def test_a_statement_is_noted_once_and_read_from_its_turns(store: Store, turns: tuple[Node, Node]) -> None:
    assert (note(store, turns), note(store, turns)) == (True, False)
    assert list_said(store) == [("every 60 s.", "How often?")]
    assert list_said(store, "another") == []


def test_words_that_no_turn_holds_are_left_out(store: Store, turns: tuple[Node, Node]) -> None:
    asked, said = turns
    with store.transaction():
        assert not store.passing_statements.add(PassingStatement(said, "every hour", ""), None)
        assert store.passing_statements.add(PassingStatement(said, "every 60 s.", "How much?"), asked)
    assert list_said(store) == [("every 60 s.", "")]


def test_what_is_forgotten_or_withheld_is_not_read(store: Store, turns: tuple[Node, Node]) -> None:
    asked, said = turns
    note(store, turns)
    with store.transaction():
        store.withheld.withhold(asked.key, now=NOW)
    assert list_said(store) == [("every 60 s.", "")]
    store.nodes.delete_node(said.id, now=NOW, reason="wrong")
    assert list_said(store) == []


def test_a_turn_whose_text_is_gone_said_nothing(store: Store, turns: tuple[Node, Node]) -> None:
    asked, said = turns
    note(store, turns)
    store.nodes.update_node(asked.id, now=NOW, reason="archive expired", content="How [...]")
    assert list_said(store) == [("every 60 s.", "")]
    store.nodes.update_node(said.id, now=NOW, reason="archive expired", content="hm. [...]")
    assert list_said(store) == []


def test_a_turn_that_another_process_forgets_meanwhile_is_left_out(
    store: Store, turns: tuple[Node, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, said = turns
    note(store, turns)
    read_turns = store.passing_statements._read_turns

    def forget_first(keys: set[int | None]) -> dict[int | None, Node]:
        with Store.open(store.path) as other:
            other.nodes.delete_node(said.id, now=NOW, reason="wrong")
        return read_turns(keys)

    monkeypatch.setattr(store.passing_statements, "_read_turns", forget_first)
    assert list_said(store) == []


def test_the_memories_of_a_project_are_not_read_for_what_was_said_in_passing(
    store: Store, turns: tuple[Node, Node]
) -> None:
    note(store, turns)

    def count_steps() -> int:
        steps = [0]

        def count() -> int:
            steps[0] += 1
            return 0

        store.connection.set_progress_handler(count, 10)
        assert list_said(store)
        store.connection.set_progress_handler(None, 0)
        return steps[0]

    before = count_steps()
    with store.transaction():
        for number in range(300):
            add(store, f"fact {number}", scope="p")
    # To look at each of the 300 takes some 300 of these ten steps.
    assert count_steps() < before + 30
