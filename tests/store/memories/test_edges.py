"""Hyperedges and their members (SPEC-02.11 to .16, .25, .26)."""

from __future__ import annotations

import math
import uuid
from typing import Any

import pytest

from hyperloci.errors import BadRequestError, StoreError
from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, RELATION_LABELS, EdgeType, NodeKey, Role
from hyperloci.model.node import Node
from hyperloci.store import Store
from tests.support import NOW, add


@pytest.fixture
def nodes(store: Store) -> list[Node]:
    return [add(store, f"node {number}") for number in range(4)]


@pytest.mark.req("SPEC-02.12", "SPEC-02.14", "SPEC-02.15", "SPEC-02.25", "SPEC-02.35")
def test_a_hyperedge_joins_any_number_of_nodes_with_roles_and_places(store: Store, nodes: list[Node]) -> None:
    members = [EdgeMember(node.key, role, place) for place, (node, role) in enumerate(zip(nodes, Role, strict=False))]
    with store.transaction():
        edge = store.edges.create_edge(
            "explains", members, now=NOW, weight=2.5, confidence=0.5, automatic=True, evidence="it says 'because'"
        )
    assert uuid.UUID(edge.id).version == 4
    assert store.edges.get_edge(edge.id) == edge
    assert edge.members == tuple(members)
    assert (edge.type, edge.label, edge.weight, edge.confidence) == (EdgeType.RELATION, "explains", 2.5, 0.5)
    assert (edge.automatic, edge.evidence, edge.created_at, edge.confirmed_at) == (True, "it says 'because'", NOW, None)
    assert store.edges.get_members([edge.key]) == {edge.key: edge.members}
    assert [store.edges.list_of_node(node.key) for node in nodes] == [[edge]] * 4


def test_an_unknown_hyperedge_is_none(store: Store) -> None:
    assert store.edges.get_edge("nothing") is None
    assert store.edges.list_of_node(NodeKey(5)) == []
    assert store.edges.get_members([7]) == {}


@pytest.mark.req("SPEC-02.11")
@pytest.mark.parametrize("label", [*EDGE_TYPE_OF_LABEL, "a label of one's own"])
def test_the_type_follows_from_the_label_unless_it_is_given(store: Store, nodes: list[Node], label: str) -> None:
    members = [EdgeMember(nodes[0].key, Role.SUBJECT), EdgeMember(nodes[1].key, Role.OBJECT)]
    with store.transaction():
        edge = store.edges.create_edge(label, members, now=NOW)
        other = store.edges.create_edge(label, members, now=NOW, type=EdgeType.CONTEXT)
    assert edge.type is EDGE_TYPE_OF_LABEL.get(label, EdgeType.RELATION)
    assert other.type is EdgeType.CONTEXT


@pytest.mark.req("SPEC-02.13", "SPEC-02.36")
@pytest.mark.parametrize("weight", [0.0, 1e-300, 1.0, 1e300])
def test_any_weight_from_nought_up_is_kept(store: Store, nodes: list[Node], weight: float) -> None:
    members = [EdgeMember(node.key, Role.PARTICIPANT) for node in nodes]
    with store.transaction():
        edge = store.edges.create_edge("x", members, now=NOW, weight=weight)
    found = store.edges.get_edge(edge.id)
    assert found is not None and found.weight == weight


@pytest.mark.req("SPEC-02.13", "SPEC-02.36")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weight", -0.1),
        ("weight", math.nan),
        ("weight", math.inf),
        ("confidence", -0.1),
        ("confidence", 1.1),
        ("confidence", math.nan),
    ],
)
def test_a_number_out_of_bounds_is_named_and_nothing_stored(
    store: Store, nodes: list[Node], name: str, value: float
) -> None:
    members = [EdgeMember(node.key, Role.PARTICIPANT) for node in nodes]
    wrong: dict[str, Any] = {name: value}
    with pytest.raises(BadRequestError, match=name), store.transaction():
        store.edges.create_edge("x", members, now=NOW, **wrong)
    assert store.count_everything()["edges"] == 0


