"""Traversal: one step over hyperedges from many nodes at once; the walk itself is `knowledge.graph.neighbourhood`."""

from __future__ import annotations

import functools
import itertools
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

from hyperloci.model.kinds import SYMMETRIC_LABELS, NodeKey, list_labels_of
from hyperloci.store.json_keys import encode_keys
from hyperloci.system.values import dataclass

MAX_STEPS: Final = 10_000
"""Rows read for one level at most, surest first: a hub with a million mentions must not stop the rest."""

OUTWARD: Final = "out"
INWARD: Final = "in"
BOTH_WAYS: Final = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationStep:
    """A hyperedge crossed from one node to another; `direction` is out, in or both (it has none)."""

    source: NodeKey
    target: NodeKey
    label: str
    direction: str
    confidence: float
    automatic: bool


class Crossing(NamedTuple):
    """A hyperedge crossed from one node to another; a tuple, since walks make hundreds of thousands."""

    source: NodeKey
    target: NodeKey
    edge: int


_CROSSING: Final[Callable[[tuple[Any, ...]], Crossing]] = functools.partial(tuple.__new__, Crossing)
"""A row as a crossing, without a call of Python's: `_make` is a quarter of a walk's time."""

_SUBJECT_ROLES: Final = "('subject', 'cause')"

# CROSS JOIN keeps SQLite from starting at the larger table.
_MEMBERSHIPS: Final = f"""
SELECT h.key AS edge, h.label, h.confidence, h.automatic, m.node_key AS source,
       max(m.role IN {_SUBJECT_ROLES}) AS speaks,
    max(m.role NOT IN {_SUBJECT_ROLES}) AS listens
FROM json_each(?1) j CROSS JOIN membership m ON m.node_key = j.value CROSS JOIN hyperedges h ON h.key = m.hyperedge_key
WHERE ?2 IS NULL OR h.label IN (SELECT value FROM json_each(?2))
GROUP BY h.key, j.key ORDER BY h.confidence DESC, h.key, j.key LIMIT ?3
"""

_SELECT_DIRECTED: Final = f"""
SELECT j.value FROM json_each(?1) j
WHERE EXISTS (SELECT 1 FROM membership m WHERE m.hyperedge_key = j.value AND m.role IN {_SUBJECT_ROLES})
"""

_LINKED: Final = """
SELECT j.value FROM json_each(?1) j WHERE EXISTS (
    SELECT 1 FROM membership m CROSS JOIN hyperedges h ON h.key = m.hyperedge_key
    WHERE m.node_key = j.value AND h.label IN (SELECT value FROM json_each(?2)))
"""

_MEMBERS: Final = f"""
SELECT m.hyperedge_key, m.node_key FROM json_each(?1) j CROSS JOIN membership m ON m.hyperedge_key = j.value
CROSS JOIN nodes n ON n.key = m.node_key
WHERE n.deleted_at IS NULL AND (?2 IS NULL OR (m.role IN {_SUBJECT_ROLES}) = ?2)
    AND (?3 IS NULL OR n.scope_key IN (SELECT s.key FROM json_each(?3) w JOIN scopes s ON s.id = w.value))
LIMIT ?4
"""


_SYMMETRIC: Final = ", ".join(f"'{label}'" for label in sorted(SYMMETRIC_LABELS))


# The forgotten are few: to look among them takes three quarters of the time that looking at each node's own row does.
# Whether there are any at all, SQLite asks once a statement: in most memories nothing is withheld.
_MAY_BE_SHOWN: Final = (
    "(NOT EXISTS (SELECT 1 FROM nodes INDEXED BY idx_nodes_forgotten WHERE deleted_at IS NOT NULL)"
    " OR NOT EXISTS (SELECT 1 FROM nodes d INDEXED BY idx_nodes_forgotten"
    " WHERE d.key = b.node_key AND d.deleted_at IS NOT NULL))"
    " AND (NOT EXISTS (SELECT 1 FROM withheld)"
    " OR NOT EXISTS (SELECT 1 FROM withheld w WHERE w.node_key = b.node_key))"
)


