"""What a memory is related to (D.02, E.13)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.errors import BadRequestError
from hyperloci.knowledge.graph import neighbourhood as walking
from hyperloci.knowledge.graph.neighbourhood import find_related
from hyperloci.model.edge import EdgeMember, RelatedMemory
from hyperloci.model.kinds import NodeKey, Role
from hyperloci.store import Store
from tests.support import NOW, add, examples


def link(store: Store, label: str, subject: int, *objects: int, confidence: float = 1.0) -> None:
    with store.transaction():
        store.edges.link_nodes(
            label, NodeKey(subject), [NodeKey(key) for key in objects], now=NOW, confidence=confidence
        )


def nodes(store: Store, count: int) -> list[NodeKey]:
    return [add(store, f"memory {number}").key for number in range(count)]


def places(found: list[RelatedMemory]) -> list[tuple[int, int]]:
    return [(item.node_key, item.distance) for item in found]


@pytest.mark.req("D.02")
def test_a_chain_is_walked_nearest_first_as_far_as_asked(store: Store) -> None:
    a, b, c, d = nodes(store, 4)
    for subject, target in itertools.pairwise((a, b, c, d)):
        link(store, "depends_on", subject, target)
    assert places(find_related(store, a, "depends_on", "out", 1)) == [(b, 1)]
    assert places(find_related(store, a, "depends_on", "out", 4)) == [(b, 1), (c, 2), (d, 3)]
    assert places(find_related(store, a, "depends_on", "in", 4)) == []
    assert places(find_related(store, d, "depends_on", "in", 4)) == [(c, 1), (b, 2), (a, 3)]


@pytest.mark.req("D.02")
def test_a_related_memory_comes_with_how_it_was_reached(store: Store) -> None:
    a, b = nodes(store, 2)
    with store.transaction():
        store.edges.link_nodes("supports", a, [b], now=NOW, confidence=0.7, automatic=True)
    (found,) = find_related(store, b)
    node = store.nodes.get_by_key(a)
    assert node is not None
    assert found == RelatedMemory(
        node_id=node.id,
        node_key=a,
        content="memory 0",
        label="supports",
        direction="in",
        distance=1,
        confidence=0.7,
        automatic=True,
        source_key=b,
    )


@pytest.mark.req("D.02")
def test_ties_are_broken_by_confidence_and_then_by_age(store: Store) -> None:
    a, weak, early, late = nodes(store, 4)
    link(store, "supports", a, weak, confidence=0.3)
    link(store, "supports", a, late, confidence=0.9)
    link(store, "qualifies", a, early, confidence=0.9)
    assert places(find_related(store, a)) == [(early, 1), (late, 1), (weak, 1)]


@pytest.mark.req("D.02")
def test_the_surest_of_the_shortest_ways_counts_and_is_a_product(store: Store) -> None:
    a, b, c, d = nodes(store, 4)
    link(store, "supports", a, b, confidence=0.5)
    link(store, "supports", a, c, confidence=0.9)
    link(store, "supports", b, d, confidence=1.0)
    link(store, "qualifies", c, d, confidence=0.8)
    found = {item.node_key: item for item in find_related(store, a, depth=2)}
    assert found[d].confidence == pytest.approx(0.72)
    assert found[d].label == "qualifies"


@pytest.mark.req("D.02")
def test_circles_end_and_the_start_is_never_its_own_relation(store: Store) -> None:
    a, b, c = nodes(store, 3)
    for subject, target in ((a, b), (b, c), (c, a), (a, a)):
        link(store, "relates_to" if subject == b else "updates", subject, target)
    assert places(find_related(store, a, depth=4)) == [(b, 1), (c, 1)]


@pytest.mark.req("D.02", "E.16")
def test_forgotten_memories_are_neither_shown_nor_walked_through(store: Store) -> None:
    a, b, c = nodes(store, 3)
    link(store, "supports", a, b)
    link(store, "supports", b, c)
    gone = store.nodes.get_by_key(b)
    assert gone is not None
    with store.transaction():
        store.nodes.delete_node(gone.id, now=NOW)
    assert find_related(store, a, depth=4) == []
    with store.transaction():
        store.nodes.restore_node(gone.id, now=NOW)
    assert places(find_related(store, a, depth=4)) == [(b, 1), (c, 2)]


@pytest.mark.req("D.02")
def test_an_unknown_relationship_is_refused_with_those_in_use(store: Store) -> None:
    a, b = nodes(store, 2)
    with pytest.raises(BadRequestError, match="no relations are stored yet"):
        find_related(store, a, "blocks")
    link(store, "supports", a, b)
    link(store, "haunts", a, b)
    with pytest.raises(BadRequestError, match=r"'blocks' is unknown; these are in use: haunts, supports"):
        find_related(store, a, "blocks")
    with pytest.raises(BadRequestError, match=r"'temporal' is unknown: 'temporal' is the relation follows"):
        find_related(store, a, "temporal")


def test_known_labels_that_nobody_uses_yet_find_nothing_and_spelling_is_forgiven(store: Store) -> None:
    a, b = nodes(store, 2)
    link(store, "depends_on", a, b)
    assert find_related(store, a, "contradicts") == []
    assert places(find_related(store, a, " Depends on ")) == [(b, 1)]


@pytest.mark.parametrize(("direction", "depth"), [("up", 1), ("out", 0)])
def test_a_direction_or_depth_that_does_not_exist_is_refused(store: Store, direction: str, depth: int) -> None:
    (a,) = nodes(store, 1)
    with pytest.raises(BadRequestError, match=direction if depth else "depth=0"):
        find_related(store, a, "any", direction, depth)


@pytest.mark.req("E.13")
def test_the_walk_stops_at_its_cap_with_the_surest(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walking, "MAX_NODES", 3)
    a, *others = nodes(store, 6)
    for place, other in enumerate(others):
        link(store, "supports", a, other, confidence=0.5 + place / 10)
    assert [item.node_key for item in find_related(store, a, depth=3, limit=50)] == others[:1:-1]


@pytest.mark.req("E.13")
def test_a_long_chain_needs_no_recursion(store: Store) -> None:
    chain = nodes(store, 1_500)
    with store.transaction():
        for subject, target in itertools.pairwise(chain):
            store.edges.link_nodes("follows", subject, [target], now=NOW)
    found = find_related(store, chain[0], "follows", "out", 5_000, 5_000)
    assert [item.distance for item in found] == list(range(1, 1_500))


def test_only_memories_of_the_scopes_asked_for_are_reached(store: Store) -> None:
    a = add(store, "a", scope="project:1").key
    b, c = add(store, "b", scope="project:2").key, add(store, "c").key
    link(store, "supports", a, b)
    link(store, "supports", b, c)
    assert find_related(store, a, depth=2, scopes=("project:1", "global")) == []
    assert places(find_related(store, a, depth=2)) == [(b, 1), (c, 2)]


# -- laws --------------------------------------------------------------------------------------------------------------

SIZE = 7
Edge = tuple[str, tuple[tuple[int, Role], ...], int]
EDGES = st.lists(
    st.tuples(
        st.sampled_from(["supports", "causes", "contradicts", "relates_to", "mentions", "own_word"]),
        st.lists(st.tuples(st.integers(0, SIZE - 1), st.sampled_from(list(Role))), min_size=2, max_size=4, unique=True)
        .filter(lambda members: len({node for node, _ in members}) > 1)
        .map(tuple),
        st.integers(1, 10),
    ),
    max_size=8,
)
COUNTER = itertools.count()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("graphs")


def graph(folder: Path, edges: list[Edge]) -> Iterator[tuple[Store, list[NodeKey]]]:
    with Store.open(folder / f"{next(COUNTER)}.db", clock=lambda: NOW) as store:
        keys = nodes(store, SIZE)
        with store.transaction():
            for label, members, tenths in edges:
                joined = [EdgeMember(keys[node], role, place) for place, (node, role) in enumerate(members)]
                store.edges.create_edge(label, joined, now=NOW, confidence=tenths / 10)
        yield store, keys


def reached(
    store: Store, start: NodeKey, direction: str, depth: int, label: str = "any"
) -> dict[NodeKey, tuple[int, float]]:
    found = find_related(store, start, label, direction, depth, 100)
    assert [(item.distance, -item.confidence, item.node_key) for item in found] == sorted(
        (item.distance, -item.confidence, item.node_key) for item in found
    )
    return {item.node_key: (item.distance, round(item.confidence, 9)) for item in found}


@pytest.mark.req("D.02")
@settings(max_examples=examples(30))
@given(edges=EDGES, depth=st.integers(1, 4))
def test_out_and_in_mirror_each_other_and_both_holds_them_all(folder: Path, edges: list[Edge], depth: int) -> None:
    for store, keys in graph(folder, edges):
        out = {key: reached(store, key, "out", depth) for key in keys}
        into = {key: reached(store, key, "in", depth) for key in keys}
        assert all(into[b][a] == how for a in keys for b, how in out[a].items())
        assert all(out[b][a] == how for a in keys for b, how in into[a].items())
        for key in keys:
            assert reached(store, key, "both", depth).keys() >= out[key].keys() | into[key].keys()


@pytest.mark.req("D.02")
@settings(max_examples=examples(30))
@given(edges=EDGES)
def test_a_neighbourhood_only_grows_with_its_depth(folder: Path, edges: list[Edge]) -> None:
    for store, keys in graph(folder, edges):
        for direction in ("out", "in", "both"):
            near: dict[NodeKey, tuple[int, float]] = {}
            for depth in range(1, 5):
                wider = reached(store, keys[0], direction, depth)
                assert near.items() <= wider.items()
                assert all(distance == depth for key, (distance, _) in wider.items() if key not in near)
                near = wider


@pytest.mark.req("D.02")
@settings(max_examples=examples(30))
@given(edges=EDGES, label=st.sampled_from(["contradicts", "relates_to"]), direction=st.sampled_from(["out", "in"]))
def test_symmetric_relations_hold_both_ways(folder: Path, edges: list[Edge], label: str, direction: str) -> None:
    for store, keys in graph(folder, edges):
        ways = {key: reached(store, key, direction, 2, label) for key in keys}
        assert all(ways[b][a] == how for a in keys for b, how in ways[a].items())
        assert ways == {key: reached(store, key, "both", 2, label) for key in keys}
