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

Adjacent = dict[NodeKey, tuple[NodeKey | None, NodeKey | None]]
"""What was said right before and right after each, where that is among the candidates."""


def score_neighbours(nodes: Iterable[SearchCandidate], scores: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    """Return the higher score of what was said right before and after, 0 without any."""
    return {
        key: max([0.0, *(scores[other] for other in beside if other is not None)])
        for key, beside in find_adjacent(nodes).items()
    }


def find_adjacent(nodes: Iterable[SearchCandidate]) -> Adjacent:
    """Return the neighbours of each turn and each fact told on purpose.

    Turns have their place in their session. Facts told on purpose have the order in which they were stored.
    """
    listed = list(nodes)
    return _find_turns_beside(listed) | _find_facts_beside(listed)


def _find_turns_beside(nodes: list[SearchCandidate]) -> Adjacent:
    places = {(node.session_id, node.seq): node.key for node in nodes if node.session_id and node.seq is not None}
    return {
        node.key: (places.get((node.session_id, node.seq - 1)), places.get((node.session_id, node.seq + 1)))
        for node in nodes
        if node.subtype == "episode" and node.session_id and node.seq is not None
    }


def _find_facts_beside(nodes: list[SearchCandidate]) -> Adjacent:
    told = sorted(
        (node for node in nodes if node.type == NodeType.FACT and node.origin == Origin.TOOL), key=lambda node: node.key
    )
    before: dict[NodeKey, NodeKey] = {}
    after: dict[NodeKey, NodeKey] = {}
    for first, second in pairwise(told):
        if second.key - first.key <= MAX_FACT_KEYS and abs(second.event_time - first.event_time) <= ONE_OCCASION_MS:
            after[first.key], before[second.key] = second.key, first.key
    return {node.key: (before.get(node.key), after.get(node.key)) for node in told}
