"""The evolution log: what happened to a memory, when and why (SPEC-02.19)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from hyperloci.model.kinds import NodeId, Tier
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEntry:
    """One line of the log."""

    id: int
    timestamp: int
    operation: str
    node_ids: tuple[NodeId, ...]
    from_tier: str | None
    to_tier: str | None
    reasoning: str | None


class EvolutionLog:
    """The log of one database; entries are only ever added."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add_entry(
        self,
        operation: str,
        node_ids: Iterable[NodeId],
        *,
        now: int,
        from_tier: Tier | None = None,
        to_tier: Tier | None = None,
        reasoning: str | None = None,
    ) -> int:
        """Write one entry and return its id."""
        ids = list(node_ids)
        cursor = self._connection.execute(
            "INSERT INTO evolution_log(timestamp, operation, node_ids, from_tier, to_tier, reasoning)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (now, operation, json.dumps(ids), from_tier, to_tier, reasoning),
        )
        log_id = int(cursor.lastrowid or 0)
        self._connection.executemany(
            "INSERT OR IGNORE INTO evolution_nodes(node_id, log_id) VALUES (?, ?)", ((node, log_id) for node in ids)
        )
        return log_id

    def find_ids(self, prefix: str, operations: Sequence[str], limit: int = 5) -> list[NodeId]:
        """Return the ids that begin so of nodes that one of some operations was done with."""
        rows = self._connection.execute(
            "SELECT DISTINCT e.node_id FROM evolution_nodes e JOIN evolution_log l ON l.id = e.log_id"
            " WHERE e.node_id >= ?1 AND e.node_id < ?2 AND l.operation IN (SELECT value FROM json_each(?3))"
            " ORDER BY e.node_id LIMIT ?4",
            (prefix, prefix + "\U0010ffff", json.dumps(operations), limit),
        )
        return [NodeId(row[0]) for row in rows]

    def list_of_node(self, node_id: NodeId, limit: int = 50) -> list[LogEntry]:
        """Return a node's latest entries, oldest first."""
        rows = self._connection.execute(
            "SELECT l.* FROM evolution_nodes e JOIN evolution_log l ON l.id = e.log_id"
            " WHERE e.node_id = ? ORDER BY l.id DESC LIMIT ?",
            (node_id, limit),
        ).fetchall()
        return [
            LogEntry(
                id=row["id"],
                timestamp=row["timestamp"],
                operation=row["operation"],
                node_ids=tuple(json.loads(row["node_ids"])),
                from_tier=row["from_tier"],
                to_tier=row["to_tier"],
                reasoning=row["reasoning"],
            )
            for row in reversed(rows)
        ]
