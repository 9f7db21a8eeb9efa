"""Every index on memories is one that a statement needs: each is paid for with every memory that is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.model.kinds import BINDING_SUBTYPES, NodeKey
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from tests.support import NOW

USED_BY: Final[dict[str, Callable[[Store], object]]] = {
    "sqlite_autoindex_nodes_1": lambda store: store.nodes.get_node("00000000"),
    "idx_nodes_conditions": lambda store: store.filters.select_allowed(
        SearchFilter(scopes=("git:1",), types=("fact",))
    ),
    "idx_nodes_content": lambda store: store.nodes.find_duplicate("a fact", "git:1"),
    "idx_nodes_deleted": lambda store: store.decay.find_expired(NOW, 10),
    "idx_nodes_event": lambda store: store.filters.select_allowed(SearchFilter(after=NOW, before=NOW + MS_PER_DAY)),
    "idx_nodes_events": lambda store: store.timeline.list_page(["global"], ["decision"], 10),
    "idx_nodes_flagged": lambda store: store.node_lists.list_flagged(["git:1"], 10),
    "idx_nodes_forgotten": lambda store: list(store.traversal.iterate_crossings([NodeKey(1)])),
    "idx_nodes_scope": lambda store: store.nodes.find_told_before("git:1", now=NOW),
    "idx_nodes_session": lambda store: store.turns.get_last(1),
    "idx_nodes_shared": lambda store: store.team.link_project(1, "a project", now=NOW),
    "idx_nodes_tier": lambda store: store.decay.find_recalled_later(10),
    "idx_nodes_told": lambda store: store.nodes.find_explicit([1]),
    "idx_nodes_type": lambda store: store.filters.select_allowed(SearchFilter(types=("decision",))),
}
"""A use case of each, of which SQLite must choose it."""


def indexes_used(store: Store, act: Callable[[Store], object]) -> set[str]:
    """Return the indexes by which SQLite finds the rows of what is done."""
    statements: list[str] = []
    store.connection.set_trace_callback(statements.append)
    try:
        act(store)
    finally:
        store.connection.set_trace_callback(None)
    plans = [store.connection.execute(f"EXPLAIN QUERY PLAN {sql}") for sql in statements if not sql.startswith("--")]
    return {name for plan in plans for row in plan for name in re.findall(r"INDEX (\w+)", row["detail"])}


@pytest.mark.parametrize("index", USED_BY)
def test_an_index_on_memories_is_the_way_to_some_of_them(store: Store, index: str) -> None:
    with store.transaction():
        store.scopes.ensure_scope("global", now=NOW)
        assert index in indexes_used(store, USED_BY[index])


def test_no_index_on_memories_is_there_that_nothing_needs(store: Store) -> None:
    rows = store.connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'nodes'")
    assert {row["name"] for row in rows} == USED_BY.keys()


@pytest.mark.req("B.01")
def test_a_turn_that_says_the_same_is_looked_for_among_those_alone(store: Store) -> None:
    assert indexes_used(store, lambda store: store.turns.find_same_text(1, "yes")) == {"idx_nodes_content"}


@pytest.mark.req("B.01")
def test_the_memories_that_may_decide_a_prompt_are_found_without_a_look_at_the_others(store: Store) -> None:
    def list_binding(store: Store) -> object:
        return store.nodes.query_nodes(subtypes=sorted(BINDING_SUBTYPES), scopes=("git:1", "global"))

    assert indexes_used(store, list_binding) & USED_BY.keys() == {"idx_nodes_conditions"}


@pytest.mark.req("B.16")
@pytest.mark.parametrize(
    ("act", "indexes"),
    [
        (lambda store: store.consolidations.list_reviews("git:1", 1), set()),
        (lambda store: store.consolidations.list_explicit_memories(1), {"idx_nodes_told"}),
        (lambda store: store.turns.list_worth_keeping(1), {"idx_nodes_session"}),
    ],
    ids=["statements to judge", "memories told in a session", "what a session leaves"],
)
def test_the_end_of_a_turn_or_a_session_looks_at_what_is_its_own(
    store: Store, act: Callable[[Store], object], indexes: set[str]
) -> None:
    assert indexes_used(store, act) & USED_BY.keys() == indexes
