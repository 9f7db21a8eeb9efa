"""Withheld memories: kept, but found by no search and put before no assistant."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store.json_keys import encode_keys

NOT_WITHHELD: Final = "n.key NOT IN (SELECT w.node_key FROM withheld w)"
"""The condition on `nodes n` that a session may be shown it."""


class WithheldRows:
    """The withheld memories of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def withhold(self, key: NodeKey, *, now: int) -> bool:
        """Withhold a memory; False if it is withheld already."""
        cursor = self._connection.execute("INSERT OR IGNORE INTO withheld(node_key, since) VALUES (?, ?)", (key, now))
        return cursor.rowcount > 0

    def release(self, key: NodeKey) -> bool:
        """Let a memory be found again; False if it was not withheld."""
        return self._connection.execute("DELETE FROM withheld WHERE node_key = ?", (key,)).rowcount > 0

    def select_withheld(self, keys: Iterable[int]) -> frozenset[NodeKey]:
        """Return those of `keys` that are withheld."""
        rows = self._connection.execute(
            "SELECT node_key FROM withheld WHERE node_key IN (SELECT value FROM json_each(?))",
            (encode_keys(keys),),
        )
        return frozenset(NodeKey(row[0]) for row in rows)
