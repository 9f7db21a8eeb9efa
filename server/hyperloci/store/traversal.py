"""One step over hyperedges from many nodes at once; the walk itself is `graph.related`."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hyperloci.model.kinds import SYMMETRIC_LABELS, NodeKey

MAX_STEPS: Final = 50_000
"""Rows read for one level at most, surest first: a hub with a million mentions must not stop the rest."""

OUT: Final = "out"
IN: Final = "in"
BOTH: Final = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A hyperedge crossed from one node to another; `direction` is out, in or both (it has none)."""

    source: NodeKey
    target: NodeKey
    label: str
    direction: str
    confidence: float
    automatic: bool


# Who speaks (subject, cause) points to what is spoken of (object, effect, participant, context). Symmetric labels, and
# hyperedges in which nobody speaks, join all their members both ways; members of one rank are otherwise no neighbours.
# CROSS JOIN keeps SQLite from starting at the larger table.
_STEP: Final = """
SELECT source, target, label, confidence, automatic,
    CASE WHEN peers OR (a_speaks AND b_speaks) THEN 'both' WHEN a_speaks THEN 'out' ELSE 'in' END AS direction
FROM (
    SELECT a.node_key AS source, b.node_key AS target, h.key AS edge, h.label, h.confidence, h.automatic,
        a.role IN ('subject', 'cause') AS a_speaks, b.role IN ('subject', 'cause') AS b_speaks,
        h.label IN (SELECT value FROM json_each(?2)) OR NOT EXISTS (
            SELECT 1 FROM membership s WHERE s.hyperedge_key = h.key AND s.role IN ('subject', 'cause')) AS peers
    FROM json_each(?1) j CROSS JOIN membership a ON a.node_key = j.value
    CROSS JOIN hyperedges h ON h.key = a.hyperedge_key
    CROSS JOIN membership b ON b.hyperedge_key = h.key AND b.node_key <> a.node_key
    CROSS JOIN nodes n ON n.key = b.node_key
    WHERE n.deleted_at IS NULL AND (?3 IS NULL OR h.label = ?3)
        AND (?4 IS NULL OR n.scope_key IN (SELECT s.key FROM json_each(?4) w JOIN scopes s ON s.id = w.value)))
WHERE (peers OR a_speaks <> b_speaks) AND (?5 = 'both' OR peers OR (?5 = 'out') = a_speaks)
ORDER BY confidence DESC, edge, target LIMIT ?6
"""


class Traversal:
    """Steps over the hyperedges of one database; forgotten nodes are never stepped on."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def step(
        self,
        sources: Iterable[int],
        *,
        label: str | None = None,
        direction: str = BOTH,
        scopes: Sequence[str] = (),
    ) -> list[Step]:
        """Return the steps from any of `sources`, surest first.

        Args:
            sources: keys of nodes.
            label: only over hyperedges with this label.
            direction: out, in or both; hyperedges without a direction are crossed by any.
            scopes: only to nodes of these scopes; empty is every scope.
        """
        rows = self._connection.execute(
            _STEP,
            (
                json.dumps([int(key) for key in sources]),
                json.dumps(sorted(SYMMETRIC_LABELS)),
                label,
                json.dumps(list(scopes)) if scopes else None,
                direction,
                MAX_STEPS,
            ),
        )
        return [
            Step(
                source=NodeKey(row["source"]),
                target=NodeKey(row["target"]),
                label=row["label"],
                direction=row["direction"],
                confidence=row["confidence"],
                automatic=bool(row["automatic"]),
            )
            for row in rows
        ]

    def has_label(self, label: str) -> bool:
        """Return whether any hyperedge has this label."""
        row = self._connection.execute("SELECT 1 FROM hyperedges WHERE label = ? LIMIT 1", (label,)).fetchone()
        return row is not None

    def labels(self) -> list[str]:
        """Return the labels in use, in alphabetical order."""
        return [row[0] for row in self._connection.execute("SELECT DISTINCT label FROM hyperedges ORDER BY label")]
