"""The entity registry: canonical names, aliases, mentions (B.10). Merges are made by `store.entity_merges`."""

from __future__ import annotations

import functools
import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Final

from hyperloci.model.kinds import EntityKind, NodeId, NodeKey
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass

_JOINTS: Final = re.compile(r"[\s\-_.]+")

MAX_LOOKED_AT: Final = 2_000
"""Memories that are looked at for what they mention besides: a name that stands everywhere says nothing more."""


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


def fold_name(name: str) -> str:
    """Return the form names are compared in: no outer space, no case, single spaces."""
    return " ".join(name.split()).casefold()


@functools.lru_cache(maxsize=4_096)  # A project's code names the same things again and again.
def squash_name(name: str) -> str:
    """Return the form in which names are one whatever their case and joints: `auth-service`, `AuthService`."""
    return _JOINTS.sub("", name).casefold() or fold_name(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NameBearer:
    """An entity that bears a name, as far as telling it from others takes."""

    key: NodeKey
    kind: EntityKind
    scope_key: int
    forgotten: bool


class Entities:
    """The entities of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def register_entity(self, node_key: NodeKey, name: str, *, now: int) -> None:
        """Register a node of type entity under its canonical name."""
        self._connection.execute(
            "INSERT INTO entities(node_key, canonical_name, first_seen, last_updated) VALUES (?, ?, ?, ?)",
            (node_key, name, now, now),
        )
        self.add_alias(node_key, name)

    def add_alias(self, entity: NodeKey, alias: str) -> None:
        """Let an entity be found by one more name."""
        self._connection.execute(
            "INSERT OR IGNORE INTO aliases(alias, entity_key, written) VALUES (?, ?, ?)",
            (squash_name(alias), entity, " ".join(alias.split())),
        )

    def find_bearers(self, names: Iterable[str], scope_keys: Sequence[int]) -> dict[str, list[NameBearer]]:
        """Return who bears each of some squashed names, those of the first scope first, forgotten ones last."""
        rows = self._connection.execute(
            """
            SELECT a.alias, n.key, n.subtype, n.scope_key, n.deleted_at IS NOT NULL AS forgotten
            FROM json_each(?1) j CROSS JOIN aliases a ON a.alias = j.value JOIN nodes n ON n.key = a.entity_key
            WHERE n.scope_key IN (SELECT value FROM json_each(?2))
            ORDER BY forgotten, n.scope_key <> ?3, n.key
            """,
            (json.dumps(list(names)), json.dumps(list(scope_keys)), scope_keys[0]),
        )
        return _group_by_alias(rows)

    def list_bearers(self, scope_keys: Sequence[int]) -> dict[str, list[NameBearer]]:
        """Return who bears each name of some scopes."""
        rows = self._connection.execute(
            """
            SELECT a.alias, n.key, n.subtype, n.scope_key, n.deleted_at IS NOT NULL AS forgotten
            FROM aliases a JOIN nodes n ON n.key = a.entity_key
            WHERE n.scope_key IN (SELECT value FROM json_each(?1)) ORDER BY forgotten, n.scope_key <> ?2, n.key
            """,
            (json.dumps(list(scope_keys)), scope_keys[0]),
        )
        return _group_by_alias(rows)

    def find_by_name(self, name: str, scope_keys: Iterable[int] = ()) -> list[Entity]:
        """Return the living entities with this name or alias, most mentioned first, within scopes if any are given."""
        scopes = json.dumps(list(scope_keys))
        rows = self._connection.execute(
            """
            SELECT DISTINCT e.*, n.id, n.subtype FROM aliases a JOIN entities e ON e.node_key = a.entity_key
            JOIN nodes n ON n.key = e.node_key
            WHERE a.alias IN (?1, ?3) AND n.deleted_at IS NULL
                AND (?2 = '[]' OR n.scope_key IN (SELECT value FROM json_each(?2)))
            ORDER BY e.mention_count DESC, e.node_key
            """,
            (squash_name(name), scopes, fold_name(name)),
        ).fetchall()
        return [self._entity_from_row(row) for row in rows]

    def add_mention(self, node: NodeKey, entity: NodeKey, *, now: int) -> None:
        """Record that a memory mentions an entity; repeated mentions count once."""
        self.add_mentions(node, [entity], now=now)

    def add_mentions(self, node: NodeKey, entities: Iterable[NodeKey], *, now: int) -> int:
        """Note that a memory speaks of entities, and return of how many it was not known.

        An entity that another process has just purged is passed over.
        """
        added = self._connection.execute(
            "INSERT OR IGNORE INTO mentions(node_key, entity_key) SELECT ?1, e.node_key FROM entities e"
            " WHERE e.node_key IN (SELECT value FROM json_each(?2)) RETURNING entity_key",
            (node, json.dumps(list(entities))),
        ).fetchall()
        if added:
            self._connection.execute(
                "UPDATE entities SET mention_count = mention_count + 1, last_updated = ?1"
                " WHERE node_key IN (SELECT value FROM json_each(?2))",
                (now, json.dumps([row[0] for row in added])),
            )
        return len(added)

    def drop_mentions(self, node: NodeKey, entities: Iterable[NodeKey]) -> None:
        """Take back that a memory mentions some entities; those that it doesn't are passed over."""
        dropped = self._connection.execute(
            "DELETE FROM mentions WHERE node_key = ?1 AND entity_key IN (SELECT value FROM json_each(?2))"
            " RETURNING entity_key",
            (node, json.dumps(list(entities))),
        ).fetchall()
        self._connection.execute(
            "UPDATE entities SET mention_count = mention_count - 1 WHERE node_key IN (SELECT value FROM json_each(?))",
            (json.dumps([row[0] for row in dropped]),),
        )

    def forget_mentions(self, node: NodeKey) -> None:
        """Take back what a memory mentions: its text is another now."""
        self._connection.execute(
            "UPDATE entities SET mention_count = mention_count - 1"
            " WHERE node_key IN (SELECT entity_key FROM mentions WHERE node_key = ?)",
            (node,),
        )
        self._connection.execute("DELETE FROM mentions WHERE node_key = ?", (node,))

    def set_kind(self, entity: NodeKey, kind: EntityKind) -> None:
        """Note that a thing is known better: what was a concept is a tool, a person..."""
        self._connection.execute("UPDATE nodes SET subtype = ? WHERE key = ?", (kind, entity))

    def set_summary(self, entity: NodeKey, summary: str | None, *, now: int) -> None:
        """Store what is known of an entity in a few sentences (B.18)."""
        self._connection.execute(
            "UPDATE entities SET summary = ?, last_updated = ? WHERE node_key = ?", (summary, now, entity)
        )

    def drop_summaries_from(self, node: NodeKey) -> None:
        """Take away what is told of the entities that a memory mentions: it was told from what may be shown no more.

        Nothing is told of them from code.
        """
        self._connection.execute(
            "UPDATE entities SET summary = NULL WHERE node_key IN (SELECT m.entity_key FROM mentions m"
            " JOIN nodes n ON n.key = m.node_key WHERE m.node_key = ? AND n.subtype IS NOT 'code')",
            (node,),
        )

    def list_unsummarised(self, min_mentions: int, limit: int) -> list[Entity]:
        """Return living entities with so many mentions and no summary, most mentioned first."""
        rows = self._connection.execute(
            "SELECT e.*, n.id, n.subtype FROM entities e JOIN nodes n ON n.key = e.node_key"
            " WHERE e.summary IS NULL AND e.mention_count >= ? AND n.deleted_at IS NULL"
            " ORDER BY e.mention_count DESC, e.node_key LIMIT ?",
            (min_mentions, limit),
        ).fetchall()
        return [self._entity_from_row(row) for row in rows]

    def find_similar_names(self, name: str, scope_keys: Sequence[int], *, limit: int) -> list[str]:
        """Return the names of living entities that begin with, or hold, a squashed name."""
        rows = self._connection.execute(
            "SELECT e.canonical_name FROM aliases a JOIN entities e ON e.node_key = a.entity_key"
            " JOIN nodes n ON n.key = e.node_key WHERE n.deleted_at IS NULL AND instr(a.alias, ?1)"
            " AND n.scope_key IN (SELECT value FROM json_each(?2))"
            " GROUP BY e.node_key ORDER BY min(instr(a.alias, ?1)), e.mention_count DESC, e.node_key LIMIT ?3",
            (name, json.dumps(list(scope_keys)), limit),
        )
        return [row[0] for row in rows]

    def was_declared(self, entity: NodeKey) -> bool:
        """Return whether a user declared an entity, as opposed to a rule that found it in a text."""
        row = self._connection.execute("SELECT origin = 'tool' FROM nodes WHERE key = ?", (entity,)).fetchone()
        return bool(row and row[0])

    def count_forgotten_mentions(self, entities: Iterable[NodeKey]) -> dict[NodeKey, int]:
        """Return how many forgotten memories mention each of some entities; those that none does are left out."""
        rows = self._connection.execute(
            "SELECT m.entity_key, count(*) FROM nodes d INDEXED BY idx_nodes_forgotten"
            " CROSS JOIN mentions m ON m.node_key = d.key WHERE d.deleted_at IS NOT NULL"
            " AND m.entity_key IN (SELECT value FROM json_each(?)) GROUP BY m.entity_key",
            (json.dumps(list(entities)),),
        )
        return {NodeKey(row[0]): row[1] for row in rows}

    def count_mentioning(self, entities: Sequence[NodeKey], scope_keys: Sequence[int]) -> int:
        """Return how many memories of some scopes that are not forgotten mention any entity."""
        (count,) = self._connection.execute(
            "SELECT count(DISTINCT n.key) FROM mentions m JOIN nodes n ON n.key = m.node_key"
            " WHERE m.entity_key IN (SELECT value FROM json_each(?1)) AND n.deleted_at IS NULL"
            " AND n.scope_key IN (SELECT value FROM json_each(?2))",
            (json.dumps(list(entities)), json.dumps(list(scope_keys))),
        ).fetchone()
        return int(count)

    def get_entity(self, key: NodeKey) -> Entity | None:
        """Return an entity by its node's key, forgotten ones too."""
        row = self._connection.execute(
            "SELECT e.*, n.id, n.subtype FROM entities e JOIN nodes n ON n.key = e.node_key WHERE e.node_key = ?",
            (key,),
        ).fetchone()
        return self._entity_from_row(row) if row else None

    def list_with_vectors(self, scope_key: int, *, limit: int) -> list[tuple[Entity, bytes]]:
        """Return the living entities of a scope that have a vector of the model in use, most mentioned first."""
        rows = self._connection.execute(
            "SELECT e.*, n.id, n.subtype, f.e1 FROM entities e JOIN nodes n ON n.key = e.node_key"
            " JOIN fingerprints f ON f.node_key = e.node_key JOIN models m ON m.key = f.model_key"
            " JOIN meta ON meta.name = 'model_in_use' AND meta.value = m.id"
            " WHERE n.deleted_at IS NULL AND n.scope_key = ? AND f.e1 IS NOT NULL"
            " ORDER BY e.mention_count DESC, e.node_key LIMIT ?",
            (scope_key, limit),
        ).fetchall()
        return [(self._entity_from_row(row), row["e1"]) for row in rows]

    def list_most_mentioned(self, scope_keys: Sequence[int], limit: int) -> list[Entity]:
        """Return the living entities of some scopes, most mentioned first."""
        rows = self._connection.execute(
            "SELECT e.*, n.id, n.subtype FROM entities e JOIN nodes n ON n.key = e.node_key"
            " WHERE n.deleted_at IS NULL AND n.scope_key IN (SELECT value FROM json_each(?))"
            " ORDER BY e.mention_count DESC, e.node_key LIMIT ?",
            (json.dumps(list(scope_keys)), limit),
        ).fetchall()
        return [self._entity_from_row(row) for row in rows]

    def find_mentioning(
        self,
        entities: Sequence[NodeKey],
        scope_keys: Sequence[int],
        *,
        types: Sequence[str],
        limit: int,
        without: str | None = None,
    ) -> list[NodeKey]:
        """Return memories of some types, without a subtype, that mention any entity, latest event first.

        They are living and not withheld.
        """
        rows = self._connection.execute(
            f"""
            SELECT DISTINCT n.key FROM mentions m JOIN nodes n ON n.key = m.node_key
            WHERE m.entity_key IN (SELECT value FROM json_each(?1)) AND n.type IN (SELECT value FROM json_each(?2))
                AND n.scope_key IN (SELECT value FROM json_each(?3)) AND n.deleted_at IS NULL AND n.valid_until IS NULL
                AND (?5 IS NULL OR n.subtype IS NOT ?5) AND {NOT_WITHHELD}
            ORDER BY n.event_time DESC, n.key DESC LIMIT ?4
            """,
            (json.dumps(list(entities)), json.dumps(list(types)), json.dumps(list(scope_keys)), limit, without),
        )
        return [NodeKey(row[0]) for row in rows]

    def list_mentioned_with(
        self, entities: Sequence[NodeKey], scope_keys: Sequence[int], limit: int
    ) -> list[tuple[Entity, int]]:
        """Return the entities that the same memories mention, with in how many, most often first."""
        rows = self._connection.execute(
            """
            SELECT e.*, n.id, n.subtype, together.times FROM (
                SELECT other.entity_key AS key, count(*) AS times
                FROM (SELECT m.node_key FROM mentions m JOIN nodes s ON s.key = m.node_key
                      WHERE m.entity_key IN (SELECT value FROM json_each(?1)) AND s.deleted_at IS NULL
                        AND s.key NOT IN (SELECT node_key FROM withheld)
                        AND s.scope_key IN (SELECT value FROM json_each(?2)) ORDER BY m.node_key DESC LIMIT ?4) mine
                JOIN mentions other ON other.node_key = mine.node_key
                WHERE other.entity_key NOT IN (SELECT value FROM json_each(?1))
                GROUP BY other.entity_key ORDER BY times DESC, key LIMIT ?3
            ) together JOIN entities e ON e.node_key = together.key JOIN nodes n ON n.key = e.node_key
            WHERE n.deleted_at IS NULL ORDER BY together.times DESC, e.node_key
            """,
            (json.dumps(list(entities)), json.dumps(list(scope_keys)), limit, MAX_LOOKED_AT),
        ).fetchall()
        return [(self._entity_from_row(row), int(row["times"])) for row in rows]

    def list_of_node(self, node: NodeKey) -> list[Entity]:
        """Return the entities a memory mentions."""
        rows = self._connection.execute(
            "SELECT e.*, n.id, n.subtype FROM mentions m JOIN entities e ON e.node_key = m.entity_key"
            " JOIN nodes n ON n.key = e.node_key WHERE m.node_key = ? AND n.deleted_at IS NULL ORDER BY e.node_key",
            (node,),
        ).fetchall()
        return [self._entity_from_row(row) for row in rows]

    def count(self) -> int:
        """Return how many living entities there are."""
        row = self._connection.execute(
            "SELECT count(*) FROM entities e JOIN nodes n ON n.key = e.node_key WHERE n.deleted_at IS NULL"
        ).fetchone()
        return int(row[0])

    def _entity_from_row(self, row: sqlite3.Row) -> Entity:
        aliases = self._connection.execute(
            "SELECT coalesce(written, alias) AS name FROM aliases WHERE entity_key = ? ORDER BY name",
            (row["node_key"],),
        )
        return Entity(
            node_key=NodeKey(row["node_key"]),
            id=NodeId(row["id"]),
            kind=row["subtype"],
            canonical_name=row["canonical_name"],
            aliases=tuple(name for (name,) in aliases if name != row["canonical_name"]),
            summary=row["summary"],
            mention_count=row["mention_count"],
            first_seen=row["first_seen"],
            last_updated=row["last_updated"],
        )


def _group_by_alias(rows: Iterable[sqlite3.Row]) -> dict[str, list[NameBearer]]:
    found: dict[str, list[NameBearer]] = {}
    for row in rows:
        bearer = NameBearer(
            key=NodeKey(row["key"]),
            kind=EntityKind(row["subtype"]),
            scope_key=row["scope_key"],
            forgotten=bool(row["forgotten"]),
        )
        found.setdefault(row["alias"], []).append(bearer)
    return found