def _crossings_query(direction: str) -> str:
    """Return the query for one direction; what joins all its members both ways is crossed by any.

    Whether it does is asked once a hyperedge (`k`), not once a member: a fifth of the time.
    """
    speaks, heard = f"a.role IN {_SUBJECT_ROLES}", f"b.role IN {_SUBJECT_ROLES}"
    one_way = {
        OUTWARD: f"{speaks} AND NOT {heard}",
        INWARD: f"{heard} AND NOT {speaks}",
        BOTH_WAYS: f"({speaks}) <> ({heard})",
    }
    return f"""
    SELECT a.node_key, b.node_key, h.key FROM json_each(?1) j CROSS JOIN membership a ON a.node_key = j.value
    CROSS JOIN hyperedges h ON h.key = a.hyperedge_key
    CROSS JOIN json_each(CASE WHEN h.label IN ({_SYMMETRIC}) OR NOT EXISTS (
        SELECT 1 FROM membership c WHERE c.hyperedge_key = h.key AND c.role IN {_SUBJECT_ROLES}
    ) THEN '[1]' ELSE '[0]' END) k
    CROSS JOIN membership b ON b.hyperedge_key = h.key
    WHERE b.node_key <> a.node_key AND (?2 IS NULL OR h.label IN (SELECT value FROM json_each(?2)))
        AND (k.value OR {one_way[direction]}) AND {_MAY_BE_SHOWN}
        AND (?3 IS NULL OR (SELECT n.scope_key FROM nodes n WHERE n.key = b.node_key)
            IN (SELECT s.key FROM json_each(?3) w JOIN scopes s ON s.id = w.value))
    LIMIT ?4
    """


def _encode_labels(label: str | None) -> str | None:
    return None if label is None else json.dumps(list_labels_of(label))


_CROSSINGS: Final = {direction: _crossings_query(direction) for direction in (OUTWARD, INWARD, BOTH_WAYS)}

_Side = bool | None
"""Which members of a hyperedge a step goes to: who speaks (True), the others (False), all (None)."""

_DIRECTIONS: Final[dict[_Side, str]] = {False: OUTWARD, True: INWARD, None: BOTH_WAYS}


