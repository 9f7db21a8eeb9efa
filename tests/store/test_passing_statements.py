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
