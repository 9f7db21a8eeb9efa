"""Statistics: counts of what a database holds."""

from __future__ import annotations

import sqlite3
from typing import Any, Final

from hyperloci.store.database.meta import Meta
from hyperloci.store.vectors.block_sizes import MAX_ATTEMPTS

_COUNTS: Final = {
    "nodes_by_type": "SELECT type, count(*) FROM nodes WHERE deleted_at IS NULL GROUP BY type",
    "nodes_by_subtype": "SELECT coalesce(subtype, type), count(*) FROM nodes WHERE deleted_at IS NULL GROUP BY 1",
    "nodes_by_tier": "SELECT tier, count(*) FROM nodes GROUP BY tier",
    # Two projects may have the same name: then the id is added.
    "nodes_by_scope": "SELECT s.name || CASE WHEN (SELECT count(*) FROM scopes o WHERE o.name = s.name) > 1"
    " THEN ' (' || s.id || ')' ELSE '' END, count(*) FROM nodes n JOIN scopes s ON s.key = n.scope_key"
    " WHERE n.deleted_at IS NULL GROUP BY s.key",
    "edges_by_type": "SELECT type, count(*) FROM hyperedges GROUP BY type",
    "edges_by_label": "SELECT label, count(*) FROM hyperedges GROUP BY label",
    "set_aside": "SELECT kind, count(*) FROM set_aside GROUP BY kind",
    "sessions": "SELECT status, count(*) FROM sessions GROUP BY status",
}

_NUMBERS: Final = {
    "nodes": "SELECT count(*) FROM nodes WHERE deleted_at IS NULL",
    "forgotten": "SELECT count(*) FROM nodes WHERE deleted_at IS NOT NULL",
    "edges": "SELECT count(*) FROM hyperedges",
    "entities": "SELECT count(*) FROM entities",
    "files": "SELECT count(*) FROM files",
    "topics": "SELECT count(*) FROM topics WHERE merged_into IS NULL",
    "orphans": "SELECT count(*) FROM nodes n WHERE deleted_at IS NULL"
    " AND NOT EXISTS (SELECT 1 FROM membership m WHERE m.node_key = n.key)",
    "fingerprints_done": "SELECT count(*) FROM fingerprints",
    "fingerprints_pending": "SELECT count(*) FROM pending p JOIN nodes n ON n.key = p.node_key"
    " WHERE n.deleted_at IS NULL",
    "schema_version": "SELECT user_version FROM pragma_user_version",
    "database_bytes": "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
}


def has_waiting(connection: sqlite3.Connection) -> bool:
    """Return whether a living node that was not given up waits for a fingerprint; without numpy, for frequent calls."""
    row = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM pending p JOIN nodes n ON n.key = p.node_key"
        " WHERE n.deleted_at IS NULL AND p.attempts < ?)",
        (MAX_ATTEMPTS,),
    ).fetchone()
    return bool(row[0])


def collect_counts(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the counts that `memory_stats` answers with, by name."""
    answer: dict[str, Any] = {name: connection.execute(sql).fetchone()[0] for name, sql in _NUMBERS.items()}
    for name, sql in _COUNTS.items():
        answer[name] = dict(connection.execute(sql).fetchall())
    answer["last_upkeep"] = Meta(connection).get("last_upkeep")
    return answer


def count_waiting(connection: sqlite3.Connection, scope_id: str) -> tuple[int, int, int]:
    """Return how many living memories a scope has, how many of them wait for a fingerprint, and how many get none."""
    row = connection.execute(
        """
        SELECT (SELECT count(*) FROM nodes WHERE scope_key = s.key AND deleted_at IS NULL), p.waiting, p.given_up
        FROM scopes s, (
            SELECT count(*) FILTER (WHERE p.attempts < ?1) AS waiting,
                count(*) FILTER (WHERE p.attempts >= ?1) AS given_up
            FROM pending p JOIN nodes n ON n.key = p.node_key JOIN scopes t ON t.key = n.scope_key
            WHERE n.deleted_at IS NULL AND t.id = ?2) p
        WHERE s.id = ?2
        """,
        (MAX_ATTEMPTS, scope_id),
    ).fetchone()
    return (int(row[0]), int(row[1]), int(row[2])) if row else (0, 0, 0)
