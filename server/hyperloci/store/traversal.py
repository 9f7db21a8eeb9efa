"""Crossing hyperedges, a whole frontier at a time."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """One way from a node to another over a hyperedge, with the roles both have in it."""

    origin: int
    origin_role: str
    target: int
    target_role: str
    label: str
    confidence: float
    automatic: bool


class Traversal:
    """Steps over the hyperedges of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def labels(self) -> list[str]:
        """Return the labels in use."""
        return [row[0] for row in self._connection.execute("SELECT DISTINCT label FROM hyperedges ORDER BY label")]

    def cross(self, frontier: Sequence[int], label: str | None, limit: int) -> list[Crossing]:
        """Return the ways from the frontier to living nodes, at most `limit`, surest first."""
        # CROSS JOIN keeps SQLite from starting at the larger table.
        rows = self._connection.execute(
            """
            SELECT a.node_key, a.role, b.node_key, b.role, h.label, h.confidence, h.automatic
            FROM json_each(?1) j
            CROSS JOIN membership a ON a.node_key = j.value
            CROSS JOIN hyperedges h ON h.key = a.hyperedge_key
            CROSS JOIN membership b ON b.hyperedge_key = a.hyperedge_key
            CROSS JOIN nodes n ON n.key = b.node_key
            WHERE b.node_key <> a.node_key AND n.deleted_at IS NULL AND (?2 IS NULL OR h.label = ?2)
            ORDER BY h.confidence DESC, b.node_key, h.key LIMIT ?3
            """,
            (json.dumps(list(frontier)), label, limit),
        )
        return [
            Crossing(
                origin=row[0],
                origin_role=row[1],
                target=row[2],
                target_role=row[3],
                label=row[4],
                confidence=row[5],
                automatic=bool(row[6]),
            )
            for row in rows
        ]
