"""Named values of a database: single numbers or texts that need no table of their own."""

from __future__ import annotations

import sqlite3
from typing import Final

RESTORED_AT: Final = "restored_at"
"""The name of the time of the last restore: what came back has a count of changes of its own."""


class Meta:
    """The named values of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get(self, name: str) -> str | None:
        """Return a value, or None."""
        row = self._connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def set(self, name: str, value: str) -> None:
        """Store a value in place of the one that was there."""
        self._connection.execute("INSERT OR REPLACE INTO meta(name, value) VALUES (?, ?)", (name, value))

    def drop(self, name: str) -> None:
        """Forget a value, if there is one."""
        self._connection.execute("DELETE FROM meta WHERE name = ?", (name,))
