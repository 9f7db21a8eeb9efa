"""Symbols: what is defined in a project's code, looked up by name, with all the snippets that each is cut into."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store.json_keys import encode_keys
from hyperloci.system.values import dataclass


class NameMatch(StrEnum):
    """How a name was found: as it is written, as the beginning of a longer one, or with other case and joints."""

    EXACT = "exact"
    PREFIX = "prefix"
    SPLIT = "split"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSymbol:
    """A symbol of a project: where it begins, what it is, and the snippets it is cut into, in their order."""

    scope_key: int
    path: str
    symbol: str
    kind: str
    line: int
    keys: tuple[NodeKey, ...]


_NAMED: Final = {
    NameMatch.EXACT: "q.{column} = j.value",
    NameMatch.PREFIX: "q.{column} >= j.value AND q.{column} < j.value || char(1114111)",
    # In the very words of the index.
    NameMatch.SPLIT: "replace(lower(q.{column}), '_', '') = j.value",
}


def _select_named(match: NameMatch) -> str:
    found = " UNION ".join(
        f"SELECT q.file_key, q.symbol FROM json_each(?1) j CROSS JOIN positions q ON"
        f" {_NAMED[match].format(column=column)} WHERE {also}"
        for column, also in (
            ("symbol", "q.symbol IS NOT NULL"),
            ("function_name", "q.function_name IS NOT NULL AND q.symbol IS NOT NULL"),
            # The members of a class have its name too.
            ("class_name", "q.class_name IS NOT NULL AND q.symbol IS NOT NULL AND q.function_name IS NULL"),
        )
    )
    return f"""
    SELECT f.scope_key, p.path, p.symbol, min(p.line_start) AS line,
        (SELECT json_extract(c.facts, '$.kind') FROM positions d JOIN nodes e ON e.key = d.node_key
            JOIN code_facts c ON c.node_key = d.node_key
            WHERE d.file_key = p.file_key AND d.symbol = p.symbol AND e.deleted_at IS NULL
            ORDER BY d.char_start LIMIT 1) AS kind,
        (SELECT json_group_array(o.key) FROM (
            SELECT e.key FROM positions d JOIN nodes e ON e.key = d.node_key
            WHERE d.file_key = p.file_key AND d.symbol = p.symbol AND e.deleted_at IS NULL
            ORDER BY d.char_start, e.key) o) AS keys
    FROM ({found}) named JOIN files f ON f.key = named.file_key
    JOIN positions p ON p.file_key = named.file_key AND p.symbol = named.symbol
    JOIN nodes n ON n.key = p.node_key
    WHERE n.deleted_at IS NULL AND f.scope_key IN (SELECT value FROM json_each(?2))
    GROUP BY p.file_key, p.symbol ORDER BY p.path, line LIMIT ?3
    """


_QUERIES: Final = {match: _select_named(match) for match in NameMatch}


class Symbols:
    """The symbols of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_named(
        self, names: Iterable[str], scope_keys: Sequence[int], *, match: NameMatch = NameMatch.EXACT, limit: int
    ) -> list[StoredSymbol]:
        """Return the living symbols that have one of these names, qualified in their file or bare.

        Args:
            names: as they are written; the beginnings of names for PREFIX; without case and joints for SPLIT.
            scope_keys: whose symbols.
            match: how a name is compared.
            limit: how many at most, by path and line.
        """
        rows = self._connection.execute(
            _QUERIES[match], (json.dumps(sorted(set(names))), json.dumps(list(scope_keys)), limit)
        )
        return [
            StoredSymbol(
                scope_key=row["scope_key"],
                path=row["path"],
                symbol=row["symbol"],
                kind=row["kind"] or "symbol",
                line=row["line"] or 1,
                keys=tuple(NodeKey(key) for key in json.loads(row["keys"])),
            )
            for row in rows
        ]

    def find_pieces(self, keys: Iterable[int]) -> dict[NodeKey, tuple[NodeKey, ...]]:
        """Return, of each of `keys` that is a piece of a symbol cut into several, all living pieces in their order."""
        rows = self._connection.execute(
            """
            SELECT j.value, o.node_key FROM json_each(?1) j CROSS JOIN positions p ON p.node_key = j.value
            CROSS JOIN positions o ON o.file_key = p.file_key AND o.symbol = p.symbol
            CROSS JOIN nodes n ON n.key = o.node_key
            WHERE n.deleted_at IS NULL ORDER BY j.value, o.char_start, o.node_key
            """,
            (encode_keys(keys),),
        )
        found: dict[NodeKey, list[NodeKey]] = {}
        for key, piece in rows:
            found.setdefault(NodeKey(key), []).append(NodeKey(piece))
        return {key: tuple(pieces) for key, pieces in found.items() if len(pieces) > 1}

    def count_uses(self, keys: Iterable[int]) -> dict[NodeKey, int]:
        """Return how many relations point to each of `keys` that any points to."""
        rows = self._connection.execute(
            "SELECT j.value, count(*) FROM json_each(?) j CROSS JOIN membership m ON m.node_key = j.value"
            " WHERE m.role = 'object' GROUP BY j.value",
            (encode_keys(keys),),
        )
        return {NodeKey(row[0]): row[1] for row in rows}
