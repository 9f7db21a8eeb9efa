"""Adjacent turns: a question and its reply are about one thing, but often only one of them names it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate


def score_neighbours(nodes: Iterable[SearchCandidate], scores: Mapping[NodeKey, float]) -> dict[NodeKey, float]:
    """Return for each turn the higher score of the turns right before and after it in its session, 0 without any."""
    places = {
        (node.session_id, node.seq): scores[node.key] for node in nodes if node.session_id and node.seq is not None
    }
    return {
        node.key: max(places.get((node.session_id, node.seq + step), 0.0) for step in (-1, 1))
        for node in nodes
        if node.subtype == "episode" and node.session_id and node.seq is not None
    }
