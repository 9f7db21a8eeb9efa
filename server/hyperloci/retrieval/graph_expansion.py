"""Graph expansion: further candidates along hyperedges (B.05).

From the best hits along their relations: what caused them, what came of them, what was said next. From the thing that
a question names: what is said of it without calling it so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.knowledge.graph.neighbourhood import find_related
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node, SearchCandidate
from hyperloci.retrieval.routing import GraphStrategy, Route
from hyperloci.retrieval.scoring import Ranking, Scores
from hyperloci.store import Store
from hyperloci.store.memories.entities import Entity, squash_name
from hyperloci.store.vectors.bits import BoolArray

EXPANSION_SEEDS: Final = 3
"""Hits that a walk begins at: an answer beside a worse one is rarely the answer."""

MAX_EXPANDED: Final = 10
"""Memories taken from one walk, nearest first."""

EXPANSION_DECAY: Final = 0.7
"""What a memory inherits of the score of the one it was reached from, a step. It comes behind the hit itself and
before most of what only looks alike."""

OTHER_NAME_BONUS: Final = 0.2
"""What is added to a memory that speaks of the thing asked about without calling it so, times how rarely it is spoken
of: about what its words would have counted, had they named it. Memories that name it have that already: a bonus for
all that mention it costs LoCoMo up to half a point (docs/why/retrieval.md)."""

MAX_MENTIONS: Final = 100
"""Memories that speak of a thing, the latest, of which `MAX_EXPANDED` at most are taken."""

_SPACES: Final = {
    GraphStrategy.TEMPORAL: "e4",
    GraphStrategy.CAUSAL: "e5",
    GraphStrategy.ENTITY: "e11",
    GraphStrategy.HYBRID: "e8",
}
"""The space that sees what a question follows: the order of turns, causes, what a thing is called, references."""

_TYPES: Final = tuple(kind for kind in NodeType if kind is not NodeType.ENTITY)


def expand_candidates(
    store: Store,
    route: Route,
    nodes: Mapping[NodeKey, SearchCandidate],
    scores: Mapping[NodeKey, Scores],
    allowed: BoolArray,
    scopes: Sequence[str],
) -> Ranking:
    """Add what the best candidates are related to as the question asks."""
    totals = {key: found.total for key, found in scores.items()}
    reached = expand_by_graph(store, route, totals, scopes)
    reached = {key: value for key, value in reached.items() if allowed[int(key)] and value > totals.get(key, 0.0)}
    all_nodes = {**nodes, **store.nodes.get_candidates(reached)}
    best = max(totals.values(), default=0.0)
    space = _SPACES[route.strategy]
    added = {key: _make_expanded_scores(scores.get(key), value, space, best) for key, value in reached.items()}
    all_scores = {**scores, **added}
    return all_nodes, all_scores


def _make_expanded_scores(known: Scores | None, total: float, space: str, best: float) -> Scores:
    """Return the scores of what a walk reached: of the space that it walked in, as a share of where it began."""
    spaces = dict(known.spaces) if known else {}
    spaces[space] = max(spaces.get(space, 0.0), min(1.0, total / best if best else 0.0))
    return Scores(spaces=spaces, parts={space: total}, total=total)


def expand_by_graph(
    store: Store, route: Route, scores: Mapping[NodeKey, float], scopes: Sequence[str]
) -> dict[NodeKey, float]:
    """Return the memories that a question leads to by the graph, with the score each has for it.

    Questions that name neither a direction (`when was ...`) nor a known thing follow nothing.
    """
    if route.strategy is GraphStrategy.ENTITY:
        return _expand_from_entities(store, route.entities, scores, scopes)
    if route.strategy not in (GraphStrategy.CAUSAL, GraphStrategy.TEMPORAL) or route.direction == "both":
        return {}
    best = sorted(scores, key=lambda key: (-scores[key], key))[:EXPANSION_SEEDS]
    labels = [follow for follow in route.relation_steps if store.traversal.has_label(follow.label)]
    reached: dict[NodeKey, float] = {}
    for key in best:
        for follow in labels:
            for item in find_related(
                store, key, follow.label, follow.direction, route.depth, MAX_EXPANDED, scopes=scopes
            ):
                inherited = scores[key] * item.confidence * EXPANSION_DECAY**item.distance
                reached[item.node_key] = max(inherited, reached.get(item.node_key, 0.0))
    return reached


def _expand_from_entities(
    store: Store, names: Sequence[str], scores: Mapping[NodeKey, float], scopes: Sequence[str]
) -> dict[NodeKey, float]:
    """Return what is said of the things with these names, where it doesn't name them."""
    keys = [key for scope in scopes if (key := store.scopes.find_key(scope)) is not None]
    total = store.keywords.count_texts()
    reached: dict[NodeKey, float] = {}
    for name in names:
        for entity in store.entities.find_by_name(name, keys)[:1]:
            added = OTHER_NAME_BONUS * _entity_rarity(entity, total)
            mentioned = store.entities.find_mentioning([entity.node_key], keys, types=_TYPES, limit=MAX_MENTIONS)
            nodes = store.nodes.get_by_keys(mentioned)
            unnamed = [key for key in mentioned if key in nodes and not _mentions_name(nodes[key], name)]
            # Those that answer best by themselves come first, then the latest.
            for key in sorted(unnamed, key=lambda key: -scores.get(key, 0.0))[:MAX_EXPANDED]:
                reached[key] = max(scores.get(key, 0.0) + added, reached.get(key, 0.0))
    return reached


def _entity_rarity(entity: Entity, total: int) -> float:
    """Return 1 for what one memory speaks of, 0 for what all do."""
    return max(0.0, 1.0 - math.log(max(1, entity.mention_count)) / math.log(max(2, total)))


def _mentions_name(node: Node, name: str) -> bool:
    return squash_name(name) in squash_name(node.content)
