"""One step over hyperedges (D.02)."""

from __future__ import annotations

import pytest

from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import NodeKey, Role
from hyperloci.store import Store
from hyperloci.store.memories import traversal
from tests.support import NOW, add


def join(store: Store, label: str, *members: tuple[int, Role], confidence: float = 1.0) -> None:
    with store.transaction():
        joined = [EdgeMember(NodeKey(key), role, place) for place, (key, role) in enumerate(members)]
        store.edges.create_edge(label, joined, now=NOW, confidence=confidence)


def steps(store: Store, *sources: int, direction: str = "both", label: str | None = None) -> list[tuple[int, int, str]]:
    found = store.traversal.find_steps(sources, direction=direction, label=label)
    return [(step.source, step.target, step.direction) for step in found]


@pytest.mark.req("D.02")
def test_who_speaks_points_to_everyone_else(store: Store) -> None:
    s, o, p, c = (add(store, text).key for text in ("subject", "object", "participant", "context"))
    join(store, "explains", (s, Role.SUBJECT), (o, Role.OBJECT), (p, Role.PARTICIPANT), (c, Role.CONTEXT))
    assert steps(store, s, direction="out") == [(s, o, "out"), (s, p, "out"), (s, c, "out")]
    assert steps(store, s, direction="in") == []
    assert steps(store, o) == [(o, s, "in")]
    assert steps(store, o, direction="out") == []


@pytest.mark.req("D.02")
def test_each_cause_points_to_each_effect_and_causes_are_no_neighbours(store: Store) -> None:
    a, b, x, y = (add(store, text).key for text in "abxy")
    join(store, "causes", (a, Role.CAUSE), (b, Role.CAUSE), (x, Role.EFFECT), (y, Role.EFFECT))
    assert steps(store, a, b, direction="out") == [(a, x, "out"), (a, y, "out")]
    assert steps(store, b, direction="out") == [(b, x, "out"), (b, y, "out")]
    assert steps(store, x, direction="in") == [(x, a, "in"), (x, b, "in")]


@pytest.mark.req("D.02", "W17")
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_members_of_one_rank_are_never_crossed_to(store: Store, direction: str) -> None:
    a, b, x, y = (add(store, text).key for text in "abxy")
    join(store, "causes", (a, Role.CAUSE), (b, Role.CAUSE), (x, Role.EFFECT), (y, Role.EFFECT))
    crossed = store.traversal.iterate_crossings([a, b, x, y], direction=direction)
    assert {frozenset(crossing[:2]) for crossing in crossed} == {
        frozenset(pair) for pair in ((a, x), (a, y), (b, x), (b, y))
    }


@pytest.mark.req("D.02")
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_a_symmetric_label_is_crossed_by_any_direction_whatever_the_roles(store: Store, direction: str) -> None:
    a, b = add(store, "a").key, add(store, "b").key
    join(store, "contradicts", (a, Role.SUBJECT), (b, Role.OBJECT))
    assert steps(store, a, direction=direction) == [(a, b, "both")]
    assert steps(store, b, direction=direction) == [(b, a, "both")]


@pytest.mark.req("D.02")
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_from_each_of_some_memories_the_steps_are_those_from_it_alone(store: Store, direction: str) -> None:
    a, b, x, y, z = (add(store, text).key for text in "abxyz")
    join(store, "causes", (a, Role.CAUSE), (b, Role.CAUSE), (x, Role.EFFECT), (y, Role.EFFECT), confidence=0.4)
    join(store, "contradicts", (a, Role.SUBJECT), (b, Role.OBJECT), (z, Role.OBJECT), confidence=0.8)
    join(store, "causes", (z, Role.CAUSE), (a, Role.CAUSE), (a, Role.EFFECT), (b, Role.EFFECT), confidence=0.6)
    sources = [z, b, a, y]
    alone = [step for source in sources for step in store.traversal.find_steps([source], direction=direction)]
    assert store.traversal.find_steps(sources, direction=direction, from_each=True) == alone


def test_members_of_a_hyperedge_in_which_nobody_speaks_are_all_neighbours(store: Store) -> None:
    a, b, c = (add(store, text).key for text in "abc")
    join(store, "discussed_with", *((key, Role.PARTICIPANT) for key in (a, b, c)))
    assert steps(store, b, direction="out") == [(b, a, "both"), (b, c, "both")]


