"""Consolidations: which sessions wait for consolidation, how far each is, and their turns (B.16, B.17)."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

from hyperloci.model.kinds import NodeId, NodeKey, Tier
from hyperloci.model.node import Node
from hyperloci.store.memories.evolution_log import EvolutionLog
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass

_SELECT_PROGRESS: Final = (
    "SELECT t.key, t.id, s.id AS scope, t.status, t.next_seq, t.last_seen_at, coalesce(c.through_seq, 0)"
    " AS through_seq, coalesce(c.ahead_seq, 0) AS ahead_seq, coalesce(c.causes_seq, 0) AS causes_seq,"
    " coalesce(c.attempts, 0) AS attempts, c.strategy"
    " FROM sessions t JOIN scopes s ON s.key = t.scope_key LEFT JOIN consolidations c ON c.session_key = t.key"
)

_IS_OVER: Final = (
    "(t.status <> 'active' OR EXISTS (SELECT 1 FROM sessions o"
    " WHERE o.scope_key = t.scope_key AND o.started_at > t.last_seen_at))"
)
"""A session is over when it ended, was left, or another one of its project began after its last word (B.16)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationProgress:
    """How far a session is.

    Attributes:
        session_key, session_id, scope, status, next_seq, last_seen_at: the session.
        through_seq: turns below this number were read by the configured strategy.
        ahead_seq: turns below this number were read by rules, if not yet by that strategy.
        causes_seq: turns below this number were looked through for causes.
        attempts: how often it failed in a row.
        strategy: how it was read last.
        is_ahead: whether rules are reading ahead: then `through_seq` stands for `ahead_seq`.
    """

    session_key: int
    session_id: str
    scope: str
    status: str
    next_seq: int
    last_seen_at: int
    through_seq: int
    ahead_seq: int
    causes_seq: int
    attempts: int
    strategy: str | None = None
    is_ahead: bool = False

    def read_ahead(self) -> Self:
        """Return it for rules that read on from where anything was read, and leave the strategy's mark alone."""
        return replace(self, through_seq=max(self.through_seq, self.ahead_seq), is_ahead=True)


@dataclass(frozen=True, slots=True)
class WaitingTurns:
    """How many turns of how many sessions wait to be consolidated."""

    turns: int
    sessions: int


