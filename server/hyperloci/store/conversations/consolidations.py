"""Consolidations: which sessions wait for consolidation, how far each is, and their turns (B.16, B.17)."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Final

from hyperloci.model.kinds import NodeId, NodeKey, Tier
from hyperloci.model.node import Node
from hyperloci.store.memories.evolution_log import EvolutionLog
from hyperloci.store.memories.nodes import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD

_SELECT_PROGRESS: Final = (
    "SELECT t.key, t.id, s.id AS scope, t.status, t.next_seq, t.last_seen_at, coalesce(c.through_seq, 0)"
    " AS through_seq, coalesce(c.causes_seq, 0) AS causes_seq, coalesce(c.attempts, 0) AS attempts, c.strategy"
    " FROM sessions t JOIN scopes s ON s.key = t.scope_key LEFT JOIN consolidations c ON c.session_key = t.key"
)

_IS_OVER: Final = (
    "(t.status <> 'active' OR EXISTS (SELECT 1 FROM sessions o"
    " WHERE o.scope_key = t.scope_key AND o.started_at > t.last_seen_at))"
)
"""A session is over when it ended, was left, or another one of its project began after its last word (B.16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationProgress:
    """How far a session is. `through_seq` and `causes_seq`: the turns below are done; `attempts` failed in a row."""

    session_key: int
    session_id: str
    scope: str
    status: str
    next_seq: int
    last_seen_at: int
    through_seq: int
    causes_seq: int
    attempts: int
    strategy: str | None = None


@dataclass(frozen=True, slots=True)
class WaitingTurns:
    """How many turns of how many sessions wait to be consolidated."""

    turns: int
    sessions: int


class Consolidations:
    """The consolidations of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection, log: EvolutionLog) -> None:
        self._connection = connection
        self._log = log

    def get_progress(self, session_id: str) -> ConsolidationProgress | None:
        """Return how far a session is; None for an unknown one."""
        row = self._connection.execute(f"{_SELECT_PROGRESS} WHERE t.id = ?", (session_id,)).fetchone()
        return _progress_from_row(row) if row else None

    def list_pending(
        self, limit: int, *, seen_before: int | None = None, scope: str | None = None
    ) -> list[ConsolidationProgress]:
        """Return sessions that are over and not consolidated to their end, the oldest first.

        Args:
            limit: how many at most.
            seen_before: only those without a word since that time.
            scope: only those of this project.
        """
        rows = self._connection.execute(
            f"{_SELECT_PROGRESS} WHERE t.next_seq > coalesce(c.through_seq, 0) AND {_IS_OVER}"
            " AND (?2 IS NULL OR t.last_seen_at < ?2) AND (?3 IS NULL OR s.id = ?3)"
            " ORDER BY attempts, t.last_seen_at, t.key LIMIT ?1",
            (limit, seen_before, scope),
        )
        return [_progress_from_row(row) for row in rows]

    def count_waiting(self, scope: str) -> WaitingTurns:
        """Return how much of a project's sessions that are over is not consolidated."""
        row = self._connection.execute(
            f"SELECT coalesce(sum(next_seq - through_seq), 0), count(*) FROM ({_SELECT_PROGRESS}"
            f" WHERE s.id = ? AND t.next_seq > coalesce(c.through_seq, 0) AND {_IS_OVER})",
            (scope,),
        ).fetchone()
        return WaitingTurns(*row)

    def list_without_causes(self, limit: int) -> list[ConsolidationProgress]:
        """Return sessions that are over and not looked through for causes to their end, the oldest first."""
        rows = self._connection.execute(
            f"{_SELECT_PROGRESS} WHERE t.next_seq > coalesce(c.causes_seq, 0) AND {_IS_OVER}"
            " ORDER BY t.last_seen_at, t.key LIMIT ?",
            (limit,),
        )
        return [_progress_from_row(row) for row in rows]

    def list_turns(self, session_key: int, first_seq: int, limit: int) -> list[Node]:
        """Return a session's living turns from a place on, in order, without withheld ones: what was said and done."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.seq >= ? AND n.deleted_at IS NULL AND {NOT_WITHHELD}"
            " AND n.type = 'experience' AND n.subtype IN ('episode', 'action') ORDER BY n.seq, n.key LIMIT ?",
            (session_key, first_seq, limit),
        )
        return [node_from_row(row) for row in rows]

    def find_turn_before(self, session_key: int, seq: int) -> Node | None:
        """Return the last thing said before a place, for what refers to it."""
        row = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.seq < ? AND n.deleted_at IS NULL AND n.subtype = 'episode'"
            " ORDER BY n.seq DESC LIMIT 1",
            (session_key, seq),
        ).fetchone()
        return node_from_row(row) if row else None

    def find_finished_seq(self, progress: ConsolidationProgress) -> int:
        """Return the number after the last turn of a session that something followed: an answer, or an action."""
        row = self._connection.execute(
            "SELECT max(seq) + 1 FROM nodes WHERE session_key = ? AND seq < ? AND type = 'experience'"
            " AND origin <> 'user_prompt'",
            (progress.session_key, progress.next_seq),
        ).fetchone()
        return max(progress.through_seq, int(row[0] or 0))

    def advance_facts(self, progress: ConsolidationProgress, through_seq: int, *, now: int, strategy: str) -> bool:
        """Note that the turns below a place are done; False if another process has done so meanwhile.

        A session that is done to its end has its `consolidated_at` set.
        """
        moved = self._connection.execute(
            """
            INSERT INTO consolidations(session_key, through_seq, strategy, updated_at)
            SELECT ?1, ?2, ?3, ?4 WHERE ?5 = 0 OR EXISTS (SELECT 1 FROM consolidations WHERE session_key = ?1)
            ON CONFLICT(session_key) DO UPDATE SET through_seq = ?2, strategy = ?3, attempts = 0, updated_at = ?4
                WHERE through_seq = ?5
            """,
            (progress.session_key, through_seq, strategy, now, progress.through_seq),
        ).rowcount
        if moved and through_seq >= progress.next_seq:
            self._connection.execute(
                "UPDATE sessions SET consolidated_at = ? WHERE key = ? AND next_seq <= ?",
                (now, progress.session_key, through_seq),
            )
        return bool(moved)

    def add_counts(self, session_key: int, *, kept: int, rejected: int) -> None:
        """Add to how many memories a session yielded, and how many findings were refused."""
        self._connection.execute(
            "UPDATE consolidations SET kept = kept + ?, rejected = rejected + ? WHERE session_key = ?",
            (kept, rejected, session_key),
        )

    def note_failure(self, progress: ConsolidationProgress, *, now: int) -> None:
        """Note that a try failed."""
        self._connection.execute(
            "INSERT INTO consolidations(session_key, attempts, updated_at) VALUES (?1, 1, ?2)"
            " ON CONFLICT(session_key) DO UPDATE SET attempts = attempts + 1, updated_at = ?2",
            (progress.session_key, now),
        )

    def advance_causes(self, session_key: int, causes_seq: int, *, now: int) -> None:
        """Note that the turns below a place were looked through for causes."""
        self._connection.execute(
            "INSERT INTO consolidations(session_key, causes_seq, updated_at) VALUES (?1, ?2, ?3)"
            " ON CONFLICT(session_key) DO UPDATE SET causes_seq = ?2, updated_at = ?3",
            (session_key, causes_seq, now),
        )

    def list_explicit_memories(self, session_key: int) -> list[tuple[NodeId, Tier]]:
        """Return what was remembered on purpose in a session and is not long-term yet."""
        rows = self._connection.execute(
            "SELECT id, tier FROM nodes WHERE session_key = ? AND tier IN ('task', 'session') AND origin = 'tool'"
            " AND deleted_at IS NULL ORDER BY key",
            (session_key,),
        )
        return [(NodeId(row[0]), Tier(row[1])) for row in rows]

    def list_memories_made(self, session_key: int, origin: str, limit: int) -> list[Node]:
        """Return the living memories that a session left by a channel (`extraction`, `tool`), the latest, in order."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.origin = ? AND n.deleted_at IS NULL AND n.type <> 'entity'"
            " ORDER BY n.key DESC LIMIT ?",
            (session_key, origin, limit),
        ).fetchall()
        return [node_from_row(row) for row in reversed(rows)]

    def list_changed_files(self, session_key: int, limit: int) -> list[str]:
        """Return the paths that a session's actions changed, in order of their first change."""
        rows = self._connection.execute(
            "SELECT p.path FROM nodes n JOIN positions p ON p.node_key = n.key WHERE n.session_key = ?"
            " AND n.subtype = 'action' AND n.deleted_at IS NULL AND p.path IS NOT NULL"
            " GROUP BY p.path ORDER BY min(n.seq) LIMIT ?",
            (session_key, limit),
        )
        return [row[0] for row in rows]

    def are_linked_causes(self, cause: NodeKey, effect: NodeKey) -> bool:
        """Tell whether one turn is known to have caused another."""
        row = self._connection.execute(
            "SELECT 1 FROM membership a JOIN membership b ON b.hyperedge_key = a.hyperedge_key"
            " JOIN hyperedges h ON h.key = a.hyperedge_key WHERE a.node_key = ? AND a.role = 'cause'"
            " AND b.node_key = ? AND b.role = 'effect' AND h.label = 'causes' LIMIT 1",
            (cause, effect),
        ).fetchone()
        return row is not None


def _progress_from_row(row: sqlite3.Row) -> ConsolidationProgress:
    return ConsolidationProgress(
        session_key=row["key"],
        session_id=row["id"],
        scope=row["scope"],
        status=row["status"],
        next_seq=row["next_seq"],
        last_seen_at=row["last_seen_at"],
        through_seq=row["through_seq"],
        causes_seq=row["causes_seq"],
        attempts=row["attempts"],
        strategy=row["strategy"],
    )
