"""Edge pruning: relations that fade, and measures of the concept graph (D.02).

An automatic relation that nobody confirmed loses a twentieth of its confidence a week. It is worked out when it is
asked for and never written back, so that pruning twice prunes nothing more. What does not fade: what a user stated or
confirmed; how things are made up and came about (`contains`, `derived_from`, `changed`, `reverts`, `supersedes`); what
waits for somebody to settle it (`updates`, `contradicts`), puts hits in order (`outdates`) or limits where a memory
holds (`excepts`); and what a file says, as long as the file says it - its relations are found anew when it changes.
"""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.system.values import dataclass

WEEKLY_DECAY: Final = 0.95
MIN_CONFIDENCE: Final = 0.3
MAX_EDGES_PER_NODE: Final = 50
"""The three numbers of D.02."""

LASTING_LABELS: Final = (
    "contains",
    "derived_from",
    "changed",
    "reverts",
    "supersedes",
    "updates",
    "outdates",
    "contradicts",
    "excepts",
)
"""Structure and history are recorded facts, not findings. That one memory may have replaced another, or contradicts it,
is a question: it ends when it is settled, not by waiting. What may be replaced is marked from a probability below the
floor on, and would lose its mark with the first upkeep. What a memory was replaced by must be found as long as that is
past, else its turn would be an answer again after half a year."""

PRUNE_BATCH: Final = 500
"""Edges removed in one transaction: some 10 ms."""

_WEEK_MS: Final = 7 * MS_PER_DAY

# Who points: subject or cause; every member where nobody does.
_FADING: Final = f"""
SELECT h.key, h.confidence * pow({WEEKLY_DECAY}, max(0, ?1 - h.created_at) / {_WEEK_MS}) AS now
FROM hyperedges h WHERE h.automatic = 1 AND h.confirmed_at IS NULL
    AND h.label NOT IN ({", ".join(f"'{label}'" for label in LASTING_LABELS)})
    AND NOT EXISTS (SELECT 1 FROM membership m JOIN nodes n ON n.key = m.node_key
        WHERE m.hyperedge_key = h.key AND m.position = 0 AND n.type = 'snippet' AND n.deleted_at IS NULL)
"""

_FADED: Final = f"SELECT key FROM ({_FADING}) WHERE now < {MIN_CONFIDENCE} ORDER BY key"

_CROWDED: Final = f"""
WITH fading AS MATERIALIZED ({_FADING}),
owned AS (
    SELECT m.node_key, m.hyperedge_key FROM membership m WHERE m.role IN ('subject', 'cause') OR NOT EXISTS (
        SELECT 1 FROM membership s WHERE s.hyperedge_key = m.hyperedge_key AND s.role IN ('subject', 'cause'))
),
crowded AS (SELECT node_key FROM owned GROUP BY node_key HAVING count(*) > {MAX_EDGES_PER_NODE}),
ranked AS (
    SELECT o.hyperedge_key, f.key AS fades, row_number() OVER (
        PARTITION BY o.node_key ORDER BY f.key IS NOT NULL, f.now DESC, o.hyperedge_key) AS place
    FROM crowded c CROSS JOIN owned o ON o.node_key = c.node_key LEFT JOIN fading f ON f.key = o.hyperedge_key
)
SELECT DISTINCT fades FROM ranked WHERE place > {MAX_EDGES_PER_NODE} AND fades IS NOT NULL ORDER BY fades
"""


_NUMBERS: Final = {
    "total_edges": "SELECT count(*) FROM hyperedges",
    "automatic_edges": "SELECT count(*) FROM hyperedges WHERE automatic = 1",
    "confirmed_edges": "SELECT count(*) FROM hyperedges WHERE confirmed_at IS NOT NULL",
    "memberships": "SELECT count(*) FROM membership",
    "waiting_to_be_linked": "SELECT count(*) FROM unlinked",
}

_DEGREES: Final = """
SELECT count(*), coalesce(sum(degree), 0), coalesce(max(degree), 0) FROM (
    SELECT count(*) AS degree FROM membership m WHERE m.role IN ('subject', 'cause') OR NOT EXISTS (
        SELECT 1 FROM membership s WHERE s.hyperedge_key = m.hyperedge_key AND s.role IN ('subject', 'cause'))
    GROUP BY m.node_key)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunableEdges:
    """Keys of the edges to prune: faded below the floor, and beyond the fifty surest of a memory."""

    faded: tuple[int, ...]
    crowded: tuple[int, ...]


class EdgePruning:
    """The pruning of one database's hyperedges. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_prunable(self, now: int) -> PrunableEdges:
        """Return what pruning would remove now."""
        faded = tuple(row[0] for row in self._connection.execute(_FADED, (now,)))
        gone = set(faded)
        crowded = tuple(row[0] for row in self._connection.execute(_CROWDED, (now,)) if row[0] not in gone)
        return PrunableEdges(faded=faded, crowded=crowded)

    def remove_edges(self, keys: tuple[int, ...]) -> int:
        """Remove those of these edges that nobody confirmed meanwhile; return how many."""
        cursor = self._connection.executemany(
            "DELETE FROM hyperedges WHERE key = ? AND automatic = 1 AND confirmed_at IS NULL", [(key,) for key in keys]
        )
        return cursor.rowcount

    def measure_graph(self) -> dict[str, Any]:
        """Return the concept graph's measures: the document's four, and what else tells its state.

        `nodes_with_edges` are those that point somewhere (every member of a symmetric relation does), `avg_out_degree`
        and `max_out_degree` the hyperedges they point by.
        """
        select = self._connection.execute
        answer: dict[str, Any] = {name: int(select(sql).fetchone()[0]) for name, sql in _NUMBERS.items()}
        nodes, degrees, largest = select(_DEGREES).fetchone()
        answer["nodes_with_edges"] = nodes
        answer["avg_out_degree"] = round(degrees / nodes, 2) if nodes else 0.0
        answer["max_out_degree"] = largest
        answer["by_label"] = dict(select("SELECT label, count(*) FROM hyperedges GROUP BY label ORDER BY label"))
        return answer
