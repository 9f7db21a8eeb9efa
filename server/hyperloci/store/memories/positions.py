"""Positions, code facts and anchors: where memories stand in files (D.01)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any, Final

from hyperloci.model.chunk import CodeFacts
from hyperloci.model.kinds import NodeKey
from hyperloci.model.position import Position
from hyperloci.store.json_keys import encode_keys
from hyperloci.system.values import dataclass

_JSON: Final = json.JSONEncoder(ensure_ascii=False)

_FACTS: Final = tuple(field.name for field in fields(CodeFacts))


@dataclass(frozen=True, slots=True)
class StoredAnchor:
    """The symbol a fact speaks of.

    Attributes:
        node_key: the fact.
        scope_key: whose code.
        path, symbol: where it stands now.
        symbol_hash: of its text when the fact was stored.
        body_hash: the same without its name; None where it is too short to be known by it.
        former_path, former_symbol: where it stood when the fact was stored, if it was renamed since.
    """

    node_key: NodeKey
    scope_key: int
    path: str
    symbol: str
    symbol_hash: bytes
    body_hash: bytes | None = None
    former_path: str | None = None
    former_symbol: str | None = None


_ANCHOR: Final = ", ".join(field.name for field in fields(StoredAnchor))

_SELECT_POSITION: Final = f"SELECT node_key, {', '.join(field.name for field in fields(Position))} FROM positions"


def _position_from_row(row: Sequence[Any]) -> Position:
    """Make a Position of a row of `_SELECT_POSITION`."""
    # By place: a search of a few words makes hundreds, and names cost twice the time.
    return Position(
        path=row[1],
        line_start=row[2],
        line_end=row[3],
        char_start=row[4],
        char_end=row[5],
        section_path=_headings_from_json(row[6]),
        headings=_headings_from_json(row[7]),
        heading_level=row[8],
        module=row[9],
        class_name=row[10],
        function_name=row[11],
        symbol=row[12],
        scope_depth=row[13],
        language=row[14],
        url=row[15],
        anchor=row[16],
    )


def _headings_from_json(text: str) -> tuple[str, ...]:
    # Code has none, and most texts have none inside.
    return () if text == "[]" else tuple(json.loads(text))


class Positions:
    """Positions, code facts and anchors of one database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_defining(self, scope: str, name: str, *, limit: int) -> list[NodeKey]:
        """Return the living snippets of a scope that define a symbol, or begin a file, of this name."""
        rows = self._connection.execute(
            """
            SELECT n.key FROM (
                SELECT node_key, char_start FROM positions WHERE symbol = ?1
                UNION SELECT node_key, char_start FROM positions WHERE function_name = ?1
                UNION SELECT node_key, char_start FROM positions
                    WHERE class_name = ?1 AND function_name IS NULL
                UNION SELECT node_key, char_start FROM positions WHERE path = ?1 AND char_start = 0
            ) p JOIN nodes n ON n.key = p.node_key JOIN scopes s ON s.key = n.scope_key
            WHERE s.id = ?2 AND n.deleted_at IS NULL ORDER BY p.char_start, n.key LIMIT ?3
            """,
            (name, scope, limit),
        )
        return [NodeKey(row[0]) for row in rows]

    def put_position(self, key: NodeKey, position: Position, file_key: int | None = None) -> None:
        """Store a node's position, replacing what was there."""
        self._connection.execute(
            """
            INSERT OR REPLACE INTO positions(node_key, file_key, path, line_start, line_end, char_start, char_end,
                section_path, headings, heading_level, module, class_name, function_name, symbol, scope_depth, language,
                url, anchor)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                key,
                file_key,
                position.path,
                position.line_start,
                position.line_end,
                position.char_start,
                position.char_end,
                _JSON.encode(position.section_path) if position.section_path else "[]",
                _JSON.encode(position.headings) if position.headings else "[]",
                position.heading_level,
                position.module,
                position.class_name,
                position.function_name,
                position.symbol,
                position.scope_depth,
                position.language,
                position.url,
                position.anchor,
            ),
        )

    def get_positions(self, keys: Iterable[int]) -> dict[NodeKey, Position]:
        """Return the positions of those of `keys` that have one."""
        cursor = self._connection.cursor()
        cursor.row_factory = None
        rows = cursor.execute(
            f"{_SELECT_POSITION} WHERE node_key IN (SELECT value FROM json_each(?))",
            (encode_keys(keys),),
        )
        return {row[0]: _position_from_row(row) for row in rows}

    def list_headings(self, keys: Iterable[int]) -> dict[NodeKey, tuple[str, ...]]:
        """Return the headings above and in those of `keys` that stand in a file: less than all of their positions."""
        cursor = self._connection.cursor()
        cursor.row_factory = None
        rows = cursor.execute(
            "SELECT p.node_key, p.section_path, p.headings FROM json_each(?) j"
            " CROSS JOIN positions p ON p.node_key = j.value WHERE p.path IS NOT NULL",
            (encode_keys(keys),),
        )
        return {key: _headings_from_json(above) + _headings_from_json(inside) for key, above, inside in rows}

    def put_code_facts(self, key: NodeKey, facts: CodeFacts) -> None:
        """Store what the parse tree said of a snippet."""
        self._connection.execute(
            "INSERT OR REPLACE INTO code_facts(node_key, facts) VALUES (?, ?)",
            (key, _JSON.encode({name: getattr(facts, name) for name in _FACTS})),
        )

    def get_code_facts(self, keys: Iterable[int]) -> dict[NodeKey, CodeFacts]:
        """Return the code facts of those of `keys` that have them."""
        rows = self._connection.execute(
            "SELECT node_key, facts FROM code_facts WHERE node_key IN (SELECT value FROM json_each(?))",
            (encode_keys(keys),),
        )
        return {NodeKey(row[0]): _code_facts_from_json(json.loads(row[1])) for row in rows}

    def put_anchor(self, anchor: StoredAnchor) -> None:
        """Tie a fact to a symbol's present text."""
        self._connection.execute(
            f"INSERT OR REPLACE INTO anchors({_ANCHOR}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            tuple(getattr(anchor, field.name) for field in fields(StoredAnchor)),
        )

    def drop_anchor(self, anchor: StoredAnchor) -> None:
        """Untie a fact from one symbol."""
        self._connection.execute(
            "DELETE FROM anchors WHERE node_key = ? AND path = ? AND symbol = ?",
            (anchor.node_key, anchor.path, anchor.symbol),
        )

    def drop_anchors(self, key: NodeKey) -> None:
        """Untie a fact from every symbol."""
        self._connection.execute("DELETE FROM anchors WHERE node_key = ?", (key,))

    def list_unanchored(self, scope_key: int, limit: int) -> list[tuple[NodeKey, str]]:
        """Return key and content of a project's living facts and decisions without an anchor, newest first."""
        rows = self._connection.execute(
            """
            SELECT n.key, n.content FROM nodes n
            WHERE n.scope_key = ? AND n.type IN ('fact', 'decision') AND n.deleted_at IS NULL AND n.valid_until IS NULL
                AND NOT EXISTS (SELECT 1 FROM anchors a WHERE a.node_key = n.key)
            ORDER BY n.created_at DESC, n.key DESC LIMIT ?
            """,
            (scope_key, limit),
        )
        return [(NodeKey(row[0]), row[1]) for row in rows]

    def list_anchors(self, keys: Iterable[int]) -> list[StoredAnchor]:
        """Return the anchors of `keys`."""
        rows = self._connection.execute(
            f"SELECT {_ANCHOR} FROM anchors"
            " WHERE node_key IN (SELECT value FROM json_each(?)) ORDER BY node_key, path, symbol",
            (encode_keys(keys),),
        )
        return [_anchor_from_row(row) for row in rows]

    def list_anchors_at(self, scope_key: int, path: str) -> list[StoredAnchor]:
        """Return the anchors to symbols of a file."""
        rows = self._connection.execute(
            f"SELECT {_ANCHOR} FROM anchors WHERE scope_key = ? AND path = ? ORDER BY node_key, symbol",
            (scope_key, path),
        )
        return [_anchor_from_row(row) for row in rows]

    def list_lost_anchors(self, scope_key: int) -> list[StoredAnchor]:
        """Return the anchors of memories that hold to symbols that are gone."""
        # CROSS JOIN keeps the order: the planner would begin with all nodes of the project, for each anchor.
        rows = self._connection.execute(
            f"""
            SELECT {_ANCHOR} FROM anchors a
            WHERE scope_key = ?1
                AND NOT EXISTS (
                    SELECT 1 FROM positions p INDEXED BY idx_positions_symbol CROSS JOIN nodes n ON n.key = p.node_key
                    WHERE p.symbol = a.symbol AND p.path = a.path AND n.scope_key = ?1 AND n.deleted_at IS NULL)
                AND EXISTS (
                    SELECT 1 FROM nodes f
                    WHERE f.key = a.node_key AND f.deleted_at IS NULL AND f.valid_until IS NULL)
            ORDER BY node_key, path, symbol
            """,
            (scope_key,),
        )
        return [_anchor_from_row(row) for row in rows]

    def list_tied(self, scopes: Sequence[str], limit: int, *, after: int = 0) -> list[NodeKey]:
        """Return the memories of some scopes that are tied to code and hold, by key, from after one on."""
        rows = self._connection.execute(
            "SELECT DISTINCT a.node_key FROM anchors a JOIN nodes n ON n.key = a.node_key"
            " WHERE a.node_key > ?1 AND n.deleted_at IS NULL AND n.valid_until IS NULL AND n.scope_key IN"
            " (SELECT s.key FROM json_each(?2) j JOIN scopes s ON s.id = j.value) ORDER BY a.node_key LIMIT ?3",
            (after, json.dumps(list(scopes)), limit),
        )
        return [NodeKey(row[0]) for row in rows]

    def list_anchored(self, scope_key: int, path: str, symbol: str | None = None) -> list[NodeKey]:
        """Return the memories that are tied to a symbol or its members; without a symbol, to any of a file."""
        rows = self._connection.execute(
            """
            SELECT DISTINCT node_key FROM anchors WHERE scope_key = ?1 AND path = ?2
                AND (?3 IS NULL OR symbol = ?3 OR substr(symbol, 1, length(?3) + 1) = ?3 || '.') ORDER BY node_key
            """,
            (scope_key, path, symbol),
        )
        return [NodeKey(row[0]) for row in rows]

    def list_snippets(self, scope_key: int, path: str, symbol: str) -> list[NodeKey]:
        """Return the living snippets of a symbol and its members."""
        rows = self._connection.execute(
            """
            SELECT n.key FROM files f JOIN positions p ON p.file_key = f.key JOIN nodes n ON n.key = p.node_key
            WHERE f.scope_key = ?1 AND f.path = ?2 AND n.deleted_at IS NULL
                AND (p.symbol = ?3 OR substr(p.symbol, 1, length(?3) + 1) = ?3 || '.') ORDER BY n.key
            """,
            (scope_key, path, symbol),
        )
        return [NodeKey(row[0]) for row in rows]

    def get_symbol_text(self, scope_key: int, path: str, symbol: str) -> str | None:
        """Return a symbol's present text, joined from its living snippets in order; None where it is gone.

        A class is all of it: the snippets of its members too.
        """
        rows = self._connection.execute(
            """
            SELECT n.content FROM files f JOIN positions p ON p.file_key = f.key JOIN nodes n ON n.key = p.node_key
            WHERE f.scope_key = ?1 AND f.path = ?2 AND n.deleted_at IS NULL
                AND (p.symbol = ?3 OR substr(p.symbol, 1, length(?3) + 1) = ?3 || '.')
            ORDER BY p.char_start, n.key
            """,
            (scope_key, path, symbol),
        ).fetchall()
        return "\n".join(row[0] for row in rows) if rows else None

    def symbols_named(self, scope_key: int, names: Iterable[str]) -> list[tuple[str, str]]:
        """Return (path, symbol) of the project's living symbols that have one of these names, qualified or bare."""
        # CROSS JOIN keeps the order: the planner would begin with all nodes of the project.
        rows = self._connection.execute(
            """
            SELECT DISTINCT p.path, p.symbol FROM (
                SELECT q.node_key FROM json_each(?1) j JOIN positions q ON q.symbol = j.value
                UNION SELECT q.node_key FROM json_each(?1) j JOIN positions q ON q.function_name = j.value
                UNION SELECT q.node_key FROM json_each(?1) j JOIN positions q ON q.class_name = j.value
            ) found CROSS JOIN positions p ON p.node_key = found.node_key CROSS JOIN nodes n ON n.key = found.node_key
            WHERE n.scope_key = ?2 AND n.deleted_at IS NULL AND p.path IS NOT NULL AND p.symbol IS NOT NULL
            ORDER BY p.path, p.symbol
            """,
            (json.dumps(sorted(set(names))), scope_key),
        )
        return [(row[0], row[1]) for row in rows]


def _anchor_from_row(row: Sequence[Any]) -> StoredAnchor:
    return StoredAnchor(NodeKey(row[0]), *tuple(row)[1:])


def _code_facts_from_json(values: dict[str, object]) -> CodeFacts:
    return CodeFacts(**{name: tuple(v) if isinstance(v, list) else v for name, v in values.items()})  # type: ignore[arg-type]
