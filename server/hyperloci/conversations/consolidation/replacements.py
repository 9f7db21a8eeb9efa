"""Replacements: what a new statement takes the place of, or may (B.17).

Each new statement is put beside the living ones of its project. A sure replacement ends the old one and joins the two
(`supersedes`); where it is not sure, both stand, joined by `updates`: whoever shows the old one says that it may have
been replaced.
"""

from __future__ import annotations

from typing import Final

from hyperloci.clock import Clock
from hyperloci.conversations.consolidation.contradiction_resolution import ConflictResolver, source_trust
from hyperloci.conversations.consolidation.findings import ExtractedFinding
from hyperloci.conversations.consolidation.replacement_scorer import ComparedStatement, load_replacement_scorer
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress

SURE: Final = 0.6
"""Probability from which on the old statement is ended."""

POSSIBLE: Final = 0.25
"""Probability from which on the old statement is marked as possibly replaced."""

MAX_LIVING: Final = 400
"""Living statements that a new one is compared with, the newest of each type: more than a year of sessions leaves."""

_COMPARED_TYPES: Final = ((NodeType.FACT, ()), (NodeType.DECISION, ("decision",)), (NodeType.EXPERIENCE, ("dead_end",)))


class ReplacementResolver:
    """Finds what new statements replace, in one store."""

    def __init__(self, store: Store, conflicts: ConflictResolver, clock: Clock) -> None:
        self._store = store
        self._conflicts = conflicts
        self._clock = clock

    def detect_conflicts(
        self, new: Node, finding: ExtractedFinding, progress: ConsolidationProgress
    ) -> list[tuple[Node, float]]:
        """Return the living statements that a new one replaces, or may, with the probability (B.19)."""
        living = self._list_living(new, progress.scope)
        statement = ComparedStatement(finding.content, about=finding.about or "", reply=finding.reply)
        scores = load_replacement_scorer().score(statement, [_compared(node) for node in living])
        return [(old, probability) for old, probability in zip(living, scores, strict=True) if probability >= POSSIBLE]

    def resolve_conflict(self, new: Node, old: Node, probability: float) -> bool:
        """End a statement in favour of a new one if that is sure, else mark it; True if it ended. In a transaction."""
        if probability >= SURE and may_replace(new, old):
            self._conflicts.supersede(old, new, f"a later statement replaces it ({probability:.2f})")
            return True
        self._mark_uncertain(old, new, probability)
        return False

    def _list_living(self, new: Node, scope: str) -> list[Node]:
        """Return the statements that hold, in the order in which they were made."""
        found = [
            node
            for kind, subtypes in _COMPARED_TYPES
            for node in self._store.nodes.query_nodes(
                kind, subtypes=subtypes, scopes=(scope, GLOBAL_SCOPE), limit=MAX_LIVING
            )
        ]
        earlier = (node for node in found if node.key != new.key and node.event_time <= new.event_time)
        return sorted(earlier, key=lambda node: (node.event_time, node.key))

    def _mark_uncertain(self, old: Node, new: Node, probability: float) -> None:
        self._store.edges.link_nodes(
            "updates",
            new.key,
            [old.key],
            now=self._clock(),
            confidence=probability,
            automatic=True,
            evidence="a later statement may replace it",
        )


def _compared(node: Node) -> ComparedStatement:
    quote, about = node.metadata.get("quote"), node.metadata.get("about")
    return ComparedStatement(str(quote or node.content), about=str(about or ""))


def may_replace(new: Node, old: Node) -> bool:
    """Return whether rules may end the old one: never what was told on purpose or confirmed, or is better supported."""
    return old.origin is Origin.EXTRACTION and old.decay_rate > 0.0 and source_trust(old) <= source_trust(new)
