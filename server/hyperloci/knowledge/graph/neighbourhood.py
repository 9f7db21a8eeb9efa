"""Neighbourhood: the memories related to one, by a walk over hyperedges, nearest first (D.02, E.13)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.model.edge import RelatedMemory
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, NodeKey
from hyperloci.store import Store
from hyperloci.store.memories.traversal import BOTH_WAYS, INWARD, OUTWARD, RelationStep, Traversal

ANY: Final = "any"
DIRECTIONS: Final = (OUTWARD, INWARD, BOTH_WAYS)

MAX_NODES: Final = 2_000
"""Nodes visited at most: three unlimited steps reach half of a large graph."""


@dataclass(frozen=True, slots=True)
class _ReachedNode:
    step: RelationStep
    distance: int
    confidence: float


def find_related(
    store: Store,
    start: NodeKey,
    relationship: str = ANY,
    direction: str = BOTH_WAYS,
    depth: int = 1,
    limit: int = 10,
    *,
    scopes: Sequence[str] = (),
) -> list[RelatedMemory]:
    """Return the memories reached from `start`, ordered by distance, then the surest first, then by key.

    A memory's confidence is the product of the confidences on the surest of the shortest ways to it; its label and
    direction are those of the last hyperedge on that way. Forgotten memories are neither shown nor walked through.

    Args:
        store: the open store.
        start: key of the memory to begin at; never in the answer.
        relationship: a label, or `any`.
        direction: `out` from subject or cause to the rest, `in` the other way, `both`; symmetric relations are
            crossed either way.
        depth: hyperedges crossed at most, 1 or more.
        limit: how many to return at most.
        scopes: only memories of these scopes; empty is every scope.

    Raises:
        BadRequestError: an unknown relationship (the message lists those in use) or direction, or a depth below 1.
    """
    if direction not in DIRECTIONS:
        raise BadRequestError(f"direction={direction!r} is unknown: use one of {', '.join(DIRECTIONS)}.")
    if depth < 1:
        raise BadRequestError(f"depth={depth} is below 1.")
    traversal = store.traversal
    label = resolve_label(traversal, relationship)
    with store.snapshot():
        reached = _walk_levels(traversal, start, label, direction, depth, scopes)
        nearest = sorted(reached, key=lambda key: (reached[key].distance, -reached[key].confidence, key))[:limit]
        nodes = store.nodes.get_by_keys(nearest)
    return [
        RelatedMemory(
            node_id=nodes[key].id,
            node_key=key,
            content=nodes[key].content,
            label=reached[key].step.label,
            direction=reached[key].step.direction,
            distance=reached[key].distance,
            confidence=reached[key].confidence,
            automatic=reached[key].step.automatic,
        )
        for key in nearest
    ]


def resolve_label(traversal: Traversal, relationship: str) -> str | None:
    """Return the label that a relationship names, None for `any`.

    Raises:
        BadRequestError: it is unknown; the message lists those in use.
    """
    label = relationship.strip().lower().replace(" ", "_")
    if label == ANY:
        return None
    if label not in EDGE_TYPE_OF_LABEL and not traversal.has_label(label):
        used = traversal.list_labels()
        hint = f"these are in use: {', '.join(used)}" if used else "no relations are stored yet"
        raise BadRequestError(f"relationship={relationship!r:.80} is unknown; {hint}; 'any' follows all of them.")
    return label


def _walk_levels(
    traversal: Traversal, start: NodeKey, label: str | None, direction: str, depth: int, scopes: Sequence[str]
) -> dict[NodeKey, _ReachedNode]:
    """Visit level by level, breadth first, at most MAX_NODES nodes, the surest of a level first."""
    reached: dict[NodeKey, _ReachedNode] = {}
    frontier: list[NodeKey] = [start]
    for distance in range(1, depth + 1):
        level: dict[NodeKey, _ReachedNode] = {}
        for step in traversal.find_steps(frontier, label=label, direction=direction, scopes=scopes):
            if step.target == start or step.target in reached:
                continue
            before = reached[step.source].confidence if step.source in reached else 1.0
            known = level.get(step.target)
            if known is None or before * step.confidence > known.confidence:
                level[step.target] = _ReachedNode(step, distance, before * step.confidence)
        # The surest first: from it the next level's nodes are reached where several share a hyperedge.
        frontier = sorted(level, key=lambda key: (-level[key].confidence, key))[: MAX_NODES - len(reached)]
        reached.update((key, level[key]) for key in frontier)
        if not frontier:
            break
    return reached
