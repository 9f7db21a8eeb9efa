"""Contradiction resolution: which of two memories holds, where a model or the assistant says: not both (B.17)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.clock import Clock
from hyperloci.conversations.consolidation.findings import DeclaredConflict, RejectedItem
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.knowledge.exceptions import is_exception
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, Origin
from hyperloci.model.node import Node
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query
from hyperloci.text.sanitize.sanitizer import sanitize

MAX_NEAR: Final = 30
"""Known memories a finding is compared with: those nearest in words."""


class ContradictionResolver:
    """The contradictions of one store."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def find_near(self, statement: str, scope: str) -> list[Node]:
        """Return what is concluded in a project, or everywhere, and nearest to a statement in words."""
        scopes = (scope, GLOBAL_SCOPE)
        said = SearchFilter(scopes=tuple(scopes), types=("fact", "decision", "experience"))
        allowed = self._store.filters.select_allowed(said)
        found = self._store.keyword_search.rank_by_bm25(analyse_query(statement), allowed, MAX_NEAR)
        keys = [NodeKey(key) for key in found]
        nodes = self._store.nodes.get_by_keys(keys)
        concluded = [nodes[key] for key in keys if key in nodes]
        return [node for node in concluded if node.subtype not in ("episode", "action", "outcome")]

    def supersede(self, old: Node, new: Node, reason: str) -> None:
        """Invalidate a memory as of its successor, and join the two. Runs in a transaction."""
        writer = MemoryWriter(self._store)
        writer.supersede(old, new, reason, now=self._clock(), until=new.valid_from, automatic=True)

    def expire(self, old: Node, reason: str, *, until: int) -> None:
        """End a memory whose time is over. Runs in a transaction."""
        MemoryWriter(self._store).expire(old, reason, now=self._clock(), until=until)

    def _dispute(self, old: Node, new: Node, confidence: float, reason: str) -> None:
        writer = MemoryWriter(self._store)
        join = writer.add_exception if is_exception(new, old) else writer.dispute
        join(new, old, reason, confidence=confidence, now=self._clock())

    def resolve_declared_conflicts(
        self, conflicts: Sequence[DeclaredConflict], nodes: Mapping[str, Node], scope: str
    ) -> tuple[list[str], list[RejectedItem]]:
        """Resolve the conflicts that the consolidation declared, within the same limits. Runs in a transaction."""
        superseded: list[str] = []
        rejected: list[RejectedItem] = []
        for number, conflict in enumerate(conflicts):
            place = f"conflicts[{number}]"
            old, new = self._store.nodes.get_node(conflict.old), nodes.get(conflict.new)
            if old is None or old.scope not in (scope, GLOBAL_SCOPE) or old.deleted_at is not None:
                rejected.append(RejectedItem(place, f"old={conflict.old!r:.60}: no memory of this project has this id"))
            elif new is None:
                rejected.append(RejectedItem(place, f"new={conflict.new!r:.60}: no stored item of this payload"))
            elif old.key == new.key or old.valid_until is not None:
                rejected.append(RejectedItem(place, "old was already replaced"))
            elif not may_replace(new, old):
                reason = sanitize(conflict.reason).text or "declared so"
                self._dispute(old, new, min(old.confidence, new.confidence), reason)
                why = "old was remembered on purpose, confirmed or better supported: both are kept, as contradicting"
                rejected.append(RejectedItem(place, why))
            else:
                self.supersede(old, new, sanitize(conflict.reason).text or "replaced by what a later session said")
                superseded.append(old.id)
        return superseded, rejected


def may_replace(new: Node, old: Node) -> bool:
    """Return whether rules may end the old one: never what was told on purpose or confirmed, or is better supported."""
    return may_end(old) and _source_trust(old) <= _source_trust(new)


def may_end(node: Node) -> bool:
    """Return whether rules may end a memory: what was extracted, and nobody confirmed or told on purpose."""
    return node.origin is Origin.EXTRACTION and node.decay_rate > 0.0 and not node.was_told


def _source_trust(node: Node) -> float:
    """Return how far the turns can be believed that a memory was made of."""
    return float(node.metadata.get("trust", node.confidence))
