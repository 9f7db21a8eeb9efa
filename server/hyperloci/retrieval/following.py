"""From the best hits along their relations: what caused them, what came of them, what was said next (B.05)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.graph.related import related
from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.routing import Route, Strategy
from hyperloci.store import Store
from hyperloci.store.traversal import Traversal

FROM_BEST: Final = 3
"""Hits that a walk begins at: an answer beside a worse one is rarely the answer."""

REACHED: Final = 10
"""Memories taken from one walk, nearest first."""

PASSED_ON: Final = 0.7
"""What a memory inherits of the score of the one it was reached from, a step. It comes behind the hit itself and
before most of what only looks alike."""


def followed(
    store: Store, route: Route, scores: Mapping[NodeKey, float], scopes: Sequence[str]
) -> dict[NodeKey, float]:
    """Return the memories that a question's relations lead to from its best hits, with the score each inherits.

    Questions that name no direction (`when was ...`) follow nothing.
    """
    if route.strategy not in (Strategy.CAUSAL, Strategy.TEMPORAL) or route.direction == "both":
        return {}
    best = sorted(scores, key=lambda key: (-scores[key], key))[:FROM_BEST]
    known = Traversal(store.connection)
    labels = [follow for follow in route.follow if known.has_label(follow.label)]
    reached: dict[NodeKey, float] = {}
    for key in best:
        for follow in labels:
            for item in related(store, key, follow.label, follow.direction, route.depth, REACHED, scopes=scopes):
                inherited = scores[key] * item.confidence * PASSED_ON**item.distance
                reached[item.node_key] = max(inherited, reached.get(item.node_key, 0.0))
    return reached
