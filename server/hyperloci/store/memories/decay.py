"""Decay: queries and writes for memories that faded, change tier, or were forgotten for too long.

All of it is derived from the rows at the time of asking, so that a second run at the same time finds nothing to do.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.model.kinds import BINDING_SUBTYPES, NodeId, NodeKey, Tier
from hyperloci.store.memories.evolution_log import EvolutionLog
from hyperloci.store.memories.facets import FacetRows
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass

PRUNE_OPERATION: Final = "prune"
"""Log entry of a memory that faded away; `forget` is for explicit requests."""

_CONFIDENCE_NOW: Final = "n.confidence * decayed(n.decay_rate, ?1 - n.last_accessed)"

_CAN_FADE: Final = (
    "n.deleted_at IS NULL AND n.valid_until IS NULL AND n.decay_rate > 0.0"
    " AND n.type IN ('fact', 'decision', 'experience')"
)
"""Episodes and files don't fade: their rate is 0. What was superseded is kept as the history of what replaced it."""

BINDING_DAYS: Final = 365
"""What binds is not pruned sooner, however faint: a rule is kept to without being looked up, and a project may rest."""

_BINDING: Final = ", ".join(f"'{kind}'" for kind in sorted(BINDING_SUBTYPES))
_CAN_BE_PRUNED: Final = (
    f"{_CAN_FADE} AND (coalesce(n.subtype, '') NOT IN ({_BINDING})"
    f" OR n.last_accessed <= ?1 - {BINDING_DAYS * MS_PER_DAY})"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class FadingMemory:
    """A memory that fades. `confidence_now` is as of the time asked for."""

    key: NodeKey
    id: NodeId
    tier: Tier
    confidence: float
    confidence_now: float
    decay_rate: float
    last_accessed: int


class DecayQueries:
    """The ageing of one database's memories. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, log: EvolutionLog) -> None:
        self._connection = connection
        self._log = log

    def find_faded(self, now: int, below: float, limit: int) -> list[FadingMemory]:
        """Return what has faded below a confidence and may be pruned, in every scope, the faintest first."""
        rows = self._connection.execute(
            f"SELECT n.key, n.id, n.tier, n.confidence, n.decay_rate, n.last_accessed, {_CONFIDENCE_NOW} AS"
            f" confidence_now"
            f" FROM nodes n WHERE {_CAN_BE_PRUNED} AND {_CONFIDENCE_NOW} < ?2 ORDER BY confidence_now, n.key LIMIT ?3",
            (now, below, limit),
        )
        return [_faded_from_row(row) for row in rows]

    def count_faded(self, now: int, below: float) -> int:
        """Return how many memories have faded below a confidence and may be pruned."""
        row = self._connection.execute(
            f"SELECT count(*) FROM nodes n WHERE {_CAN_BE_PRUNED} AND {_CONFIDENCE_NOW} < ?2", (now, below)
        ).fetchone()
        return int(row[0])

    def find_weak(self, now: int, below: float, scopes: Sequence[str], limit: int) -> list[NodeKey]:
        """Return the facts and decisions of some scopes that are less sure than `below`, the least sure first.

        They are living, hold and are not withheld.
        """
        rows = self._connection.execute(
            f"SELECT n.key FROM nodes n JOIN scopes s ON s.key = n.scope_key"
            " WHERE n.deleted_at IS NULL AND n.valid_until IS NULL AND (n.type = 'fact' OR n.subtype = 'decision')"
            f" AND {NOT_WITHHELD} AND s.id IN (SELECT value FROM json_each(?3)) AND {_CONFIDENCE_NOW} < ?2 ORDER BY"
            f" {_CONFIDENCE_NOW}, n.key LIMIT ?4",
            (now, below, json.dumps(list(scopes)), limit),
        )
        return [NodeKey(row[0]) for row in rows]

    def count_pruned_since(self, then: int) -> int:
        """Return how many memories were pruned after a time."""
        row = self._connection.execute(
            "SELECT count(*) FROM evolution_log l JOIN evolution_nodes e ON e.log_id = l.id"
            " WHERE l.timestamp > ? AND l.operation = ?",
            (then, PRUNE_OPERATION),
        ).fetchone()
        return int(row[0])

    def prune_memory(self, memory: FadingMemory, *, now: int, reason: str) -> bool:
        """Forget a memory that faded, softly (E.16); False if it was recalled, confirmed or forgotten meanwhile."""
        changed = self._connection.execute(
            "UPDATE nodes SET deleted_at = ?1, updated_at = ?1, tier = 'archive',"
            " metadata = json_set(metadata, '$.tier_before', tier)"
            " WHERE key = ?2 AND deleted_at IS NULL AND last_accessed = ?3 AND decay_rate = ?4",
            (now, memory.key, memory.last_accessed, memory.decay_rate),
        ).rowcount
        if changed:
            FacetRows(self._connection).settle_disputes(memory.key)
            self._log.add_entry(
                PRUNE_OPERATION, [memory.id], now=now, from_tier=memory.tier, to_tier=Tier.ARCHIVE, reasoning=reason
            )
        return bool(changed)

    def find_expired(self, before: int, limit: int) -> list[NodeId]:
        """Return what was forgotten before a time, oldest first."""
        rows = self._connection.execute(
            "SELECT id FROM nodes WHERE deleted_at < ? ORDER BY deleted_at, key LIMIT ?", (before, limit)
        )
        return [NodeId(row[0]) for row in rows]

    def find_recalled_later(self, limit: int) -> list[tuple[NodeId, Tier]]:
        """Return what was recalled after its session had ended (or belongs to none) and is not long-term yet."""
        rows = self._connection.execute(
            "SELECT n.id, n.tier FROM nodes n LEFT JOIN sessions t ON t.key = n.session_key"
            " WHERE n.tier IN ('task', 'session') AND n.deleted_at IS NULL AND n.access_count > 0"
            " AND (t.key IS NULL OR (t.ended_at IS NOT NULL AND n.last_accessed > t.ended_at))"
            " ORDER BY n.key LIMIT ?",
            (limit,),
        )
        return [(NodeId(row[0]), Tier(row[1])) for row in rows]

    def move_to_tier(self, node_ids: Sequence[NodeId], tier: Tier, *, now: int) -> None:
        """Move nodes to a tier; the caller logs it."""
        self._connection.execute(
            "UPDATE nodes SET tier = ?, updated_at = ? WHERE id IN (SELECT value FROM json_each(?))",
            (tier, now, json.dumps(list(node_ids))),
        )


def has_faded(log: EvolutionLog, node_id: NodeId) -> bool:
    """Tell of a forgotten memory whether it faded here, and nobody forgot it."""
    ends = [entry.operation for entry in log.list_of_node(node_id) if entry.operation in (PRUNE_OPERATION, "forget")]
    return bool(ends) and ends[-1] == PRUNE_OPERATION


def _faded_from_row(row: sqlite3.Row) -> FadingMemory:
    return FadingMemory(
        key=NodeKey(row["key"]),
        id=NodeId(row["id"]),
        tier=Tier(row["tier"]),
        confidence=row["confidence"],
        confidence_now=row["confidence_now"],
        decay_rate=row["decay_rate"],
        last_accessed=row["last_accessed"],
    )
