"""Merges: two entities that were found to be one are joined, and parted again (B.10).

Every write expects to run inside a transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from hyperloci.model.kinds import NodeKey
from hyperloci.store.store import Store
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMerge:
    """Two entities that were found to be one."""

    key: int
    merged: NodeKey
    kept: NodeKey
    merged_at: int
    reason: str
    score: float
    undone_at: int | None


def merge_entities(store: Store, merged: NodeKey, kept: NodeKey, *, now: int, reason: str, score: float) -> int:
    """Give an entity's names and mentions to another, and return the merge's key; `undo_merge` undoes it."""
    run = store.connection.execute
    key = int(
        run(
            "INSERT INTO entity_merges(merged_key, kept_key, merged_at, reason, score) VALUES (?, ?, ?, ?, ?)",
            (merged, kept, now, reason, score),
        ).lastrowid
        or 0
    )
    run(
        "INSERT INTO merged_aliases(merge_key, alias, written) SELECT ?1, alias, written FROM aliases"
        " WHERE entity_key = ?2 AND alias NOT IN (SELECT alias FROM aliases WHERE entity_key = ?3)",
        (key, merged, kept),
    )
    run(
        "INSERT INTO merged_mentions(merge_key, node_key, added) SELECT ?1, m.node_key, NOT EXISTS"
        " (SELECT 1 FROM mentions k WHERE k.node_key = m.node_key AND k.entity_key = ?3)"
        " FROM mentions m WHERE m.entity_key = ?2",
        (key, merged, kept),
    )
    run("UPDATE OR IGNORE aliases SET entity_key = ?2 WHERE entity_key = ?1", (merged, kept))
    run("DELETE FROM aliases WHERE entity_key = ?", (merged,))
    run("UPDATE OR IGNORE mentions SET entity_key = ?2 WHERE entity_key = ?1", (merged, kept))
    run("DELETE FROM mentions WHERE entity_key = ?", (merged,))
    _recount_mentions(store, (merged, kept), now)
    return key


def undo_merge(store: Store, merge: StoredMerge, *, now: int) -> None:
    """Restore what a merge moved, as far as it still exists; what was stored since stays."""
    run = store.connection.execute
    run(
        "INSERT OR IGNORE INTO mentions(node_key, entity_key) SELECT node_key, ?2 FROM merged_mentions"
        " WHERE merge_key = ?1",
        (merge.key, merge.merged),
    )
    run(
        "DELETE FROM mentions WHERE entity_key = ?2 AND node_key IN"
        " (SELECT node_key FROM merged_mentions WHERE merge_key = ?1 AND added = 1)",
        (merge.key, merge.kept),
    )
    run(
        "DELETE FROM aliases WHERE entity_key = ?2 AND alias IN"
        " (SELECT alias FROM merged_aliases WHERE merge_key = ?1)",
        (merge.key, merge.kept),
    )
    run(
        "INSERT OR IGNORE INTO aliases(alias, entity_key, written) SELECT alias, ?2, written FROM merged_aliases"
        " WHERE merge_key = ?1",
        (merge.key, merge.merged),
    )
    name = run("SELECT canonical_name FROM entities WHERE node_key = ?", (merge.merged,)).fetchone()
    store.entities.add_alias(merge.merged, name[0])
    _recount_mentions(store, (merge.merged, merge.kept), now)
    run("UPDATE entity_merges SET undone_at = ? WHERE key = ?", (now, merge.key))


def list_merges(store: Store, scope_keys: Sequence[int], *, limit: int = 50) -> list[StoredMerge]:
    """Return the merges of entities of some scopes, latest first, undone ones too."""
    rows = store.connection.execute(
        "SELECT g.* FROM entity_merges g JOIN nodes n ON n.key = g.kept_key"
        " WHERE n.scope_key IN (SELECT value FROM json_each(?)) ORDER BY g.merged_at DESC, g.key DESC LIMIT ?",
        (json.dumps(list(scope_keys)), limit),
    )
    return [_merge_from_row(row) for row in rows]


def find_merge(store: Store, key: int, scope_keys: Sequence[int] | None = None) -> StoredMerge | None:
    """Return a merge by its key, of entities of some scopes; of any if None."""
    row = store.connection.execute(
        "SELECT g.* FROM entity_merges g JOIN nodes n ON n.key = g.kept_key WHERE g.key = ?1"
        " AND (?2 IS NULL OR n.scope_key IN (SELECT value FROM json_each(?2)))",
        (key, None if scope_keys is None else json.dumps(list(scope_keys))),
    ).fetchone()
    return _merge_from_row(row) if row else None


def was_merge_undone(store: Store, one: NodeKey, other: NodeKey) -> bool:
    """Return whether a merge of these two was undone: they are not to be merged again by themselves."""
    row = store.connection.execute(
        "SELECT EXISTS (SELECT 1 FROM entity_merges WHERE undone_at IS NOT NULL"
        " AND ((merged_key = ?1 AND kept_key = ?2) OR (merged_key = ?2 AND kept_key = ?1)))",
        (one, other),
    ).fetchone()
    return bool(row[0])


def _recount_mentions(store: Store, entities: Sequence[NodeKey], now: int) -> None:
    store.connection.executemany(
        "UPDATE entities SET last_updated = ?1, summary = NULL,"
        " mention_count = (SELECT count(*) FROM mentions m WHERE m.entity_key = ?2) WHERE node_key = ?2",
        [(now, key) for key in entities],
    )


def _merge_from_row(row: sqlite3.Row) -> StoredMerge:
    return StoredMerge(
        key=row["key"],
        merged=NodeKey(row["merged_key"]),
        kept=NodeKey(row["kept_key"]),
        merged_at=row["merged_at"],
        reason=row["reason"],
        score=row["score"],
        undone_at=row["undone_at"],
    )