@pytest.mark.req("SPEC-02.16")
def test_the_database_itself_knows_types_and_roles(store: Store, nodes: list[Node]) -> None:
    with store.transaction():
        edge = store.edges.link_nodes("supports", nodes[0].key, [nodes[1].key], now=NOW)
    for statement in (
        "UPDATE hyperedges SET type = 'friendship'",
        "UPDATE membership SET role = 'hero'",
        "UPDATE hyperedges SET weight = -1",
    ):
        with pytest.raises(StoreError, match="CHECK"), store.transaction():
            store.connection.execute(statement)
    assert store.edges.get_edge(edge.id) == edge


@pytest.mark.parametrize("count", [0, 1])
def test_a_relation_needs_two(store: Store, nodes: list[Node], count: int) -> None:
    members = [EdgeMember(node.key, Role.PARTICIPANT) for node in nodes[:count]]
    with pytest.raises(BadRequestError, match="at least two"), store.transaction():
        store.edges.create_edge("x", members, now=NOW)
    with pytest.raises(BadRequestError, match="at least two"), store.transaction():
        store.edges.create_edge("x", [EdgeMember(nodes[0].key, Role.PARTICIPANT, place) for place in range(3)], now=NOW)
    assert store.count_everything()["edges"] == 0


def test_a_member_named_twice_in_one_role_counts_once_in_its_first_place(store: Store, nodes: list[Node]) -> None:
    a, b = nodes[0].key, nodes[1].key
    with store.transaction():
        edge = store.edges.create_edge(
            "x",
            [
                EdgeMember(a, Role.OBJECT, 0),
                EdgeMember(b, Role.OBJECT, 1),
                EdgeMember(a, Role.OBJECT, 2),
                EdgeMember(a, Role.SUBJECT, 3),
            ],
            now=NOW,
        )
    assert edge.members == (
        EdgeMember(a, Role.OBJECT, 0),
        EdgeMember(b, Role.OBJECT, 1),
        EdgeMember(a, Role.SUBJECT, 3),
    )
    assert store.edges.get_edge(edge.id) == edge


@pytest.mark.req("SPEC-02.38")
def test_a_hyperedge_with_somebody_unknown_is_refused_whole(store: Store, nodes: list[Node]) -> None:
    members = [EdgeMember(nodes[0].key, Role.SUBJECT), EdgeMember(NodeKey(999), Role.OBJECT)]
    with pytest.raises(StoreError, match="FOREIGN KEY"), store.transaction():
        store.edges.create_edge("x", members, now=NOW)
    assert store.count_everything()["edges"] == 0


@pytest.mark.parametrize(
    ("label", "first", "rest"),
    [
        ("causes", Role.CAUSE, Role.EFFECT),
        ("changed", Role.CAUSE, Role.EFFECT),
        ("contradicts", Role.PARTICIPANT, Role.PARTICIPANT),
        ("relates_to", Role.PARTICIPANT, Role.PARTICIPANT),
        ("contains", Role.SUBJECT, Role.PARTICIPANT),
        ("mentions", Role.SUBJECT, Role.PARTICIPANT),
        ("derived_from", Role.SUBJECT, Role.OBJECT),
        ("own", Role.SUBJECT, Role.OBJECT),
        *(
            (label, Role.SUBJECT, Role.OBJECT)
            for label in RELATION_LABELS
            if label not in ("contradicts", "relates_to")
        ),
    ],
)
def test_a_link_gives_the_roles_that_its_label_asks_for(
    store: Store, nodes: list[Node], label: str, first: Role, rest: Role
) -> None:
    keys = [node.key for node in nodes]
    with store.transaction():
        edge = store.edges.link_nodes(label, keys[0], keys[1:], now=NOW, confidence=0.4, automatic=True, evidence="e")
    assert edge.members == (
        EdgeMember(keys[0], first),
        *(EdgeMember(key, rest, i) for i, key in enumerate(keys[1:], start=1)),
    )
    assert store.edges.get_edge(edge.id) == edge
    assert (edge.confidence, edge.automatic, edge.evidence) == (0.4, True, "e")


