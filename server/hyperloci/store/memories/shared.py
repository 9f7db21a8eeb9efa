"""Shared memories: what was exchanged with others, and what their folder looked like when it was last read."""

from __future__ import annotations

import sqlite3
from enum import StrEnum
from typing import Final, NamedTuple

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.system.values import dataclass


class Door(StrEnum):
    """The way by which memories come and go."""

    GIT = "git"
    TEAM = "team"


class ExchangeState(StrEnum):
    """What became of one version of a shared memory here."""

    SENT = "sent"
    RECEIVED = "received"
    FORGOTTEN = "forgotten"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRecord:
    """One version of a shared memory.

    Attributes:
        id: the memory's, the same on every machine.
        hash: of the version that was exchanged.
        state: what became of it here.
        node_key: the memory it is here, if it is one.
            Of a withdrawal, the memory that it made forget.
        reason: why it was refused; `ENDED` of a version that says until when the memory held.
        told_at: when it was withdrawn, or shared anew after that, in milliseconds; 0 of any other version.
    """

    id: str
    hash: bytes
    state: ExchangeState
    node_key: NodeKey | None = None
    reason: str | None = None
    told_at: int = 0


ENDED: Final = "ended"


class EndedMemory(NamedTuple):
    """A memory that was exchanged and is over here: its id, whether it was shared from here, and its author."""

    id: str
    is_own: bool
    author: str | None


class FolderStamp(NamedTuple):
    """What a folder looked like when it was last read, and when that was, in milliseconds."""

    stamp: str
    read_at: int


class SharedRows:
    """What one database exchanged with others. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def put_record(self, scope_key: int, record: SharedRecord, *, now: int, door: Door = Door.GIT) -> None:
        """Note what became of a version; what was noted of it before is replaced."""
        self._connection.execute(
            "INSERT OR REPLACE INTO shared_records"
            "(scope_key, id, hash, door, state, node_key, reason, exchanged_at, told_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                scope_key,
                record.id,
                record.hash,
                door,
                record.state,
                record.node_key,
                record.reason,
                now,
                record.told_at,
            ),
        )

    def list_records(self, scope_key: int, *, id: str | None = None, door: Door = Door.GIT) -> list[SharedRecord]:
        """Return every version that was exchanged in a project, or those of one memory, oldest first."""
        rows = self._connection.execute(
            "SELECT id, hash, state, node_key, reason, told_at FROM shared_records WHERE scope_key = ?1 AND door = ?2"
            f"{'' if id is None else ' AND id = ?3'} ORDER BY exchanged_at, id",
            (scope_key, door) if id is None else (scope_key, door, id),
        )
        return [
            SharedRecord(
                id=row[0],
                hash=row[1],
                state=ExchangeState(row[2]),
                node_key=None if row[3] is None else NodeKey(row[3]),
                reason=row[4],
                told_at=row[5],
            )
            for row in rows
        ]

    def list_ended_here(self, scope_key: int) -> list[EndedMemory]:
        """Return what was shared or received through Git, is forgotten or purged by now, and not withdrawn yet."""
        rows = self._connection.execute(
            "SELECT DISTINCT r.id, r.state, n.author FROM shared_records r LEFT JOIN nodes n ON n.key = r.node_key"
            " WHERE r.scope_key = ?1 AND r.door = 'git'"
            " AND r.state IN ('sent', 'received')"
            " AND (n.deleted_at IS NOT NULL OR (r.state = 'sent' AND n.key IS NULL))"
            " AND NOT EXISTS (SELECT 1 FROM shared_records f WHERE f.scope_key = ?1 AND f.id = r.id"
            " AND f.state = 'forgotten' AND f.told_at >= r.told_at)",
            (scope_key,),
        )
        return [EndedMemory(row[0], row[1] == ExchangeState.SENT, row[2]) for row in rows]

    def list_outdated_here(self, scope_key: int, *, now: int, told: bool) -> list[EndedMemory]:
        """Return what was shared or received through Git, is shared yet, and no longer holds here.

        Args:
            scope_key: the project's.
            now: the time, in milliseconds.
            told: also those that others were told of already.
        """
        rows = self._connection.execute(
            "SELECT n.id, max(r.state = 'sent'), n.author FROM nodes n JOIN shared_records r ON r.node_key = n.key"
            " WHERE n.scope_key = ?1 AND n.visibility = 'shared' AND n.deleted_at IS NULL AND n.valid_until <= ?2"
            # A revision of a text that somebody edited in its file has no file of its own name.
            " AND r.scope_key = ?1 AND r.door = 'git' AND r.id = n.id AND r.state IN ('sent', 'received')"
            " AND (?3 OR NOT EXISTS (SELECT 1 FROM shared_records e WHERE e.scope_key = ?1 AND e.id = n.id"
            " AND e.reason = 'ended')) GROUP BY n.key",
            (scope_key, now, told),
        )
        return [EndedMemory(row[0], bool(row[1]), row[2]) for row in rows]

    def list_folders(self, scope_key: int) -> list[str]:
        """Return the working trees of a project whose shared folder was read, the last one first."""
        rows = self._connection.execute(
            "SELECT path FROM shared_folders WHERE scope_key = ? ORDER BY read_at DESC", (scope_key,)
        )
        return [row[0] for row in rows]

    def get_stamp(self, scope_key: int, path: str) -> FolderStamp | None:
        """Return what a folder looked like when it was last read, None if it never was."""
        row = self._connection.execute(
            "SELECT stamp, read_at FROM shared_folders WHERE scope_key = ? AND path = ?", (scope_key, path)
        ).fetchone()
        return None if row is None else FolderStamp(row[0], row[1])

    def set_stamp(self, scope_key: int, path: str, stamp: str, *, now: int) -> None:
        """Note what a folder looks like now that it was read."""
        self._connection.execute(
            "INSERT OR REPLACE INTO shared_folders(scope_key, path, stamp, read_at) VALUES (?, ?, ?, ?)",
            (scope_key, path, stamp, now),
        )

    def queue_comparison(self, key: NodeKey) -> None:
        """Note that a memory that came from elsewhere is yet to be compared with what else is held."""
        self._connection.execute("INSERT OR IGNORE INTO shared_comparisons(node_key) VALUES (?)", (key,))

    def list_uncompared(self, limit: int) -> list[Node]:
        """Return the memories that wait to be compared, in the order in which they came."""
        rows = self._connection.execute(
            f"{SELECT_NODE} JOIN shared_comparisons c ON c.node_key = n.key ORDER BY n.key LIMIT ?", (limit,)
        )
        return [node_from_row(row) for row in rows]

    def finish_comparison(self, key: NodeKey) -> None:
        """Take a memory off those that wait to be compared."""
        self._connection.execute("DELETE FROM shared_comparisons WHERE node_key = ?", (key,))