class Traversal:
    """Steps over the hyperedges of one database; forgotten nodes are never stepped on.

    Who speaks (subject, cause) points to what is spoken of (object, effect, participant, context). Symmetric labels,
    and hyperedges in which nobody speaks, join all their members both ways; members of one rank are otherwise no
    neighbours.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_steps(
        self,
        sources: Collection[int],
        *,
        label: str | None = None,
        direction: str = BOTH_WAYS,
        scopes: Sequence[str] = (),
        from_each: bool = False,
    ) -> list[RelationStep]:
        """Return the steps from any of `sources`, surest first, then by the age of the hyperedge and the target's key.

        Args:
            sources: keys of nodes; where several are in one hyperedge, each target is reached from the first of them.
            label: only over hyperedges with this label, or one of its kind (`kinds.LABEL_FAMILIES`).
            direction: out, in or both; hyperedges without a direction are crossed by any.
            scopes: only to nodes of these scopes; empty is every scope.
            from_each: each target is reached from each of `sources` instead, and the steps come source by source.
        """
        places = {source: place for place, source in enumerate(sources)} if from_each else {}
        ways: dict[tuple[int, _Side], list[sqlite3.Row]] = {}
        for row, side in self._find_ways(sources, label):
            if direction in (BOTH_WAYS, _DIRECTIONS[side]) or side is None:
                ways.setdefault((row["edge"], side), []).append(row)
        # Only of sides that are gone to: most memories have no relation of a label, and a search asks for each.
        members = {
            side: self._members_on_side([edge for edge, other in ways if other is side], side, scopes)
            for side in {side for _, side in ways}
        }
        steps = [
            (row, _make_step(row, target, side))
            for (edge, side), rows in ways.items()
            for target in members[side].get(edge, ())
            for row in itertools.islice((row for row in rows if row["source"] != target), None if from_each else 1)
        ]
        steps.sort(
            key=lambda item: (places.get(item[1].source, 0), -item[1].confidence, item[0]["edge"], item[1].target)
        )
        return [step for _, step in steps]

    def _find_ways(self, sources: Collection[int], label: str | None) -> Iterator[tuple[sqlite3.Row, _Side]]:
        """Yield the sources' memberships, each with the members that it leads to."""
        rows = self._connection.execute(
            _MEMBERSHIPS, (encode_keys(sources), _encode_labels(label), MAX_STEPS)
        ).fetchall()
        spoken = {row["edge"] for row in rows if row["speaks"]}
        asked = sorted({row["edge"] for row in rows} - spoken)
        if asked:
            spoken |= {row[0] for row in self._connection.execute(_SELECT_DIRECTED, (json.dumps(asked),))}
        for row in rows:
            if row["label"] in SYMMETRIC_LABELS or row["edge"] not in spoken:
                yield row, None
                continue
            if row["speaks"]:
                yield row, False
            if row["listens"]:
                yield row, True

    def _members_on_side(self, edges: Sequence[int], side: _Side, scopes: Sequence[str]) -> dict[int, list[NodeKey]]:
        """Return the living members of hyperedges on one side; the hyperedges are read in their order up to the cap."""
        found: dict[int, list[NodeKey]] = {}
        wanted = json.dumps(list(scopes)) if scopes else None
        for edge, node in self._connection.execute(_MEMBERS, (json.dumps(edges), side, wanted, MAX_STEPS)):
            found.setdefault(edge, []).append(NodeKey(node))
        return {edge: list(dict.fromkeys(nodes)) for edge, nodes in found.items()}

    def iterate_crossings(
        self,
        sources: Iterable[int],
        *,
        label: str | None = None,
        direction: str = BOTH_WAYS,
        scopes: Sequence[str] = (),
        limit: int = MAX_STEPS,
    ) -> Iterator[Crossing]:
        """Yield which living nodes lie across one hyperedge, as (source, target, hyperedge), by source and age.

        A faster variant of `find_steps` for walks over many nodes: no order by confidence, from every source. Rows are
        read on demand: a walk that has enough leaves the rest of a hub unread.

        Args:
            sources: keys of nodes.
            label, direction, scopes: as in `find_steps`.
            limit: crossings read at most.
        """
        with closing(self._connection.cursor()) as cursor:
            cursor.row_factory = None
            cursor.execute(
                _CROSSINGS[direction],
                (
                    encode_keys(sources),
                    _encode_labels(label),
                    json.dumps(list(scopes)) if scopes else None,
                    limit,
                ),
            )
            yield from map(_CROSSING, cursor)

    def find_linked(self, keys: Iterable[int], label: str) -> set[NodeKey]:
        """Return which of some nodes are in any hyperedge with this label, whatever else is in it."""
        asked = encode_keys(keys)
        return {NodeKey(row[0]) for row in self._connection.execute(_LINKED, (asked, _encode_labels(label)))}

    def has_label(self, label: str) -> bool:
        """Return whether any hyperedge has this label."""
        row = self._connection.execute("SELECT 1 FROM hyperedges WHERE label = ? LIMIT 1", (label,)).fetchone()
        return row is not None

    def list_labels(self) -> list[str]:
        """Return the labels in use, in alphabetical order."""
        return [row[0] for row in self._connection.execute("SELECT DISTINCT label FROM hyperedges ORDER BY label")]


def _make_step(row: sqlite3.Row, target: NodeKey, side: _Side) -> RelationStep:
    return RelationStep(
        source=NodeKey(row["source"]),
        target=target,
        label=row["label"],
        direction=_DIRECTIONS[side],
        confidence=row["confidence"],
        automatic=bool(row["automatic"]),
    )