def test_the_hyperedges_of_a_node_come_in_order_and_by_label(store: Store, nodes: list[Node]) -> None:
    keys = [node.key for node in nodes]
    with store.transaction():
        first = store.edges.link_nodes("supports", keys[0], [keys[1]], now=NOW)
        second = store.edges.link_nodes("follows", keys[2], [keys[0]], now=NOW)
        store.edges.link_nodes("supports", keys[2], [keys[3]], now=NOW)
    assert store.edges.list_of_node(keys[0]) == [first, second]
    assert store.edges.list_of_node(keys[0], "follows") == [second]
    assert store.edges.list_of_node(keys[0], "nothing") == []


@pytest.mark.req("SPEC-02.26", "SPEC-02.35")
def test_related_nodes_are_the_living_ones_that_share_a_hyperedge(store: Store, nodes: list[Node]) -> None:
    a, b, c, d = nodes
    with store.transaction():
        store.edges.link_nodes("supports", a.key, [b.key, c.key], now=NOW)
        store.edges.link_nodes("causes", d.key, [a.key], now=NOW)
        store.nodes.delete_node(c.id, now=NOW)
    assert store.edges.list_related_nodes(a.key) == [b, d]
    assert store.edges.list_related_nodes(a.key, "relation") == [b]
    assert store.edges.list_related_nodes(a.key, EdgeType.CAUSATION) == [d]
    assert store.edges.list_related_nodes(a.key, "composition") == []
    assert store.edges.list_related_nodes(NodeKey(99)) == []


@pytest.mark.req("D.03")
def test_rules_that_run_anew_replace_only_what_rules_made_and_nobody_confirmed(store: Store, nodes: list[Node]) -> None:
    a, b, c, _ = (node.key for node in nodes)
    with store.transaction():
        gone = store.edges.link_nodes("supports", a, [b], now=NOW, automatic=True)
        gone_too = store.edges.link_nodes("causes", a, [b], now=NOW, automatic=True)
        confirmed = store.edges.link_nodes("supports", a, [c], now=NOW, automatic=True)
        by_hand = store.edges.link_nodes("supports", a, [c], now=NOW)
        other_label = store.edges.link_nodes("updates", a, [b], now=NOW, automatic=True)
        other_side = store.edges.link_nodes("supports", b, [a], now=NOW, automatic=True)
        assert store.edges.confirm_edge(confirmed.id, now=NOW + 1)
        store.edges.delete_automatic(a, ["supports", "causes"])
    assert store.edges.get_edge(gone.id) is store.edges.get_edge(gone_too.id) is None
    kept = [confirmed, by_hand, other_label, other_side]
    assert [edge.id for edge in store.edges.list_of_node(a)] == [edge.id for edge in kept]
    assert store.connection.execute("SELECT count(*) FROM membership").fetchone()[0] == 8


@pytest.mark.req("D.11")
def test_a_confirmed_link_is_certain(store: Store, nodes: list[Node]) -> None:
    with store.transaction():
        edge = store.edges.link_nodes("supports", nodes[0].key, [nodes[1].key], now=NOW, confidence=0.3, automatic=True)
        assert store.edges.confirm_edge(edge.id, now=NOW + 7)
        assert store.edges.confirm_edge("nothing", now=NOW) is False
    found = store.edges.get_edge(edge.id)
    assert found is not None and (found.confidence, found.confirmed_at) == (1.0, NOW + 7)


@pytest.mark.req("SPEC-02.38")
def test_memberships_go_with_their_node_or_hyperedge(store: Store, nodes: list[Node]) -> None:
    with store.transaction():
        first = store.edges.link_nodes("supports", nodes[0].key, [nodes[1].key, nodes[2].key], now=NOW)
        store.edges.link_nodes("supports", nodes[2].key, [nodes[3].key], now=NOW)
        store.connection.execute("DELETE FROM nodes WHERE key = ?", (nodes[0].key,))
    edge = store.edges.get_edge(first.id)
    assert edge is not None and [member.node for member in edge.members] == [nodes[1].key, nodes[2].key]
    with store.transaction():
        store.connection.execute("DELETE FROM hyperedges")
    assert store.connection.execute("SELECT count(*) FROM membership").fetchone()[0] == 0
