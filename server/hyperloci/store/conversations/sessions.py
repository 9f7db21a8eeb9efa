"""Sessions, their sequence numbers, and how far their transcripts have been read (E.10, B.16)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperloci.errors import NotFoundError
from hyperloci.system.values import dataclass

_LATEST: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSession:
    """One conversation with the assistant. `status` is active, completed or abandoned; `client` is its program."""

    key: int
    id: str
    scope: str
    status: str
    started_at: int
    last_seen_at: int
    ended_at: int | None
    consolidated_at: int | None
    next_seq: int
    metadata: Mapping[str, Any]
    client: str | None = None
    client_version: str | None = None


@dataclass(frozen=True, slots=True)
class TranscriptMark:
    """How far a transcript file was read; `head_hash` tells when another file took its name."""

    offset: int
    head_hash: bytes


JUST_BEGUN_MS: Final = 600_000
"""A client starts its servers within seconds of its session, on a busy machine within minutes."""


CLOCK_SKEW_MS: Final = 60_000
"""How far a client's clock may go ahead of this machine's; what was seen later than that was dated by a wrong one."""


MOST_BETWEEN: Final = 3
"""Processes between a client and its hook and its server, together. What two windows share is farther from both: a
terminal has a shell and a client below it on either side."""


def is_of_another_client(session: StoredSession, parents: Sequence[str]) -> bool:
    """Tell whether a session is not of the client that started a process, by what started both.

    It can't be told where only the nearest is known, without the time at which it started: other systems than Linux.
    """
    theirs = session.metadata.get("parents") or ()
    is_known = bool(theirs and parents) and all("." in one for one in (*theirs, *parents))
    return is_known and not any(
        ours + before <= MOST_BETWEEN
        for ours, one in enumerate(parents)
        for before, other in enumerate(theirs)
        if one == other
    )


class Sessions:
    """The sessions of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def note_seen(
        self,
        session_id: str,
        scope_key: int,
        *,
        now: int,
        client: str | None = None,
        client_version: str | None = None,
        reopen: bool = True,
    ) -> StoredSession:
        """Register a session on first sight and note that it lives; an ended one that speaks again is active again.

        Args:
            session_id: the client's id of it.
            scope_key: the project it is held in; that of a known session stays.
            now: the time, in milliseconds.
            client, client_version: the program it is held in; None leaves what is known.
            reopen: False leaves an ended one ended.
        """
        self._connection.execute(
            """
            INSERT INTO sessions(id, scope_key, started_at, last_seen_at, client, client_version)
            VALUES (?1, ?2, ?3, ?3, ?4, ?5)
            ON CONFLICT(id) DO UPDATE SET last_seen_at = max(last_seen_at, ?3),
                status = iif(?6, 'active', status), ended_at = iif(?6, NULL, ended_at),
                client = coalesce(?4, client), client_version = coalesce(?5, client_version)
            """,
            (session_id, scope_key, now, client, client_version, reopen),
        )
        session = self.get_session(session_id)
        assert session is not None
        return session

    def put_client_version(self, scope_key: int, client: str, version: str, *, now: int) -> None:
        """Note a client's version of its sessions in a project that go on now.

        Args:
            scope_key: the project's.
            client: the client's stored name.
            version: as it told a server that it had started.
            now: the time, in milliseconds.
        """
        self._connection.execute(
            "UPDATE sessions SET client_version = ?1 WHERE scope_key = ?2 AND client = ?3 AND ended_at IS NULL"
            " AND last_seen_at >= ?4",
            (version, scope_key, client, now - JUST_BEGUN_MS),
        )

    def get_session(self, session_id: str) -> StoredSession | None:
        """Return a session by its id, or None."""
        row = self._connection.execute(
            "SELECT t.*, s.id AS scope FROM sessions t JOIN scopes s ON s.key = t.scope_key WHERE t.id = ?",
            (session_id,),
        ).fetchone()
        return _session_from_row(row) if row else None

    def ids_like(self, prefix: str, limit: int = 5, *, scope: str = "") -> list[str]:
        """Return ids that start with `prefix`; of one scope if it is given."""
        rows = self._connection.execute(
            "SELECT t.id FROM sessions t JOIN scopes s ON s.key = t.scope_key WHERE t.id >= ?1 AND t.id < ?2"
            " AND (?4 = '' OR s.id = ?4) ORDER BY t.id LIMIT ?3",
            (prefix, prefix + "\U0010ffff", limit, scope),
        )
        return [row[0] for row in rows]

    def list_recent(
        self, scope_id: str | None = None, limit: int = 20, *, before: tuple[int, int] | None = None
    ) -> list[StoredSession]:
        """Return sessions, latest first, of one scope or of all; `before` is (last_seen_at, key) of the one before."""
        time, key = before or (_LATEST, _LATEST)
        wanted = "" if scope_id is None else "s.id = ?1 AND "
        rows = self._connection.execute(
            "SELECT t.*, s.id AS scope FROM sessions t JOIN scopes s ON s.key = t.scope_key"
            f" WHERE {wanted}(t.last_seen_at, t.key) < (?3, ?4)"
            " ORDER BY t.last_seen_at DESC, t.key DESC LIMIT ?2",
            (scope_id, limit, time, key),
        )
        return [_session_from_row(row) for row in rows]

    def find_of_client(self, scope_id: str, parents: Sequence[str]) -> str | None:
        """Return the active session of a project whose client also started a process; None if none is known to.

        Args:
            scope_id: the project.
            parents: those of the process, the nearest first; of several sessions that share one, the nearest is taken.
        """
        row = self._connection.execute(
            "SELECT t.id FROM sessions t INDEXED BY idx_sessions_open CROSS JOIN scopes s ON s.key = t.scope_key"
            " CROSS JOIN json_each(t.metadata, '$.parents') theirs"
            " CROSS JOIN json_each(?2) ours ON ours.value = theirs.value"
            " WHERE s.id = ?1 AND t.ended_at IS NULL AND ours.key + theirs.key <= ?3"
            " ORDER BY ours.key + theirs.key, t.last_seen_at DESC LIMIT 1",
            (scope_id, json.dumps(list(parents)), MOST_BETWEEN),
        ).fetchone()
        return None if row is None else str(row[0])

    def list_idle(self, scope_id: str, *, before: int) -> list[StoredSession]:
        """Return a project's active sessions that showed their last sign of life before a time."""
        rows = self._connection.execute(
            "SELECT t.*, s.id AS scope FROM sessions t JOIN scopes s ON s.key = t.scope_key"
            " WHERE s.id = ? AND t.status = 'active' AND t.last_seen_at < ? ORDER BY t.last_seen_at",
            (scope_id, before),
        )
        return [_session_from_row(row) for row in rows]

    def find_last_of_clients(self) -> dict[str, int]:
        """Return when each client's last session showed a sign of life, in milliseconds."""
        rows = self._connection.execute(
            "SELECT client, max(last_seen_at) FROM sessions WHERE client IS NOT NULL GROUP BY client"
        )
        return {row[0]: int(row[1]) for row in rows}

    def find_scope_at_hand(self, *, now: int) -> int | None:
        """Return the project that somebody sits at, or None: of the open session, or opened folder, seen last.

        What is dated in the future says nothing of who sits where now: it would come first until that time.
        """
        row = self._connection.execute(
            "SELECT scope_key FROM ("
            " SELECT * FROM (SELECT scope_key, last_seen_at FROM sessions INDEXED BY idx_sessions_open"
            "  WHERE ended_at IS NULL AND last_seen_at <= ?1 ORDER BY last_seen_at DESC LIMIT 1)"
            " UNION ALL SELECT scope_key, last_seen_at FROM places WHERE last_seen_at <= ?1"
            ") ORDER BY last_seen_at DESC LIMIT 1",
            (now + CLOCK_SKEW_MS,),
        ).fetchone()
        return None if row is None else int(row[0])

    def take_sequence_number(self, session_key: int) -> int:
        """Return the session's next sequence number and move it on.

        Raises:
            NotFoundError: there is no such session.
        """
        row = self._connection.execute(
            "UPDATE sessions SET next_seq = next_seq + 1 WHERE key = ? RETURNING next_seq - 1", (session_key,)
        ).fetchone()
        if row is None:
            raise NotFoundError(f"There is no session with key {session_key}.")
        return int(row[0])

    def end_session(self, session_id: str, *, now: int, status: str = "completed") -> bool:
        """Note that a session ended; False if it is unknown."""
        cursor = self._connection.execute(
            "UPDATE sessions SET status = ?, ended_at = ?, last_seen_at = max(last_seen_at, ?) WHERE id = ?",
            (status, now, now, session_id),
        )
        return cursor.rowcount > 0

    def merge_metadata(self, session_id: str, **values: Any) -> None:
        """Merge values into a session's metadata."""
        self._connection.execute(
            "UPDATE sessions SET metadata = json_patch(metadata, ?) WHERE id = ?", (json.dumps(values), session_id)
        )

    def get_transcript_mark(self, path: str) -> TranscriptMark | None:
        """Return how far a transcript was read, or None."""
        row = self._connection.execute("SELECT offset, head_hash FROM transcripts WHERE path = ?", (path,)).fetchone()
        return TranscriptMark(row[0], row[1]) if row else None

    def set_transcript_mark(self, path: str, mark: TranscriptMark, *, now: int) -> None:
        """Remember how far a transcript was read."""
        self._connection.execute(
            "INSERT OR REPLACE INTO transcripts(path, offset, head_hash, read_at) VALUES (?, ?, ?, ?)",
            (path, mark.offset, mark.head_hash, now),
        )


def _session_from_row(row: sqlite3.Row) -> StoredSession:
    return StoredSession(
        key=row["key"],
        id=row["id"],
        scope=row["scope"],
        status=row["status"],
        started_at=row["started_at"],
        last_seen_at=row["last_seen_at"],
        ended_at=row["ended_at"],
        consolidated_at=row["consolidated_at"],
        next_seq=row["next_seq"],
        metadata=json.loads(row["metadata"]),
        client=row["client"],
        client_version=row["client_version"],
    )
