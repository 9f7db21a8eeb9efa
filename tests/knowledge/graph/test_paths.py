"""Walks over the concept graph and its laws, against networkx-free plain references (D.02, E.13)."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError
from hyperloci.knowledge.graph.paths import find_dependencies, find_neighbourhood, find_shortest_path, walk_all
from hyperloci.knowledge.graph.symbol_steps import Walk
from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from tests.support import NOW, SHARED_FIXTURE, add, examples

Pairs = list[tuple[int, int]]

NODES = 9
PAIRS = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=25)


def graph_of(
    store: Store, pairs: Sequence[tuple[int, int]], label: str = "depends_on", count: int = NODES
) -> list[NodeKey]:
    """Make these edges, and no others, between the first nodes of the store."""
    known = [NodeKey(row[0]) for row in store.connection.execute("SELECT key FROM nodes ORDER BY key")]
    keys = known[:count] or [add(store, f"memory {number}").key for number in range(count)]
    with store.transaction():
        store.connection.execute("DELETE FROM hyperedges")
        for source, target in pairs:
            if source != target:
                store.edges.link_nodes(label, keys[source], [keys[target]], now=NOW)
    return keys


def distances(pairs: Pairs, start: int, *, both: bool = False) -> dict[int, int]:
    """The reference: breadth first over an adjacency list."""
    ways: dict[int, set[int]] = {}
    for source, target in pairs:
        ways.setdefault(source, set()).add(target)
        if both:
            ways.setdefault(target, set()).add(source)
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for other in ways.get(node, ()):
            if other not in found:
                found[other] = found[node] + 1
                queue.append(other)
    return found


@pytest.mark.req("D.02")
@settings(max_examples=examples(60), suppress_health_check=SHARED_FIXTURE)
@given(PAIRS, st.sampled_from(["depends_on", "relates_to"]))
def test_a_path_is_a_shortest_one_and_its_steps_join(store: Store, pairs: Pairs, label: str) -> None:
    both = label == "relates_to"
    keys = graph_of(store, pairs, label)
    for start, end in itertools.product(range(0, NODES, 2), range(NODES)):
        expected = distances(pairs, start, both=both).get(end)
        path = find_shortest_path(store, keys[start], keys[end], Walk(direction="out"))
        assert (None if path is None else len(path)) == expected
        for first, second in itertools.pairwise(path or ()):
            assert first.target == second.source
        if path:
            assert (path[0].source, path[-1].target) == (keys[start], keys[end])


@pytest.mark.req("D.02")
@settings(max_examples=examples(50), suppress_health_check=SHARED_FIXTURE)
@given(PAIRS)
def test_a_neighbourhood_only_grows_with_its_depth_and_is_what_is_so_near(store: Store, pairs: Pairs) -> None:
    keys = graph_of(store, pairs)
    reference = distances(pairs, 0, both=True)
    before: set[NodeKey] = set()
    for depth in range(4):
        found = find_neighbourhood(store, keys[0], Walk(direction="both"), depth)
        assert found == {keys[node]: far for node, far in reference.items() if far <= depth}
        assert before <= set(found)
        before = set(found)


@pytest.mark.req("D.02")
@settings(max_examples=examples(50), suppress_health_check=SHARED_FIXTURE)
@given(PAIRS, st.sampled_from(["contradicts", "relates_to"]))
def test_a_symmetric_relation_is_crossed_both_ways(store: Store, pairs: Pairs, label: str) -> None:
    keys = graph_of(store, pairs, label)
    near = {key: set(find_neighbourhood(store, key, Walk(direction="out"), 1)) - {key} for key in keys}
    for one, other in itertools.combinations(keys, 2):
        assert (other in near[one]) == (one in near[other])


@pytest.mark.req("D.02")
@settings(max_examples=examples(60), suppress_health_check=SHARED_FIXTURE)
@given(PAIRS)
def test_dependencies_are_all_that_can_be_reached_and_every_circle_closes(store: Store, pairs: Pairs) -> None:
    keys = graph_of(store, pairs)
    found = find_dependencies(store, keys[0], Walk(label="depends_on"))
    reference = distances([pair for pair in pairs if pair[0] != pair[1]], 0)
    assert found.keys == {keys[node]: far for node, far in reference.items() if node != 0}
    assert found.complete
    numbers = {key: number for number, key in enumerate(keys)}
    joined = set(pairs)
    for circle in found.cycles:
        assert len(circle) == len(set(circle)) > 1
        for one, other in zip(circle, (*circle[1:], circle[0]), strict=True):
            assert (numbers[one], numbers[other]) in joined
    reached = {node: distances(pairs, node) for node in reference}
    knots = {
        frozenset(other for other in reference if other in reached[node] and node in reached[other])
        for node in reference
    }
    assert len(found.cycles) == sum(1 for knot in knots if len(knot) > 1)


@pytest.mark.req("D.02")
def test_a_circle_of_dependencies_is_told(store: Store) -> None:
    a, b, c, d = graph_of(store, [(0, 1), (1, 2), (2, 0), (2, 3)], count=4)
    found = find_dependencies(store, a, Walk(label="depends_on"))
    assert found.keys == {b: 1, c: 2, d: 3}
    assert found.cycles == ((a, b, c),)


@pytest.mark.req("D.02")
def test_what_is_cut_off_is_said(store: Store) -> None:
    keys = graph_of(store, [(0, other) for other in range(1, 9)])
    found = find_dependencies(store, keys[0], Walk(label="depends_on"), max_nodes=4)
    assert len(found.keys) == 3
    assert not found.complete


@pytest.mark.req("E.13")
@settings(max_examples=examples(50), suppress_health_check=SHARED_FIXTURE)
@given(PAIRS, st.sampled_from(["bfs", "dfs"]))
def test_a_whole_walk_visits_everything_once(store: Store, pairs: Pairs, order: str) -> None:
    keys = graph_of(store, pairs)
    visited = list(walk_all(store, keys[0], Walk(direction="out"), order))
    reference = distances(pairs, 0)
    assert sorted(visited) == sorted(keys[node] for node in reference)
    assert visited[0] == keys[0]
    if order == "bfs":
        far = [reference[keys.index(key)] for key in visited]
        assert far == sorted(far)


@pytest.mark.req("E.13")
def test_depth_first_ends_a_branch_before_the_next(store: Store) -> None:
    keys = graph_of(store, [(0, 1), (0, 2), (1, 3), (3, 4), (2, 5)])
    assert [keys.index(key) for key in walk_all(store, keys[0], Walk(), "dfs")] == [0, 1, 3, 4, 2, 5]


@pytest.mark.req("E.13")
def test_a_chain_deeper_than_any_stack_is_walked(store: Store) -> None:
    count = 1_200
    keys = graph_of(store, list(itertools.pairwise(range(count))), count=count)
    assert list(walk_all(store, keys[0], Walk(), "dfs")) == keys
    assert len(find_dependencies(store, keys[0], Walk(), max_nodes=count).keys) == count - 1


def test_a_walk_stays_in_its_scopes_and_off_what_is_forgotten(store: Store) -> None:
    keys = graph_of(store, [(0, 1), (1, 2)])
    other = add(store, "elsewhere", scope="other").key
    with store.transaction():
        store.edges.link_nodes("depends_on", keys[0], [other], now=NOW)
    scoped = find_neighbourhood(store, keys[0], Walk(scopes=("global",)), 3)
    middle = store.nodes.get_by_key(keys[1])
    assert other not in scoped and keys[2] in scoped and middle is not None
    with store.transaction():
        store.nodes.delete_node(middle.id, now=NOW)
    assert set(find_neighbourhood(store, keys[0], Walk(), 3)) == {keys[0], other}
    assert find_shortest_path(store, keys[0], keys[2], Walk()) is None


def test_what_cannot_be_walked_is_refused(store: Store) -> None:
    (key,) = graph_of(store, [], count=1)
    with pytest.raises(BadRequestError, match="depth=-1"):
        find_neighbourhood(store, key, Walk(), -1)
    with pytest.raises(BadRequestError, match="sideways"):
        walk_all(store, key, Walk(), "sideways")