@dataclass(frozen=True, slots=True)
class ExplicitMemory:
    """A memory that was remembered on purpose in a session."""

    node_id: NodeId
    tier: Tier
    session_id: str


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

    def list_unread(self, limit: int, scope: str) -> list[str]:
        """Return the ids of a project's sessions that are over and that nothing has read to their end, oldest first."""
        rows = self._connection.execute(
            f"{_SELECT_PROGRESS} WHERE s.id = ? AND {_IS_OVER}"
            " AND t.next_seq > max(coalesce(c.through_seq, 0), coalesce(c.ahead_seq, 0))"
            " ORDER BY t.last_seen_at, t.key LIMIT ?",
            (scope, limit),
        )
        return [row["id"] for row in rows]

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

    def list_said_before(self, session_key: int, seq: int, limit: int) -> list[Node]:
        """Return the last things said before a place, in order, without withheld ones, for what refers to them."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.seq < ? AND n.deleted_at IS NULL AND n.subtype = 'episode'"
            f" AND {NOT_WITHHELD} ORDER BY n.seq DESC LIMIT ?",
            (session_key, seq, limit),
        ).fetchall()
        return [node_from_row(row) for row in reversed(rows)]

    def list_timed(self, subtypes: Sequence[str], scopes: Sequence[str], before: str) -> list[Node]:
        """Return what was extracted or told, holds, and has a day of its own before one: its last, or a deadline's.

        Args:
            subtypes: of which kinds: by them the index leaves turns alone, which are most.
            scopes: of which projects.
            before: the day, in ISO 8601.
        """
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.type IN ('fact', 'decision', 'experience')"
            " AND n.subtype IN (SELECT value FROM json_each(?)) AND n.origin IN ('extraction', 'tool')"
            " AND n.deleted_at IS NULL AND n.valid_until IS NULL AND s.id IN (SELECT value FROM json_each(?))"
            " AND coalesce(json_extract(n.metadata, '$.until'), json_extract(n.metadata, '$.due')) < ? ORDER BY n.key",
            (json.dumps(list(subtypes)), json.dumps(list(scopes)), before),
        )
        return [node_from_row(row) for row in rows]

    def queue_review(self, key: NodeKey) -> None:
        """Note that a statement is to be judged by meaning once it has a vector."""
        self._connection.execute("INSERT OR IGNORE INTO statement_reviews(node_key) VALUES (?)", (key,))

    def list_reviews(self, scope: str | None, limit: int) -> list[Node]:
        """Return statements that wait to be judged by meaning and have a vector, in the order they were made.

        Args:
            scope: only those of sessions of this project.
            limit: how many at most.
        """
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.key IN (SELECT node_key FROM statement_reviews)"
            " AND EXISTS (SELECT 1 FROM fingerprints f WHERE f.node_key = n.key AND f.e1 IS NOT NULL)"
            " AND n.deleted_at IS NULL AND (?1 IS NULL OR n.session_key IN (SELECT t.key FROM sessions t"
            " JOIN scopes p ON p.key = t.scope_key WHERE p.id = ?1))"
            " ORDER BY n.event_time, n.key LIMIT ?2",
            (scope, limit),
        )
        return [node_from_row(row) for row in rows]

    def finish_review(self, key: NodeKey) -> bool:
        """Take a statement off those that wait to be judged; False if another process has done so meanwhile."""
        return bool(self._connection.execute("DELETE FROM statement_reviews WHERE node_key = ?", (key,)).rowcount)

    def count_unread_prompts(self, progress: ConsolidationProgress) -> int:
        """Return how many prompts of a session wait, up to where it is to be read."""
        row = self._connection.execute(
            "SELECT count(*) FROM nodes WHERE session_key = ? AND seq >= ? AND seq < ? AND type = 'experience'"
            " AND origin = 'user_prompt' AND deleted_at IS NULL",
            (progress.session_key, progress.through_seq, progress.next_seq),
        ).fetchone()
        return int(row[0])

    def find_finished_seq(self, progress: ConsolidationProgress, until: float = math.inf) -> int:
        """Return the number after the last turn of a session that something followed: an answer, or an action.

        With `until` (milliseconds) it followed by then.
        """
        row = self._connection.execute(
            "SELECT max(seq) + 1 FROM nodes WHERE session_key = ? AND seq < ? AND type = 'experience'"
            " AND origin <> 'user_prompt' AND event_time <= ?",
            (progress.session_key, progress.next_seq, until),
        ).fetchone()
        return max(progress.through_seq, int(row[0] or 0))

    def advance_facts(self, progress: ConsolidationProgress, through_seq: int, *, now: int, strategy: str) -> bool:
        """Note that the turns below a place are done; False if another process has done so meanwhile.

        A session that is done to its end has its `consolidated_at` set; one that rules read ahead is not done.
        """
        if progress.is_ahead:
            return self._advance_ahead(progress, through_seq, now=now)
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

    def _advance_ahead(self, progress: ConsolidationProgress, ahead_seq: int, *, now: int) -> bool:
        moved = self._connection.execute(
            """
            INSERT INTO consolidations(session_key, ahead_seq, updated_at)
            SELECT ?1, ?2, ?3 WHERE ?4 = 0 OR EXISTS (SELECT 1 FROM consolidations WHERE session_key = ?1)
            ON CONFLICT(session_key) DO UPDATE SET ahead_seq = ?2, updated_at = ?3
                WHERE max(through_seq, ahead_seq) = ?4
            """,
            (progress.session_key, ahead_seq, now, progress.through_seq),
        ).rowcount
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

    def list_explicit_memories(self, session_key: int | None = None) -> list[ExplicitMemory]:
        """Return what was remembered on purpose and is not long-term yet, by session and tier.

        Args:
            session_key: one session; None for all. Only those count that are over and consolidated to their end.
        """
        rows = self._connection.execute(
            "SELECT n.id, n.tier, t.id FROM nodes n INDEXED BY idx_nodes_told JOIN sessions t ON t.key = n.session_key"
            " LEFT JOIN consolidations c ON c.session_key = t.key"
            " WHERE (?1 IS NULL OR t.key = ?1) AND n.tier IN ('task', 'session')"
            " AND n.origin = 'tool' AND n.type <> 'entity'"
            f" AND n.deleted_at IS NULL AND t.next_seq <= coalesce(c.through_seq, 0) AND {_IS_OVER}"
            " ORDER BY t.key, n.tier, n.key",
            (session_key,),
        )
        return [ExplicitMemory(NodeId(row[0]), Tier(row[1]), row[2]) for row in rows]

    def list_memories_made(self, session_key: int, origin: str, limit: int) -> list[Node]:
        """Return the latest that a session left by a channel (`extraction`, `tool`), living, not withheld, in order."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.origin = ? AND n.deleted_at IS NULL AND n.type <> 'entity'"
            f" AND {NOT_WITHHELD} ORDER BY n.key DESC LIMIT ?",
            (session_key, origin, limit),
        ).fetchall()
        return [node_from_row(row) for row in reversed(rows)]

    def list_changed_files(self, session_key: int, limit: int) -> list[str]:
        """Return the paths that a session's actions changed, in order of their first change."""
        rows = self._connection.execute(
            "SELECT p.path FROM nodes n JOIN positions p ON p.node_key = n.key WHERE n.session_key = ?"
            f" AND n.subtype = 'action' AND n.deleted_at IS NULL AND {NOT_WITHHELD} AND p.path IS NOT NULL"
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
        ahead_seq=row["ahead_seq"],
        causes_seq=row["causes_seq"],
        attempts=row["attempts"],
        strategy=row["strategy"],
    )
