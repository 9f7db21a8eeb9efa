"""Timeline: memories in the order of time, and of sequence within a session (E.10)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.topic import EventMoment, EventPlace
from hyperloci.store.memories.withheld import NOT_WITHHELD

_FIELDS: Final = "n.key, n.event_time, n.session_key, n.seq"

_IS_EVENT: Final = f"n.deleted_at IS NULL AND n.type NOT IN ('entity', 'snippet') AND {NOT_WITHHELD}"
"""Things and files are not events; what was said, done, learnt and committed is, unless no session is shown it."""

_SELECT_PAGE: Final = (
    "SELECT n.key, n.event_time FROM nodes n INDEXED BY idx_nodes_events"
    " WHERE n.scope_key = ? AND n.subtype = ? AND n.type IN ('fact', 'decision', 'experience')"
    " AND n.event_time <= ? AND (n.event_time < ? OR n.key < ?) AND n.deleted_at IS NULL"
    " ORDER BY n.event_time DESC, n.key DESC LIMIT ?"
)
"""One scope and one kind, in the order of the index: a page of fifty reads fifty rows, of however many."""

_LATEST: Final = 2**62

_IN_SCOPES: Final = "n.scope_key IN (SELECT s.key FROM json_each(?) j JOIN scopes s ON s.id = j.value)"


class TimelineRows:
    """The order of events in one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get_moment(self, key: NodeKey) -> EventMoment | None:
        """Return where a memory stands in time, or None."""
        row = self._connection.execute(f"SELECT {_FIELDS} FROM nodes n WHERE n.key = ?", (key,)).fetchone()
        return _moment_from_row(row) if row else None

    def list_page(
        self, scopes: Sequence[str], subtypes: Iterable[str], limit: int, *, before: EventPlace | None = None
    ) -> list[EventPlace]:
        """Return the living events of some kinds, latest first, from before a place on."""
        time, key = before or (_LATEST, _LATEST)
        found: list[EventPlace] = []
        for scope in self._list_scope_keys(scopes):
            for subtype in subtypes:
                rows = self._connection.execute(_SELECT_PAGE, (scope, subtype, time, time, key, limit))
                found += [EventPlace(row["event_time"], NodeKey(row["key"])) for row in rows]
        return sorted(found, reverse=True)[:limit]

    def _list_scope_keys(self, scopes: Sequence[str]) -> list[int]:
        rows = self._connection.execute(
            "SELECT key FROM scopes WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(scopes)),)
        )
        return [row[0] for row in rows]

    def list_of_session(self, session_id: str, limit: int, *, last: bool = False) -> list[EventMoment]:
        """Return the first (or last) moments of a session: turns in their sequence, the rest among them by time."""
        order = "DESC" if last else "ASC"
        said, made = (
            self._connection.execute(
                f"SELECT {_FIELDS} FROM nodes n JOIN sessions t ON t.key = n.session_key WHERE t.id = ? AND {_IS_EVENT}"
                f" AND n.seq IS {'NOT' if is_turn else ''} NULL"
                f" ORDER BY n.seq {order}, n.event_time {order}, n.key {order} LIMIT ?",
                (session_id, limit),
            ).fetchall()
            for is_turn in (True, False)
        )
        placed, latest = [], 0
        for row in said[::-1] if last else said:
            # A clock that was set back must not put a turn before the one it followed.
            latest = max(latest, row["event_time"])
            placed.append((latest, 0, row))
        placed += [(row["event_time"], 1, row) for row in (made[::-1] if last else made)]
        ordered = [_moment_from_row(row) for _, _, row in sorted(placed, key=lambda entry: entry[:2])]
        return ordered[-limit:] if last else ordered[:limit]

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
