"""Access log: who read and wrote what over HTTP, one row a call."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable

from hyperloci.model.author import is_called
from hyperloci.store.access.access_values import AccessEvent


class AccessLog:
    """The access log of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def append_events(self, events: Iterable[AccessEvent]) -> None:
        """Add calls."""
        self._connection.executemany(
            "INSERT INTO access_log(at, person, token_id, client, tool, outcome, memories)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    event.at,
                    event.person,
                    event.token_id,
                    event.client,
                    event.tool,
                    event.outcome,
                    json.dumps(event.memories),
                )
                for event in events
            ),
        )

    def list_events(
        self, *, limit: int, person: str | None = None, memory: str | None = None, since: int | None = None
    ) -> list[AccessEvent]:
        """Return the latest calls, newest first: of a person, those that touched a memory, those since a time."""
        known = [] if person is None else self._connection.execute("SELECT DISTINCT person FROM access_log").fetchall()
        meant = None if person is None else json.dumps([row[0] for row in known if is_called(row[0], person)])
        rows = self._connection.execute(
            "SELECT * FROM access_log l WHERE (:meant IS NULL OR person IN (SELECT value FROM json_each(:meant)))"
            " AND (:since IS NULL OR at >= :since) AND (:memory IS NULL OR EXISTS"
            " (SELECT 1 FROM json_each(l.memories) m WHERE m.value = :memory)) ORDER BY key DESC LIMIT :limit",
            {"meant": meant, "memory": memory, "since": since, "limit": limit},
        )
        return [
            AccessEvent(
                at=row["at"],
                person=row["person"],
                token_id=row["token_id"],
                client=row["client"],
                tool=row["tool"],
                outcome=row["outcome"],
                memories=tuple(json.loads(row["memories"])),
            )
            for row in rows
        ]

    def delete_before(self, at: int) -> int:
        """Delete the calls before a time; return how many."""
        return self._connection.execute("DELETE FROM access_log WHERE at < ?", (at,)).rowcount
