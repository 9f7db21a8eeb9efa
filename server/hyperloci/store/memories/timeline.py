"""Timeline: memories in the order of time, and of sequence within a session (E.10)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.topic import EventMoment

_FIELDS: Final = "n.key, n.event_time, n.session_key, n.seq"

_IS_EVENT: Final = "n.deleted_at IS NULL AND n.type NOT IN ('entity', 'snippet')"
"""Things and files are not events; what was said, done, learnt and committed is."""

_IN_SCOPES: Final = "n.scope_key IN (SELECT s.key FROM json_each(?) j JOIN scopes s ON s.id = j.value)"


class TimelineRows:
    """The order of events in one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get_moment(self, key: NodeKey) -> EventMoment | None:
        """Return where a memory stands in time, or None."""
        row = self._connection.execute(f"SELECT {_FIELDS} FROM nodes n WHERE n.key = ?", (key,)).fetchone()
        return _moment_from_row(row) if row else None

    def list_of_session(self, session_id: str, limit: int, *, last: bool = False) -> list[EventMoment]:
        """Return the first (or last) moments of a session, in order."""
        order = "DESC" if last else "ASC"
        rows = self._connection.execute(
            f"SELECT {_FIELDS} FROM nodes n JOIN sessions t ON t.key = n.session_key WHERE t.id = ? AND {_IS_EVENT}"
            f" ORDER BY coalesce(n.seq, 9e18) {order}, n.event_time {order}, n.key {order} LIMIT ?",
            (session_id, limit),
        )
        found = [_moment_from_row(row) for row in rows]
        return found[::-1] if last else found

    def list_near_in_session(self, moment: EventMoment, limit: int, *, before: bool) -> list[EventMoment]:
        """Return what comes before (or after) a moment in its own session by sequence, nearest first."""
        if moment.session_key is None or moment.seq is None:
            return []
        sign, order = ("<", "DESC") if before else (">", "ASC")
        rows = self._connection.execute(
            f"SELECT {_FIELDS} FROM nodes n WHERE n.session_key = ? AND n.seq {sign} ? AND {_IS_EVENT}"
            f" ORDER BY n.seq {order} LIMIT ?",
            (moment.session_key, moment.seq, limit),
        )
        return [_moment_from_row(row) for row in rows]

    def list_near_by_time(
        self, moment: EventMoment, scopes: Sequence[str], limit: int, *, before: bool
    ) -> list[EventMoment]:
        """Return what comes before (or after) a moment by time, outside its session's sequence, nearest first."""
        sign, order = ("<", "DESC") if before else (">", "ASC")
        rows = self._connection.execute(
            f"SELECT {_FIELDS} FROM nodes n WHERE (n.event_time, n.key) {sign} (?, ?) AND {_IN_SCOPES} AND {_IS_EVENT}"
            " AND (n.session_key IS NOT ? OR n.seq IS NULL OR ? IS NULL)"
            f" ORDER BY n.event_time {order}, n.key {order} LIMIT ?",
            (
                moment.event_time,
                moment.key,
                json.dumps(list(scopes)),
                moment.session_key,
                None if moment.session_key is None else moment.seq,
                limit,
            ),
        )
        return [_moment_from_row(row) for row in rows]


def _moment_from_row(row: sqlite3.Row) -> EventMoment:
    return EventMoment(
        key=NodeKey(row["key"]), event_time=row["event_time"], session_key=row["session_key"], seq=row["seq"]
    )
