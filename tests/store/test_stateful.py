"""Any sequence of operations, on two connections with failures in between, against a model in plain Python."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from hyperloci.clock import MS_PER_DAY
from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import NodeId, NodeKey, NodeType, Role, Tier
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity
from hyperloci.store.keywords.analysis import analyse_query
from tests.support import NOW, FakeClock, add, examples

WORDS = st.sampled_from(["apple", "banana", "cherry", "naïve café", "getUserName", "'quoted' \"text\"", "\U0001f34e"])


class Undo(Exception):
    """What a failing block raises."""


@dataclass
class Expected:
    content: str
    type: NodeType
    scope: str
    tier: Tier
    confidence: float
    deleted_at: int | None = None
    before: Tier | None = None
    moves: list[tuple[str, str, str]] = field(default_factory=list)


class Memory(RuleBasedStateMachine):
    """Nodes and hyperedges, written by turns over two connections."""

    ids = Bundle("ids")

    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.clock = FakeClock()
        path = Path(self.folder.name) / "memory.db"
        self.stores = [Store.open(path, clock=self.clock) for _ in range(2)]
        self.turn = 0
        self.nodes: dict[NodeId, Expected] = {}
        self.keys: dict[NodeId, NodeKey] = {}
        self.edges: dict[str, list[tuple[str, str]]] = {}

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            store = self.stores[0]
            assert integrity.check_integrity(store) == []
            assert integrity.count_violations(store) == {}
            for store in self.stores:
                store.close()
            self.folder.cleanup()

    @property
    def store(self) -> Store:
        self.turn += 1
        return self.stores[self.turn % 2]

    @rule(
        target=ids,
        content=WORDS,
        type=st.sampled_from(NodeType),
        scope=st.sampled_from(["global", "p1", "p2"]),
        tier=st.sampled_from(Tier),
        confidence=st.floats(0, 1),
    )
    def create(self, content: str, type: NodeType, scope: str, tier: Tier, confidence: float) -> NodeId:
        node = add(self.store, content, now=self.clock(), type=type, scope=scope, tier=tier, confidence=confidence)
        assert node.id not in self.nodes
        assert node.key not in self.keys.values()
        self.nodes[node.id] = Expected(content, type, scope, tier, confidence)
        self.keys[node.id] = node.key
        return node.id

    @rule(content=WORDS, scope=st.sampled_from(["p1", "p3"]))
    def create_and_fail(self, content: str, scope: str) -> None:
        store = self.store
        with pytest.raises(Undo), store.transaction():
            add(store, content, scope=scope)
            store.filters.select_allowed(SearchFilter())
            raise Undo

    @rule(node_id=ids, content=WORDS)
    def rewrite(self, node_id: NodeId, content: str) -> None:
        store = self.store
        with store.transaction():
            assert store.nodes.update_node(node_id, now=self.clock(), content=content)
        self.nodes[node_id].content = content

    @rule(node_id=ids, tier=st.sampled_from(Tier), confidence=st.floats(0, 1))
    def move(self, node_id: NodeId, tier: Tier, confidence: float) -> None:
        expected = self.nodes[node_id]
        if expected.deleted_at is not None:
            return
        store = self.store
        with store.transaction():
            assert store.nodes.update_node(node_id, now=self.clock(), tier=tier, confidence=confidence)
        if tier != expected.tier:
            expected.moves.append(("tier", expected.tier, tier))
        expected.tier, expected.confidence = tier, confidence

    @rule(node_id=ids)
    def forget(self, node_id: NodeId) -> None:
        expected, store = self.nodes[node_id], self.store
        with store.transaction():
            assert store.nodes.delete_node(node_id, now=self.clock()) is (expected.deleted_at is None)
        if expected.deleted_at is None:
            expected.moves.append(("forget", expected.tier, "archive"))
            expected.deleted_at, expected.before, expected.tier = self.clock(), expected.tier, Tier.ARCHIVE

    @rule(node_id=ids)
    def restore(self, node_id: NodeId) -> None:
        expected, store = self.nodes[node_id], self.store
        possible = expected.deleted_at is not None and self.clock() - expected.deleted_at <= 30 * MS_PER_DAY
        with store.transaction():
            assert store.nodes.restore_node(node_id, now=self.clock()) is possible
        if possible:
            assert expected.before is not None
            expected.tier, expected.deleted_at = expected.before, None
            expected.moves.append(("restore", "archive", expected.tier))

    @rule(days=st.integers(-20, 40))
    def wait(self, days: int) -> None:
        self.clock.advance(days * MS_PER_DAY)

    @rule(chosen=st.lists(ids, min_size=2, max_size=4), roles=st.lists(st.sampled_from(Role), min_size=4, max_size=4))
    def join(self, chosen: list[NodeId], roles: list[Role]) -> None:
        wanted = list(dict.fromkeys(zip(chosen, roles, strict=False)))
        if len(wanted) < 2:
            return
        store = self.store
        members = [EdgeMember(self.keys[node], role, place) for place, (node, role) in enumerate(wanted)]
        with store.transaction():
            edge = store.edges.create_edge("relates_to", members, now=self.clock())
        assert edge.id not in self.edges
        self.edges[edge.id] = [(node, role) for node, role in wanted]

    @rule(chosen=st.lists(ids, min_size=2, max_size=2))
    def join_and_fail(self, chosen: list[NodeId]) -> None:
        store = self.store
        with pytest.raises(Undo), store.transaction():
            store.edges.create_edge(
                "x",
                [EdgeMember(self.keys[node], Role(role)) for node, role in zip(chosen, Role, strict=False)],
                now=NOW,
            )
            raise Undo

    @invariant()
    def every_node_is_as_expected(self) -> None:
        store = self.store
        living = {node.id for node in store.nodes.query_nodes(limit=10_000)}
        assert living == {node_id for node_id, expected in self.nodes.items() if expected.deleted_at is None}
        for node_id, expected in self.nodes.items():
            node = store.nodes.get_node(node_id)
            assert node is not None
            assert (node.content, node.type, node.scope) == (expected.content, expected.type, expected.scope)
            assert (node.tier, node.deleted_at) == (expected.tier, expected.deleted_at)
            moves = [
                (entry.operation, entry.from_tier, entry.to_tier)
                for entry in store.log.list_of_node(node_id, limit=10_000)
            ]
            assert moves == expected.moves

    @invariant()
    def searches_find_exactly_what_lives(self) -> None:
        store = self.store
        allowed = store.filters.select_allowed(SearchFilter())
        # A name alone answers nothing, so who doesn't ask for entities gets none.
        living = {
            self.keys[node_id]
            for node_id, expected in self.nodes.items()
            if expected.deleted_at is None and expected.type is not NodeType.ENTITY
        }
        assert {key for key, holds in enumerate(allowed) if holds} == living
        for word in ("apple", "user"):
            hits = store.keyword_search.rank_by_bm25(analyse_query(word), allowed, 10_000)
            terms = {"apple": "apple", "user": "getUserName"}[word]
            assert set(hits) == {self.keys[i] for i, e in self.nodes.items() if e.content == terms} & living

    @invariant()
    def every_edge_is_as_expected(self) -> None:
        store = self.store
        assert store.count_everything()["edges"] == len(self.edges)
        names = {key: node_id for node_id, key in self.keys.items()}
        for edge_id, members in self.edges.items():
            edge = store.edges.get_edge(edge_id)
            assert edge is not None
            assert [(names[member.node], str(member.role)) for member in edge.members] == members


Memory.TestCase.settings = hypothesis_settings(max_examples=examples(25), stateful_step_count=25)


@pytest.mark.req("SPEC-02.35", "SPEC-02.38", "SPEC-02.19", "E.16")
class TestAnySequenceOfOperations(Memory.TestCase):  # type: ignore[valid-type,misc]
    """Ids stay unique and references whole, whatever is done in whatever order."""
