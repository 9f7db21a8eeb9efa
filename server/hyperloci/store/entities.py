"""The entity registry: canonical names, aliases, mentions (B.10)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from hyperloci.model.kinds import NodeId, NodeKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A thing that memories are about. Its node's subtype is its kind (person, tool...)."""

    node_key: NodeKey
    id: NodeId
    kind: str
    canonical_name: str
    aliases: tuple[str, ...]
    summary: str | None
    mention_count: int
    first_seen: int
    last_updated: int


def fold(name: str) -> str:
    """Return the form names are compared in: no outer space, no case, single spaces."""
    return " ".join(name.split()).casefold()


class Entities:
    """The entities of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def register(self, node_key: NodeKey, name: str, *, now: int) -> None:
        """Make a node of type entity known by its canonical name."""
        self._connection.execute(
            "INSERT INTO entities(node_key, canonical_name, first_seen, last_updated) VALUES (?, ?, ?, ?)",
            (node_key, name, now, now),
        )
        self.add_alias(node_key, name)

    def add_alias(self, entity: NodeKey, alias: str) -> None:
        """Let an entity be found by one more name."""
        self._connection.execute(
            "INSERT OR IGNORE INTO aliases(alias, entity_key) VALUES (?, ?)", (fold(alias), entity)
        )

    def find(self, name: str, scope_keys: Iterable[int] = ()) -> list[Entity]:
        """Return the living entities with this name or alias, most mentioned first, within scopes if any are given."""
        scopes = json.dumps(list(scope_keys))
        rows = self._connection.execute(
            """
            SELECT e.*, n.id, n.subtype FROM aliases a JOIN entities e ON e.node_key = a.entity_key
            JOIN nodes n ON n.key = e.node_key
            WHERE a.alias = ?1 AND n.deleted_at IS NULL
                AND (?2 = '[]' OR n.scope_key IN (SELECT value FROM json_each(?2)))
            ORDER BY e.mention_count DESC, e.node_key
            """,
            (fold(name), scopes),
        ).fetchall()
        return [self._entity(row) for row in rows]

    def mention(self, node: NodeKey, entity: NodeKey, *, now: int) -> None:
        """Note that a memory speaks of an entity; said twice, counted once."""
        added = self._connection.execute(
            "INSERT OR IGNORE INTO mentions(node_key, entity_key) VALUES (?, ?)", (node, entity)
        )
        if added.rowcount:
            self._connection.execute(
                "UPDATE entities SET mention_count = mention_count + 1, last_updated = ? WHERE node_key = ?",
                (now, entity),
            )

    def of(self, node: NodeKey) -> list[Entity]:
        """Return the entities a memory mentions."""
        rows = self._connection.execute(
            "SELECT e.*, n.id, n.subtype FROM mentions m JOIN entities e ON e.node_key = m.entity_key"
            " JOIN nodes n ON n.key = e.node_key WHERE m.node_key = ? AND n.deleted_at IS NULL ORDER BY e.node_key",
            (node,),
        ).fetchall()
        return [self._entity(row) for row in rows]

    def count(self) -> int:
        """Return how many living entities there are."""
        row = self._connection.execute(
            "SELECT count(*) FROM entities e JOIN nodes n ON n.key = e.node_key WHERE n.deleted_at IS NULL"
        ).fetchone()
        return int(row[0])

    def _entity(self, row: sqlite3.Row) -> Entity:
        aliases = self._connection.execute(
            "SELECT alias FROM aliases WHERE entity_key = ? ORDER BY alias", (row["node_key"],)
        )
        return Entity(
            node_key=NodeKey(row["node_key"]),
            id=NodeId(row["id"]),
            kind=row["subtype"],
            canonical_name=row["canonical_name"],
            aliases=tuple(alias[0] for alias in aliases),
            summary=row["summary"],
            mention_count=row["mention_count"],
            first_seen=row["first_seen"],
            last_updated=row["last_updated"],
        )