def test_forgotten_nodes_other_labels_and_other_scopes_are_left_out(store: Store) -> None:
    a, b, gone, far = (add(store, text) for text in ("a", "b", "gone", "far"))
    away = add(store, "away", scope="project:2")
    for other in (b, gone, away):
        join(store, "supports", (a.key, Role.SUBJECT), (other.key, Role.OBJECT))
    join(store, "qualifies", (a.key, Role.SUBJECT), (far.key, Role.OBJECT))
    with store.transaction():
        store.nodes.delete_node(gone.id, now=NOW)
    found = store.traversal.find_steps([a.key], label="supports", scopes=["global"])
    assert [step.target for step in found] == [b.key]


def test_the_surest_steps_come_first(store: Store) -> None:
    a, b, c = (add(store, text).key for text in "abc")
    join(store, "supports", (a, Role.SUBJECT), (b, Role.OBJECT), confidence=0.4)
    join(store, "supports", (a, Role.SUBJECT), (c, Role.OBJECT), confidence=0.8)
    assert [target for _, target, _ in steps(store, a)] == [c, b]


def test_a_hub_costs_no_more_than_its_cap(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traversal, "MAX_STEPS", 5)
    keys = [add(store, f"memory {number}").key for number in range(12)]
    join(store, "mentions", (keys[0], Role.SUBJECT), *((key, Role.PARTICIPANT) for key in keys[1:]))
    assert len(steps(store, keys[0])) == 5
    assert steps(store, *keys[1:]) == [(keys[1], keys[0], "in")]


def test_labels_in_use_are_listed_once(store: Store) -> None:
    a, b = add(store, "a").key, add(store, "b").key
    walker = store.traversal
    assert walker.list_labels() == []
    for label in ("supports", "blocks", "supports"):
        join(store, label, (a, Role.SUBJECT), (b, Role.OBJECT))
    assert walker.list_labels() == ["blocks", "supports"]
    assert walker.has_label("blocks")
    assert not walker.has_label("qualifies")


def test_which_nodes_a_label_joins_is_told_without_reading_what_it_joins_them_to(store: Store) -> None:
    a, b, c = (add(store, text).key for text in ("a", "b", "c"))
    join(store, "contradicts", (a, Role.SUBJECT), (b, Role.OBJECT))
    join(store, "supports", (c, Role.SUBJECT), (b, Role.OBJECT))
    assert store.traversal.find_linked([a, b, c], "contradicts") == {a, b}
    assert store.traversal.find_linked([c], "contradicts") == set()
    assert store.traversal.find_linked([], "contradicts") == set()


@pytest.mark.req("D.02")
@pytest.mark.parametrize(
    ("asked", "stored"),
    [("depends_on", "imports"), ("depends_on", "inherits"), ("supports", "tests"), ("elaborates", "documents")],
)
def test_a_general_relation_is_followed_by_what_shows_it(store: Store, asked: str, stored: str) -> None:
    a, b = add(store, "a"), add(store, "b")
    with store.transaction():
        store.edges.link_nodes(stored, a.key, [b.key], now=NOW)
    (step,) = store.traversal.find_steps([a.key], label=asked, direction="out")
    assert (step.target, step.label) == (b.key, stored)
    assert [target for _, target, _ in store.traversal.iterate_crossings([a.key], label=asked)] == [b.key]
    assert store.traversal.find_steps([a.key], label="summarizes") == []


def test_a_memory_without_such_a_relation_takes_one_statement_and_one_with_it_three_at_most(store: Store) -> None:
    old, new, other = (add(store, text).key for text in ("old", "new", "other"))
    join(store, "updates", (new, Role.SUBJECT), (old, Role.OBJECT))
    said: list[str] = []
    store.connection.set_trace_callback(said.append)
    assert steps(store, other, label="updates") == []
    assert len(said) == 1
    assert steps(store, old, label="updates", direction="in") == [(old, new, "in")]
    assert len(said) <= 1 + 3
    store.connection.set_trace_callback(None)
