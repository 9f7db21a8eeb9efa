"""Hyperedges and their members (SPEC-02.11 to .16, .25, .26)."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal

from hyperloci.errors import BadRequestError
from hyperloci.model.edge import EdgeMember, Hyperedge
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, EdgeType, NodeKey, Role
from hyperloci.model.node import Node
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.random_ids import make_random_id
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True)
class StoredChange:
    """A commit that changed something: how sure that is, and how many snippets it changed at once."""

    commit: NodeKey
    confidence: float
    touched: int


class Edges:
    """The hyperedges of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def create_edge(
        self,
        label: str,
        members: Sequence[EdgeMember],
        *,
        now: int,
        type: EdgeType | None = None,
        weight: float = 1.0,
        confidence: float = 1.0,
        automatic: bool = False,
        evidence: str | None = None,
    ) -> Hyperedge:
        """Join nodes in a new hyperedge (SPEC-02.25); its type follows from the label unless given.

        Raises:
            BadRequestError: fewer than two members, a weight below 0, or a confidence outside 0..1.
        """
        # A memory counts once in a role, in the first place it was given.
        once: dict[tuple[NodeKey, Role], EdgeMember] = {}
        for member in members:
            once.setdefault((member.node, member.role), member)
        members = list(once.values())
        if len(members) < 2:
            raise BadRequestError(f"members has {len(members)} entries: a relation joins at least two memories.")
        if not 0.0 <= weight < math.inf:
            raise BadRequestError(f"weight={weight} must be 0 or above.")
        if not 0.0 <= confidence <= 1.0:
            raise BadRequestError(f"confidence={confidence} is outside 0..1.")
        edge = Hyperedge(
            key=0,
            id=make_random_id(),
            type=type or EDGE_TYPE_OF_LABEL.get(label, EdgeType.RELATION),
            label=label,
            weight=weight,
            confidence=confidence,
            automatic=automatic,
            evidence=evidence,
            created_at=now,
            confirmed_at=None,
            members=tuple(members),
        )
        cursor = self._connection.execute(
            "INSERT INTO hyperedges(id, type, label, weight, confidence, automatic, evidence, created_at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (edge.id, edge.type, label, weight, confidence, automatic, evidence, now),
        )
        self._connection.executemany(
            "INSERT INTO membership(hyperedge_key, node_key, role, position) VALUES (?, ?, ?, ?)",
            [(cursor.lastrowid, member.node, member.role, member.position) for member in members],
        )
        return replace(edge, key=int(cursor.lastrowid or 0))

    def link_nodes(
        self,
        label: str,
        subject: NodeKey,
        objects: Iterable[NodeKey],
        *,
        now: int,
        confidence: float = 1.0,
        automatic: bool = False,
        evidence: str | None = None,
    ) -> Hyperedge:
        """Join a subject to its objects, with the roles that the label asks for."""
        first, rest = _roles_of_label(label)
        members = [
            EdgeMember(subject, first),
            *(EdgeMember(node, rest, place) for place, node in enumerate(objects, start=1)),
        ]
        return self.create_edge(label, members, now=now, confidence=confidence, automatic=automatic, evidence=evidence)

    def delete_automatic(self, subject: NodeKey, labels: Sequence[str]) -> None:
        """Remove unconfirmed edges that rules made with `subject` as their first member, before rules run anew."""
        self._connection.execute(
            """
            DELETE FROM hyperedges WHERE automatic = 1 AND confirmed_at IS NULL
                AND label IN (SELECT value FROM json_each(?2)) AND key IN (
                    SELECT hyperedge_key FROM membership WHERE node_key = ?1 AND role IN ('subject', 'cause'))
            """,
            (subject, json.dumps(list(labels))),
        )

    def list_of_node(self, node: NodeKey, label: str | None = None) -> list[Hyperedge]:
        """Return the hyperedges a node takes part in, with all their members, oldest first."""
        rows = self._connection.execute(
            "SELECT h.* FROM membership m JOIN hyperedges h ON h.key = m.hyperedge_key"
            " WHERE m.node_key = ? AND (?2 IS NULL OR h.label = ?2) GROUP BY h.key ORDER BY h.key",
            (node, label),
        ).fetchall()
        members = self.get_members(row["key"] for row in rows)
        return [_edge_from_row(row, members.get(row["key"], ())) for row in rows]

    def get_edge(self, edge_id: str) -> Hyperedge | None:
        """Return a hyperedge by its id, or None."""
        row = self._connection.execute("SELECT * FROM hyperedges WHERE id = ?", (edge_id,)).fetchone()
        return _edge_from_row(row, self.get_members([row["key"]]).get(row["key"], ())) if row else None

    def list_unsettled(
        self, label: str, scopes: Sequence[str], limit: int, *, before: int | None = None
    ) -> list[Hyperedge]:
        """Return the hyperedges of a label whose members in some scopes all hold, newest first.

        A turn holds no longer once all that was made of it was replaced.

        Args:
            label: `contradicts` or `updates`.
            scopes: of the members.
            limit: at most so many.
            before: key of the last one of the page before.
        """
        rows = self._connection.execute(
            f"""
            SELECT h.* FROM hyperedges h WHERE h.label = ?1 AND (?2 IS NULL OR h.key < ?2) AND NOT EXISTS (
                SELECT 1 FROM membership m JOIN nodes n ON n.key = m.node_key WHERE m.hyperedge_key = h.key AND (
                    n.deleted_at IS NOT NULL OR n.valid_until IS NOT NULL OR {is_spent_turn("n")}
                    OR n.scope_key NOT IN (
                        SELECT s.key FROM json_each(?3) j JOIN scopes s ON s.id = j.value)))
            ORDER BY h.key DESC LIMIT ?4
            """,
            (label, before, json.dumps(list(scopes)), limit),
        ).fetchall()
        members = self.get_members(row["key"] for row in rows)
        return [_edge_from_row(row, members.get(row["key"], ())) for row in rows]

    def select_spent_turns(self, keys: Iterable[int]) -> frozenset[NodeKey]:
        """Return those of `keys` that are turns, and of which all that was made was replaced since."""
        rows = self._connection.execute(
            f"SELECT n.key FROM nodes n WHERE n.key IN (SELECT value FROM json_each(?)) AND {is_spent_turn('n')}",
            (encode_keys(keys),),
        )
        return frozenset(NodeKey(row[0]) for row in rows)

    def select_outdated_turns(self, keys: Iterable[int]) -> frozenset[NodeKey]:
        """Return those of `keys` that are turns, and of which something that was made was replaced since."""
        rows = self._connection.execute(
            "SELECT n.key FROM nodes n WHERE n.key IN (SELECT value FROM json_each(?))"
            f" AND {is_spent_turn('n', 'max')}",
            (encode_keys(keys),),
        )
        return frozenset(NodeKey(row[0]) for row in rows)

    def select_told_turns(self, keys: Iterable[int], told: Iterable[str]) -> frozenset[NodeKey]:
        """Return those of `keys` that are turns, and of which all that was made is among some memories, told by id."""
        is_told = _is_turn_whose_statements("n", "min(made.id IN (SELECT value FROM json_each(?2)))")
        rows = self._connection.execute(
            f"SELECT n.key FROM nodes n WHERE n.key IN (SELECT value FROM json_each(?1)) AND {is_told}",
            (encode_keys(keys), json.dumps(list(told))),
        )
        return frozenset(NodeKey(row[0]) for row in rows)

    def delete_edge(self, edge_id: str) -> bool:
        """Remove a hyperedge; False if there is none."""
        return self._connection.execute("DELETE FROM hyperedges WHERE id = ?", (edge_id,)).rowcount > 0

    def list_changes(self, nodes: Iterable[int], scopes: Sequence[str] = ()) -> list[StoredChange]:
        """Return the living commits that changed any of these snippets, each once, in the order of their keys."""
        rows = self._connection.execute(
            """
            SELECT s.node_key, max(h.confidence), max((
                SELECT count(*) FROM membership x WHERE x.hyperedge_key = h.key AND x.role = 'effect'))
            FROM json_each(?1) j CROSS JOIN membership o ON o.node_key = j.value AND o.role = 'effect'
            CROSS JOIN hyperedges h ON h.key = o.hyperedge_key AND h.label = 'changed'
            CROSS JOIN membership s ON s.hyperedge_key = h.key AND s.role = 'cause'
            CROSS JOIN nodes n ON n.key = s.node_key
            WHERE n.deleted_at IS NULL AND n.valid_until IS NULL
                AND (?2 = '[]' OR n.scope_key IN (SELECT c.key FROM json_each(?2) w JOIN scopes c ON c.id = w.value))
            GROUP BY s.node_key ORDER BY s.node_key
            """,
            (encode_keys(nodes), json.dumps(list(scopes))),
        )
        return [StoredChange(NodeKey(row[0]), row[1], row[2]) for row in rows]

    def list_among(self, nodes: Iterable[int]) -> list[Hyperedge]:
        """Return the hyperedges that join at least two of these nodes, with all their members, surest first."""
        rows = self._connection.execute(
            """
            SELECT h.* FROM json_each(?1) j CROSS JOIN membership m ON m.node_key = j.value
            CROSS JOIN hyperedges h ON h.key = m.hyperedge_key
            GROUP BY h.key HAVING count(DISTINCT m.node_key) > 1 ORDER BY h.confidence DESC, h.key
            """,
            (encode_keys(nodes),),
        ).fetchall()
        members = self.get_members(row["key"] for row in rows)
        return [_edge_from_row(row, members.get(row["key"], ())) for row in rows]

    def ids_like(self, prefix: str, limit: int = 5, *, scopes: Sequence[str] = ()) -> list[str]:
        """Return ids of hyperedges that start with `prefix`; with a member in one of the scopes, if any are given."""
        rows = self._connection.execute(
            "SELECT h.id FROM hyperedges h WHERE h.id >= ?1 AND h.id < ?2 AND (?4 = '[]' OR EXISTS"
            " (SELECT 1 FROM membership m JOIN nodes n ON n.key = m.node_key JOIN scopes s ON s.key = n.scope_key"
            " WHERE m.hyperedge_key = h.key AND s.id IN (SELECT value FROM json_each(?4)))) ORDER BY h.id LIMIT ?3",
            (prefix, prefix + "\U0010ffff", limit, json.dumps(list(scopes))),
        )
        return [row[0] for row in rows]

    def get_members(self, edges: Iterable[int]) -> dict[int, tuple[EdgeMember, ...]]:
        """Return the members of each hyperedge, in their order."""
        found: dict[int, list[EdgeMember]] = {}
        for row in self._connection.execute(
            "SELECT * FROM membership WHERE hyperedge_key IN (SELECT value FROM json_each(?))"
            " ORDER BY hyperedge_key, position, node_key",
            (json.dumps(list(edges)),),
        ):
            member = EdgeMember(NodeKey(row["node_key"]), Role(row["role"]), row["position"])
            found.setdefault(row["hyperedge_key"], []).append(member)
        return {edge: tuple(members) for edge, members in found.items()}

    def list_related_nodes(self, node: NodeKey, edge_type: str | None = None) -> list[Node]:
        """Return the living nodes, without withheld ones, that share a hyperedge with this one (SPEC-02.26)."""
        rows = self._connection.execute(
            f"""
            {SELECT_NODE} WHERE n.deleted_at IS NULL AND {NOT_WITHHELD} AND n.key <> ?1 AND n.key IN (
                SELECT b.node_key FROM membership a JOIN membership b ON b.hyperedge_key = a.hyperedge_key
                JOIN hyperedges h ON h.key = a.hyperedge_key
                WHERE a.node_key = ?1 AND (?2 IS NULL OR h.type = ?2))
            ORDER BY n.key
            """,
            (node, edge_type),
        )
        return [node_from_row(row) for row in rows]

    def confirm_edge(self, edge_id: str, *, now: int) -> bool:
        """Mark an edge as right: it is never pruned; False if there is no such edge."""
        cursor = self._connection.execute(
            "UPDATE hyperedges SET confirmed_at = ?, confidence = 1.0 WHERE id = ?", (now, edge_id)
        )
        return cursor.rowcount > 0


