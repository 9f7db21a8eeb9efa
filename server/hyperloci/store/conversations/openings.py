"""Openings: what a session begins with, as it was rendered ahead, and the memories that it is made of.

Triggers of the schema remove a rendered opening in the transaction that changes what it was made of.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.memories.edges import is_spent_turn
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredOpening:
    """An opening as it was rendered. Times are milliseconds since the epoch.

    Attributes:
        basis: what it depends on beside memories: the program's version and its settings.
        text: what is put before the assistant; '' for nothing.
        shown: ids of what is in it.
        session_key: the session that it calls the last one; None where it tells of none.
        made_at: when it was rendered.
        holds_until: when time alone makes it wrong; None where nothing does.
    """

    basis: str
    text: str
    shown: tuple[str, ...]
    session_key: int | None
    made_at: int
    holds_until: int | None


@dataclass(frozen=True, slots=True)
class Rivalry:
    """Two memories of which one may no longer hold.

    Attributes:
        edge_id: the relation's id.
        label: `updates`, or `contradicts`.
        newer: what updates; of a contradiction, one of the two.
        older: what may be replaced by it; of a contradiction, the other.
        reason: why; '' where none was given.
    """

    edge_id: str
    label: str
    newer: NodeKey
    older: NodeKey
    reason: str


class Openings:
    """The openings of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def get_opening(self, scope_id: str) -> StoredOpening | None:
        """Return the opening of a project as it was rendered ahead; None where there is none, or it is out of date."""
        row = self._connection.execute(
            "SELECT o.* FROM openings o JOIN scopes s ON s.key = o.scope_key WHERE s.id = ?", (scope_id,)
        ).fetchone()
        if row is None:
            return None
        return StoredOpening(
            basis=row["basis"],
            text=row["text"],
            shown=tuple(json.loads(row["shown"])),
            session_key=row["session_key"],
            made_at=row["made_at"],
            holds_until=row["holds_until"],
        )

    def put_opening(self, scope_id: str, opening: StoredOpening) -> None:
        """Keep a rendered opening. Render it in the same transaction, so that nothing changes in between."""
        self._connection.execute(
            "INSERT OR REPLACE INTO openings(scope_key, basis, text, shown, session_key, made_at, holds_until)"
            " SELECT key, ?, ?, ?, ?, ?, ? FROM scopes WHERE id = ?",
            (
                opening.basis,
                opening.text,
                json.dumps(opening.shown),
                opening.session_key,
                opening.made_at,
                opening.holds_until,
                scope_id,
            ),
        )

    def drop_openings(self, scope_key: int) -> None:
        """Remove what was rendered ahead for a project and quotes a memory that is tied to its code: that changed.

        What changes in the memories themselves does so by itself.
        """
        self._connection.execute(
            "DELETE FROM openings WHERE EXISTS (SELECT 1 FROM anchors WHERE scope_key = ?1)"
            " AND (scope_key = ?1 OR EXISTS (SELECT 1 FROM anchors a JOIN nodes n ON n.key = a.node_key"
            " WHERE a.scope_key = ?1 AND n.scope_key <> ?1))",
            (scope_key,),
        )

    def drop_openings_about(self, session_key: int) -> None:
        """Remove what was rendered ahead and calls a session the last one: that has ended."""
        self._connection.execute("DELETE FROM openings WHERE session_key = ?", (session_key,))

    def list_standing(self, subtypes: Iterable[str], scopes: Sequence[str], *, limit: int) -> list[Node]:
        """Return statements that hold, those remembered on purpose first, then the newest.

        Args:
            subtypes: the kinds wanted.
            scopes: whose.
            limit: at most so many.
        """
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.scope_key IN (SELECT key FROM scopes WHERE id IN (SELECT value FROM json_each(?1)))"
            " AND n.type IN ('fact', 'decision', 'experience')"
            " AND n.subtype IN (SELECT value FROM json_each(?2)) AND n.tier <> 'archive' AND n.deleted_at IS NULL"
            f" AND n.valid_until IS NULL AND {NOT_WITHHELD}"
            " ORDER BY n.origin = 'tool' DESC, n.created_at DESC, n.key DESC LIMIT ?3",
            (json.dumps(list(scopes)), json.dumps(sorted(subtypes)), limit),
        )
        return [node_from_row(row) for row in rows]

    def list_rivalries(self, keys: Iterable[int]) -> list[Rivalry]:
        """Return what contradicts these memories or may have replaced one of them, and still holds, newest first."""
        rows = self._connection.execute(
            f"""
            SELECT DISTINCT h.id, h.label, a.node_key AS newer, b.node_key AS older, h.evidence, h.key
            FROM json_each(?) j CROSS JOIN membership m ON m.node_key = j.value
            JOIN hyperedges h ON h.key = m.hyperedge_key AND h.label IN ('updates', 'contradicts')
            JOIN membership a ON a.hyperedge_key = h.key JOIN membership b ON b.hyperedge_key = h.key
            JOIN nodes x ON x.key = a.node_key JOIN nodes y ON y.key = b.node_key
            WHERE CASE h.label WHEN 'updates' THEN a.role = 'subject' AND b.role = 'object'
                    ELSE a.node_key > b.node_key END
                AND x.deleted_at IS NULL AND x.valid_until IS NULL AND y.deleted_at IS NULL AND y.valid_until IS NULL
                AND NOT {is_spent_turn("x")} AND NOT {is_spent_turn("y")}
                AND x.key NOT IN (SELECT node_key FROM withheld) AND y.key NOT IN (SELECT node_key FROM withheld)
            ORDER BY h.key DESC
            """,
            (encode_keys(keys),),
        )
        return [
            Rivalry(row["id"], row["label"], NodeKey(row["newer"]), NodeKey(row["older"]), row["evidence"] or "")
            for row in rows
        ]

    def list_last_turns(self, session_key: int, limit: int) -> list[Node]:
        """Return the last living turns of a session, said and done, in their order."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.deleted_at IS NULL AND n.seq IS NOT NULL"
            f" AND n.type = 'experience' AND n.subtype IN ('episode', 'action') AND {NOT_WITHHELD}"
            " ORDER BY n.seq DESC, n.key DESC LIMIT ?",
            (session_key, limit),
        ).fetchall()
        return [node_from_row(row) for row in reversed(rows)]

    def list_outcomes(self, session_key: int, limit: int) -> list[Node]:
        """Return the living outcomes that were extracted from a session, the first ones."""
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ? AND n.subtype = 'outcome' AND n.deleted_at IS NULL"
            f" AND n.valid_until IS NULL AND {NOT_WITHHELD} ORDER BY n.key LIMIT ?",
            (session_key, limit),
        )
        return [node_from_row(row) for row in rows]
