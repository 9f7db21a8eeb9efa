"""Relations that fade, those that don't, and the graph's measures (D.02)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY
from hyperloci.maintenance.relation_jobs import prune_edges
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.store import Store
from hyperloci.store.memories.edge_pruning import MAX_EDGES_PER_NODE
from tests.support import NOW, SHARED_FIXTURE, add, examples

WEEK = 7 * MS_PER_DAY


def nodes(store: Store, count: int, **fields: Any) -> list[NodeKey]:
    return [add(store, f"memory {number}", **fields).key for number in range(count)]


def link(
    store: Store, source: int, target: int, label: str = "supports", *, sure: float = 0.8, by_hand: bool = False
) -> str:
    with store.transaction():
        edge = store.edges.link_nodes(
            label, NodeKey(source), [NodeKey(target)], now=NOW, confidence=sure, automatic=not by_hand
        )
    return edge.id


def left(store: Store) -> set[str]:
    return {row[0] for row in store.connection.execute("SELECT id FROM hyperedges")}


@pytest.mark.req("D.02")
def test_an_automatic_relation_fades_by_a_twentieth_a_week_until_it_is_pruned(store: Store) -> None:
    a, b, c = nodes(store, 3)
    faint, sure = link(store, a, b, sure=0.32), link(store, a, c, sure=0.8)
    assert prune_edges(store, now=NOW + WEEK) == 0  # 0.32 * 0.95 = 0.304
    assert prune_edges(store, now=NOW + 2 * WEEK) == 1
    assert left(store) == {sure} != {faint}
    assert prune_edges(store, now=NOW + 19 * WEEK) == 0  # 0.8 * 0.95 ** 19 = 0.302
    assert prune_edges(store, now=NOW + 20 * WEEK) == 1
    assert [entry[0] for entry in store.connection.execute("SELECT operation FROM evolution_log")] == [
        "prune_edges"
    ] * 2


@pytest.mark.req("D.02")
def test_what_was_stated_confirmed_or_is_read_from_a_file_does_not_fade(store: Store) -> None:
    a, b = nodes(store, 2)
    (snippet,) = nodes(store, 1, type=NodeType.SNIPPET, subtype="code", place="x")
    stated = link(store, a, b, sure=0.1, by_hand=True)
    confirmed = link(store, b, a, sure=0.1)
    read = link(store, snippet, a, "documents", sure=0.4)
    made_of = link(store, a, snippet, "derived_from", sure=0.4)
    with store.transaction():
        store.edges.confirm_edge(confirmed, now=NOW)
    assert prune_edges(store, now=NOW + 500 * WEEK) == 0
    assert left(store) == {stated, confirmed, read, made_of}
    node = store.nodes.get_by_key(snippet)
    assert node is not None
    with store.transaction():
        store.nodes.delete_node(node.id, now=NOW)
    assert prune_edges(store, now=NOW + 500 * WEEK) == 1
    assert read not in left(store)


@pytest.mark.req("B.19", "D.02")
@pytest.mark.parametrize("label", ["supersedes", "updates", "outdates", "contradicts"])
def test_what_replaced_a_memory_and_a_question_that_nobody_settled_do_not_fade(store: Store, label: str) -> None:
    newer, old = nodes(store, 2)
    asked = link(store, newer, old, label, sure=0.2)
    assert prune_edges(store, now=NOW + 100 * WEEK) == 0
    assert left(store) == {asked}


@pytest.mark.req("D.02", "D.03", "W17")
def test_what_is_confirmed_between_the_look_and_the_pruning_stays(store: Store) -> None:
    a, b, c = nodes(store, 3)
    confirmed, other = link(store, a, b, sure=0.1), link(store, a, c, sure=0.1)
    looked = store.pruning.find_prunable(NOW)
    assert len(looked.faded) == 2
    with store.transaction():
        store.edges.confirm_edge(confirmed, now=NOW)
        assert store.pruning.remove_edges(looked.faded) == 1
    stated = link(store, a, c, sure=0.1, by_hand=True)
    keys = tuple(row[0] for row in store.connection.execute("SELECT key FROM hyperedges"))
    with store.transaction():
        assert store.pruning.remove_edges(keys) == 0
    assert left(store) == {confirmed, stated} and other not in left(store)


@pytest.mark.req("D.02", "W17")
def test_what_points_at_a_file_fades_and_what_a_file_points_at_does_not(store: Store) -> None:
    (fact,) = nodes(store, 1)
    (snippet,) = nodes(store, 1, type=NodeType.SNIPPET, subtype="code", place="x")
    from_file, to_file = link(store, snippet, fact, "documents", sure=0.1), link(store, fact, snippet, sure=0.1)
    assert prune_edges(store, now=NOW) == 1
    assert left(store) == {from_file} != {to_file}


@pytest.mark.req("D.02", "W17")
def test_relations_that_are_stated_are_not_even_counted_as_too_many(store: Store) -> None:
    hub, *others = nodes(store, MAX_EDGES_PER_NODE + 4)
    for other in others:
        link(store, hub, other, by_hand=True)
    assert store.pruning.find_prunable(NOW).crowded == ()


@pytest.mark.req("D.02")
def test_a_memory_keeps_its_fifty_surest_relations_and_all_that_were_stated(store: Store) -> None:
    hub, *others = nodes(store, MAX_EDGES_PER_NODE + 11)
    stated = {link(store, hub, other, sure=0.31, by_hand=True) for other in others[:5]}
    found = [link(store, hub, other, sure=0.4 + number / 200) for number, other in enumerate(others[5:])]
    assert prune_edges(store, now=NOW) == len(found) - (MAX_EDGES_PER_NODE - 5)
    assert left(store) == stated | set(found[-(MAX_EDGES_PER_NODE - 5) :])


EDGE = st.tuples(
    st.integers(0, 3), st.integers(0, 3), st.sampled_from(["supports", "relates_to"]), st.sampled_from([0.2, 0.5, 0.9])
)


@pytest.mark.req("D.02")
@settings(max_examples=examples(50), suppress_health_check=SHARED_FIXTURE)
@given(st.lists(EDGE, max_size=30), st.integers(0, 30))
def test_pruning_twice_prunes_nothing_more(store: Store, edges: list[tuple[int, int, str, float]], weeks: int) -> None:
    keys = [NodeKey(row[0]) for row in store.connection.execute("SELECT key FROM nodes")] or nodes(store, 4)
    with store.transaction():
        store.connection.execute("DELETE FROM hyperedges")
    for source, target, label, sure in edges:
        if source != target:
            link(store, keys[source], keys[target], label, sure=sure)
    now = NOW + weeks * WEEK
    pruning = store.pruning.find_prunable(now)
    assert prune_edges(store, now=now) == len(pruning.faded) + len(pruning.crowded)
    assert prune_edges(store, now=now) == 0
    kept = store.connection.execute("SELECT confidence FROM hyperedges").fetchall()
    assert all(row[0] * 0.95**weeks >= 0.3 for row in kept)


@pytest.mark.req("D.02")
def test_crowded_on_both_sides_of_a_symmetric_relation_is_pruned_once(store: Store) -> None:
    one, other, *rest = nodes(store, MAX_EDGES_PER_NODE + 3)
    for node in rest:
        link(store, one, node, "relates_to", sure=0.9)
        link(store, other, node, "relates_to", sure=0.9)
    between = link(store, one, other, "relates_to", sure=0.5)
    assert prune_edges(store, now=NOW) == 3
    assert between not in left(store)
    assert prune_edges(store, now=NOW) == 0


@pytest.mark.req("D.02", "D.11")
def test_the_graph_is_measured(store: Store) -> None:
    a, b, c, _ = nodes(store, 4)
    link(store, a, b)
    link(store, a, c, by_hand=True)
    link(store, b, c, "relates_to")
    found = store.pruning.measure_graph()
    assert found["total_edges"] == 3
    assert found["automatic_edges"] == 2
    assert found["memberships"] == 6
    assert found["nodes_with_edges"] == 3  # a twice; b and c by the symmetric one
    assert found["avg_out_degree"] == 1.33
    assert found["max_out_degree"] == 2
    assert found["by_label"] == {"relates_to": 1, "supports": 2}
