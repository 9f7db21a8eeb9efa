"""Passing statements: what the user said, no memory was made of, and a later statement may replace (B.17)."""

from __future__ import annotations

import sqlite3

from hyperloci.model.node import Node
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True)
class PassingStatement:
    """Words of a turn, and the words that they answer; '' for none."""

    turn: Node
    quote: str
    about: str


class PassingStatements:
    """The passing statements of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add(self, statement: PassingStatement, answered: Node | None) -> bool:
        """Note a statement where its turn says it, and what it answers where `answered` does; False if it was noted."""
        first = statement.turn.content.find(statement.quote)
        if first < 0:
            return False
        asked = answered.content.find(statement.about) if answered is not None and statement.about else -1
        found = answered is not None and asked >= 0
        return bool(
            self._connection.execute(
                "INSERT OR IGNORE INTO passing_statements"
                " (node_key, first, length, about_key, about_first, about_length) VALUES (?, ?, ?, ?, ?, ?)",
                (
                    statement.turn.key,
                    first,
                    len(statement.quote),
                    answered.key if answered is not None and found else None,
                    asked if found else None,
                    len(statement.about) if found else None,
                ),
            ).rowcount
        )

    def list_latest(self, scope: str, limit: int) -> list[PassingStatement]:
        """Return the latest of a project, of turns that are neither forgotten nor withheld, the last one first.

        Of turns whose text is gone with its archive there are none: their nodes keep only the beginning.
        """
        rows = self._connection.execute(
            # In this order: a project has many times more memories than were said in passing.
            "SELECT p.* FROM passing_statements p CROSS JOIN nodes n ON n.key = p.node_key"
            " WHERE n.scope_key = (SELECT key FROM scopes WHERE id = ?) AND n.deleted_at IS NULL"
            f" AND {NOT_WITHHELD} ORDER BY n.event_time DESC, n.key DESC, p.first LIMIT ?",
            (scope, limit),
        ).fetchall()
        turns = self._read_turns({row["node_key"] for row in rows} | {row["about_key"] for row in rows})
        # Another process may forget a turn between the two queries.
        said = [(turn, row) for row in rows if (turn := turns.get(row["node_key"])) is not None]
        return [
            PassingStatement(turn, quote, _cut(turns.get(row["about_key"]), row["about_first"], row["about_length"]))
            for turn, row in said
            if (quote := _cut(turn, row["first"], row["length"]))
        ]

    def _read_turns(self, keys: set[int | None]) -> dict[int | None, Node]:
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.key IN (SELECT value FROM json_each(?)) AND n.deleted_at IS NULL"
            f" AND {NOT_WITHHELD}",
            (encode_keys(key for key in keys if key is not None),),
        )
        return {int(node.key): node for node in map(node_from_row, rows)}


def _cut(turn: Node | None, first: int | None, length: int | None) -> str:
    """Return words of a turn; '' where there are none, or it no longer holds all of them."""
    if turn is None or first is None or length is None or first + length > len(turn.content):
        return ""
    return turn.content[first : first + length]
