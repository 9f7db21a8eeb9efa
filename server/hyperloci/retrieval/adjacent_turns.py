"""Adjacent memories: a question and its reply are about one thing, but often only one of them names it.

So are facts that were told one after the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Final

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import ONE_OCCASION_MS, SearchCandidate

MAX_FACT_KEYS: Final = 3
"""Keys between two facts told one after the other: what they name for the first time stands between them. With more,
a fact that is not among the candidates would be skipped."""


def score_neighbours(nodes: Iterable[SearchCandidate], scores: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    """Return the higher score of what was said right before and after, 0 without any.

    Turns have their place in their session. Facts told on purpose have the order in which they were stored.
    """
    listed = list(nodes)
    return _score_turn_neighbours(listed, scores) | _score_fact_neighbours(listed, scores)


def _score_turn_neighbours(nodes: list[SearchCandidate], scores: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    places = {
        (node.session_id, node.seq): scores[node.key] for node in nodes if node.session_id and node.seq is not None
    }
    return {
        node.key: max(places.get((node.session_id, node.seq + step), 0.0) for step in (-1, 1))
        for node in nodes
        if node.subtype == "episode" and node.session_id and node.seq is not None
    }


def _score_fact_neighbours(nodes: list[SearchCandidate], scores: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    told = sorted(
        (node for node in nodes if node.type == NodeType.FACT and node.origin == Origin.TOOL), key=lambda node: node.key
    )
    found = {node.key: 0.0 for node in told}
    for first, second in pairwise(told):
        if second.key - first.key <= MAX_FACT_KEYS and abs(second.event_time - first.event_time) <= ONE_OCCASION_MS:
            found[first.key] = max(found[first.key], scores[second.key])
            found[second.key] = max(found[second.key], scores[first.key])
    return found
