"""Lists of nodes for whoever looks through them: by time, what was forgotten, what looked suspicious."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Final

from hyperloci.model.kinds import Origin
from hyperloci.model.node import Node
from hyperloci.model.topic import EventPlace
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD

_LATEST: Final = 2**62


class NodeLists:
    """Reads the nodes of one database in some order, page by page."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def list_flagged(self, scopes: Sequence[str], limit: int, *, before: int | None = None) -> list[Node]:
        """Return the living memories that looked suspicious when they were stored, newest first, from before a key."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE instr(n.metadata, '\"flags\"') > 0 AND n.deleted_at IS NULL AND n.scope_key IN"
            " (SELECT s.key FROM json_each(?1) j JOIN scopes s ON s.id = j.value)"
            " AND coalesce(json_array_length(n.metadata, '$.flags'), 0) > 0 AND (?2 IS NULL OR n.key < ?2)"
            " ORDER BY n.key DESC LIMIT ?3",
            (json.dumps(list(scopes)), before, limit),
        )
        return [node_from_row(row) for row in rows]

    def list_forgotten(self, scopes: Sequence[str], limit: int, *, before: EventPlace | None = None) -> list[Node]:
        """Return the memories of some scopes that were forgotten last, latest first, from before a place on."""
        time, key = before or (_LATEST, _LATEST)
        rows = self._connection.execute(
            # The plus leaves SQLite the index of the forgotten, who are few, in their order.
            f"{SELECT_NODE} WHERE n.deleted_at IS NOT NULL AND (n.deleted_at, n.key) < (?2, ?3) AND +n.scope_key IN"
            " (SELECT s.key FROM json_each(?1) j JOIN scopes s ON s.id = j.value)"
            " ORDER BY n.deleted_at DESC, n.key DESC LIMIT ?4",
            (json.dumps(list(scopes)), time, key, limit),
        )
        return [node_from_row(row) for row in rows]

    def find_twin(self, node: Node) -> Node | None:
        """Return another node that holds, with a node's content, scope and place; none of or for a teammate's."""
        row = self._connection.execute(
            f"{SELECT_NODE} JOIN nodes own ON own.key = ? WHERE n.content_hash = own.content_hash"
            " AND n.scope_key = own.scope_key AND n.place = own.place AND n.key <> own.key AND n.deleted_at IS NULL"
            " AND n.valid_until IS NULL AND ? NOT IN (n.origin, own.origin) ORDER BY n.key LIMIT 1",
            (node.key, Origin.TEAMMATE),
        ).fetchone()
        return node_from_row(row) if row else None

    def list_memories(
        self,
        subtypes: Sequence[str],
        scopes: Sequence[str],
        *,
        origins: Sequence[str] = (),
        since: int | None = None,
        include_ended: bool = False,
        limit: int = 100,
    ) -> list[Node]:
        """Return nodes of some kinds by the time they are of, latest first.

        Args:
            subtypes, scopes: any of these.
            origins: any of these; of every origin if empty.
            since: of this time or later, in milliseconds.
            include_ended: those too that were replaced, forgotten or withheld.
            limit: how many at most.
        """
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.subtype IN (SELECT value FROM json_each(?1))"
            " AND s.id IN (SELECT value FROM json_each(?2))"
            " AND (?3 = '[]' OR n.origin IN (SELECT value FROM json_each(?3))) AND (?4 IS NULL OR n.event_time >= ?4)"
            f" AND (?5 OR (n.deleted_at IS NULL AND n.valid_until IS NULL AND {NOT_WITHHELD}))"
            " ORDER BY n.event_time DESC, n.key DESC LIMIT ?6",
            (*(json.dumps(list(some)) for some in (subtypes, scopes, origins)), since, include_ended, limit),
        )
        return [node_from_row(row) for row in rows]