def is_spent_turn(node: str, how: Literal["min", "max"] = "min") -> str:
    """Return the condition that a node, by its alias, is a turn, and that all that was made of it was replaced.

    With `how` "max": that something of it was.
    """
    return _is_turn_whose_statements(node, f"{how}(made.valid_until IS NOT NULL)")


def _is_turn_whose_statements(node: str, condition: str) -> str:
    """Return the condition that a node is a turn of which something was made, and that all of that (`made`) is so."""
    return f"""({node}.subtype = 'episode' AND coalesce((
        SELECT {condition} FROM membership said
        JOIN hyperedges origin ON origin.key = said.hyperedge_key AND origin.label = 'derived_from'
        JOIN membership subject ON subject.hyperedge_key = origin.key AND subject.role = 'subject'
        JOIN nodes made ON made.key = subject.node_key AND made.deleted_at IS NULL
        WHERE said.node_key = {node}.key AND said.role = 'object'), 0))"""


def _roles_of_label(label: str) -> tuple[Role, Role]:
    kind = EDGE_TYPE_OF_LABEL.get(label, EdgeType.RELATION)
    if kind is EdgeType.CAUSATION:
        return Role.CAUSE, Role.EFFECT
    if label in ("contradicts", "relates_to"):
        return Role.PARTICIPANT, Role.PARTICIPANT
    if label in ("contains", "mentions"):
        return Role.SUBJECT, Role.PARTICIPANT
    return Role.SUBJECT, Role.OBJECT


def _edge_from_row(row: sqlite3.Row, members: tuple[EdgeMember, ...]) -> Hyperedge:
    return Hyperedge(
        key=row["key"],
        id=row["id"],
        type=EdgeType(row["type"]),
        label=row["label"],
        weight=row["weight"],
        confidence=row["confidence"],
        automatic=bool(row["automatic"]),
        evidence=row["evidence"],
        created_at=row["created_at"],
        confirmed_at=row["confirmed_at"],
        members=members,
    )
