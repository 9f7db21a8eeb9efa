"""Neighbourhood: the memories related to one, by a walk over hyperedges, nearest first (D.02, E.13).

What is related to one piece of a symbol is related to the symbol: a function that is cut into several snippets has the
relations of them all, and is reached once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.errors import BadRequestError
from hyperloci.model.author import name_other
from hyperloci.model.edge import RelatedMemory
from hyperloci.model.kinds import EDGE_TYPE_OF_LABEL, MENTIONS, NodeKey, fold_label
from hyperloci.names import suggest_value
from hyperloci.store import Store
from hyperloci.store.memories.traversal import BOTH_WAYS, INWARD, OUTWARD, RelationStep, Traversal
from hyperloci.system.values import dataclass

ANY: Final = "any"
RELATIONSHIP: Final = "relationship"
DIRECTIONS: Final = (OUTWARD, INWARD, BOTH_WAYS)

MAX_NODES: Final = 2_000
"""Nodes visited at most: three unlimited steps reach half of a large graph."""


@dataclass(frozen=True, slots=True)
class _ReachedNode:
    """A symbol (or a memory that is none) that was reached: by which step, how far, how sure."""

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
    also: Sequence[NodeKey] = (),
    mentioning: Sequence[NodeKey] = (),
    named: str = RELATIONSHIP,
) -> list[RelatedMemory]:
    """Return the memories reached from `start`, ordered by distance, then the surest first, then by key.

    A memory's confidence is the product of the confidences on the surest of the shortest ways to it; its label and
    direction are those of the last hyperedge on that way. Forgotten memories are neither shown nor walked through,
    withheld ones are not shown.

    Args:
        store: the open store.
        start: key of the memory to begin at; never in the answer.
        relationship: a label, or `any`.
        direction: `out` from subject or cause to the rest, `in` the other way, `both`; symmetric relations are
            crossed either way.
        depth: hyperedges crossed at most, 1 or more.
        limit: how many to return at most.
        scopes: only memories of these scopes; empty is every scope.
        also: further memories to begin at, never in the answer either: the rest of a file.
        mentioning: what mentions `start`, an entity, as the first step inward; behind its other relations, in the
            order given. A mention is a row of its own and no hyperedge, so the walk can't find it.
        named: what the caller's caller knows `relationship` as, for an error about it.

    Raises:
        BadRequestError: an unknown relationship (the message lists those in use) or direction, or a depth below 1.
    """
    if direction not in DIRECTIONS:
        raise BadRequestError(f"direction={direction!r} is unknown: use one of {', '.join(DIRECTIONS)}.")
    if depth < 1:
        raise BadRequestError(f"depth={depth} is below 1.")
    traversal = store.traversal
    label = resolve_label(traversal, relationship, named)
    follows_mentions = direction != OUTWARD and label in (None, MENTIONS)
    mentions = [_step_to_mentioning(start, key) for key in mentioning] if follows_mentions else []
    order = {step.target: number for number, step in enumerate(mentions)}
    with store.snapshot():
        reached = _walk_levels(store, (start, *also), label, direction, depth, scopes, mentions)
        for key in store.withheld.select_withheld(reached):
            del reached[key]
        nearest = sorted(reached, key=lambda key: _place_of(reached[key], order))[:limit]
        found = [reached[key] for key in nearest]
        nodes = store.nodes.get_by_keys(item.step.target for item in found)
    asker = store.nodes.signature.asker
    return [
        RelatedMemory(
            node_id=node.id,
            node_key=item.step.target,
            content=node.content,
            label=item.step.label,
            direction=item.step.direction,
            distance=item.distance,
            confidence=item.confidence,
            automatic=item.step.automatic,
            source_key=item.step.source,
            author=name_other(node.author, node.origin, asker),
        )
        for item in found
        for node in [nodes[item.step.target]]
    ]


def _step_to_mentioning(entity: NodeKey, mentioning: NodeKey) -> RelationStep:
    return RelationStep(
        source=entity, target=mentioning, label=MENTIONS, direction=INWARD, confidence=1.0, automatic=True
    )


def _place_of(node: _ReachedNode, order: Mapping[NodeKey, int]) -> tuple[int, int, float, NodeKey]:
    """Return what orders reached memories: the nearest first, then relations by how sure, then mentions as given."""
    is_mention = node.distance == 1 and node.step.label == MENTIONS
    return node.distance, order.get(node.step.target, -1) if is_mention else -1, -node.confidence, node.step.target


def count_relations(store: Store, start: NodeKey, scopes: Sequence[str], also: Sequence[NodeKey] = ()) -> list[str]:
    """Return the relations of a memory with how many it has of each: `calls in 12`, the most first."""
    with store.snapshot():
        pieces = _list_pieces(store, (start, *also))
        steps = store.traversal.find_steps(pieces, scopes=scopes)
        first_of = _map_to_first(store, steps)
        hidden = store.withheld.select_withheld(step.target for step in steps)
    outside = [step for step in steps if step.target not in {*pieces, *hidden}]
    others = {(step.label, step.direction, first_of.get(step.target, step.target)) for step in outside}
    counts = Counter((label, direction) for label, direction, _ in others)
    return [f"{label} {direction} {count}" for (label, direction), count in counts.most_common()]


def resolve_label(traversal: Traversal, relationship: str, named: str = RELATIONSHIP) -> str | None:
    """Return the label that a relationship names, None for `any`; an error calls it as the argument is `named`.

    Raises:
        BadRequestError: it is unknown; the message lists those in use.
    """
    label = fold_label(relationship)
    if label == ANY:
        return None
    if label not in EDGE_TYPE_OF_LABEL and not traversal.has_label(label):
        used = traversal.list_labels()
        meant = suggest_value(label, EDGE_TYPE_OF_LABEL)
        told = f": {meant} " if meant.endswith("?") else f": {meant}; " if meant else "; "
        hint = f"these are in use: {', '.join(used)}" if used else "no relations are stored yet"
        raise BadRequestError(f"{named}={relationship!r:.80} is unknown{told}{hint}; 'any' follows all of them.")
    return label


def _walk_levels(
    store: Store,
    starts: Sequence[NodeKey],
    label: str | None,
    direction: str,
    depth: int,
    scopes: Sequence[str],
    mentions: Sequence[RelationStep],
) -> dict[NodeKey, _ReachedNode]:
    """Visit level by level, breadth first, at most MAX_NODES symbols, the surest of a level first.

    A symbol goes by its first piece, and is left by all of them. Mentions are steps of the first level, but for what
    a relation leads to as well.
    """
    reached: dict[NodeKey, _ReachedNode] = {}
    frontier = list(starts)
    inside: set[NodeKey] = set()
    came: dict[NodeKey, float] = {}
    for distance in range(1, depth + 1):
        pieces = _list_pieces(store, frontier)
        inside.update(pieces if distance == 1 else ())
        steps = store.traversal.find_steps(pieces, label=label, direction=direction, scopes=scopes)
        first_of = _map_to_first(store, steps)
        level: dict[NodeKey, _ReachedNode] = {}
        for step in steps:
            target = first_of.get(step.target, step.target)
            if target in inside or step.target in inside or target in reached:
                continue
            confidence = came.get(step.source, 1.0) * step.confidence
            known = level.get(target)
            if known is None or confidence > known.confidence:
                level[target] = _ReachedNode(step, distance, confidence)
        if distance == 1:
            level = {step.target: _ReachedNode(step, 1, 1.0) for step in mentions} | level
        # The surest first: from it the next level's nodes are reached where several share a hyperedge.
        frontier = sorted(level, key=lambda key: (-level[key].confidence, key))[: MAX_NODES - len(reached)]
        reached.update((key, level[key]) for key in frontier)
        if not frontier:
            break
        cut = store.symbols.find_pieces(frontier)
        came = {piece: level[key].confidence for key in frontier for piece in cut.get(key, (key,))}
    return reached


def _list_pieces(store: Store, keys: Sequence[NodeKey]) -> list[NodeKey]:
    """Return nodes with all pieces of the symbols that they are pieces of, each once, in their order."""
    cut = store.symbols.find_pieces(keys)
    return list(dict.fromkeys(piece for key in keys for piece in cut.get(key, (key,))))


def _map_to_first(store: Store, steps: Sequence[RelationStep]) -> dict[NodeKey, NodeKey]:
    """Return the first piece of each symbol that is cut and that a step leads to, by the piece it leads to."""
    cut = store.symbols.find_pieces({step.target for step in steps})
    return {key: pieces[0] for key, pieces in cut.items()}
