"""What a memory is related to: breadth first over hyperedges, nearest first (D.02, E.13)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.model.edge import Related
from hyperloci.model.kinds import SYMMETRIC_LABELS, NodeKey, Role
from hyperloci.store import Store
from hyperloci.store.traversal import Crossing, Traversal

MAX_NODES: Final = 2_000
"""Nodes reached at most: three unbounded hops are 57 % of a graph with hubs, and nobody reads that."""

MAX_CROSSINGS: Final = 20_000
"""Ways looked at a step: a hub has thousands."""

_SOURCES: Final = frozenset({Role.SUBJECT, Role.CAUSE})


def related(store: Store, start: NodeKey, relationship: str, direction: str, depth: int, limit: int) -> list[Related]:
    """Return the memories that relations join to `start`, by (distance, -confidence, key).

    Args:
        store: where they are.
        start: where the walk begins.
        relationship: a label, or `any`.
        direction: `out` from subject or cause to the others, `in` the other way round, `both`.
        depth: how many hyperedges to cross at most.
        limit: how many memories at most.

    Raises:
        BadRequestError: nobody uses this label.
    """
    traversal = Traversal(store.connection)
    label = _label(traversal, relationship)
    reached: dict[int, tuple[Crossing, str, int]] = {}
    frontier: list[int] = [start]
    for distance in range(1, depth + 1):
        found: dict[int, tuple[Crossing, str, int]] = {}
        for crossing, way in _ways(traversal.cross(frontier, label, MAX_CROSSINGS), direction):
            if crossing.target != start and crossing.target not in reached:
                found.setdefault(crossing.target, (crossing, way, distance))
        reached.update(found)
        frontier = sorted(found)
        if not frontier or len(reached) >= MAX_NODES:
            break
    return _values(store, reached, limit)


def _label(traversal: Traversal, relationship: str) -> str | None:
    if relationship == "any":
        return None
    labels = traversal.labels()
    if relationship not in labels:
        known = f"use any or one of {', '.join(labels)}" if labels else "there are no relations yet"
        raise BadRequestError(f"relationship={relationship!r:.80} is used by no relation: {known}.")
    return relationship


def _ways(crossings: list[Crossing], direction: str) -> Iterator[tuple[Crossing, str]]:
    for crossing in crossings:
        way = _way(crossing)
        if direction == "both" or way in ("both", direction):
            yield crossing, way


def _way(crossing: Crossing) -> str:
    """Return which way a crossing goes: `out` from a subject or cause, `in` towards one, `both` among equals."""
    here, there = Role(crossing.origin_role) in _SOURCES, Role(crossing.target_role) in _SOURCES
    if crossing.label in SYMMETRIC_LABELS or here == there:
        return "both"
    return "out" if here else "in"


def _values(store: Store, reached: dict[int, tuple[Crossing, str, int]], limit: int) -> list[Related]:
    order = sorted(reached, key=lambda key: (reached[key][2], -reached[key][0].confidence, key))[:limit]
    nodes = store.nodes.by_keys(order)
    return [
        Related(
            node_id=nodes[NodeKey(key)].id,
            node_key=NodeKey(key),
            content=nodes[NodeKey(key)].content,
            label=crossing.label,
            direction=way,
            distance=distance,
            confidence=crossing.confidence,
            automatic=crossing.automatic,
        )
        for key in order
        if NodeKey(key) in nodes
        for crossing, way, distance in [reached[key]]
    ]
