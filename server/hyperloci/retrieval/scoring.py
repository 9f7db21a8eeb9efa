"""What a memory's score is made of, and how much each space counts.

The default is a fusion of calibrated scores: cosine and BM25, each scaled to its best in this search, weighted by the
kind of memory. Equal-weight reciprocal ranks lose up to ten points to their own best list (docs/benchmarks.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node

DENSE_WEIGHT: Final[Mapping[str, float]] = {
    "episode": 0.4,
    "code": 0.6,
    "markdown": 0.5,
}
"""How much meaning counts against exact words, by subtype."""

DENSE_WEIGHT_OTHER: Final = 0.5

PROFILES: Final[Mapping[str, float | None]] = {
    "auto": None,
    "semantic": 0.8,
    "code": 0.6,
    "causal": 0.6,
    "entity": 0.3,
    "intent": 0.7,
    "graph": 0.5,
}
"""The perspectives of E.14; a number replaces the weight by kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One memory's scores in one search. `cosine` and `bm25` are raw, `total` is 0..1; None where a space didn't find it."""

    cosine: float | None
    bm25: float | None
    total: float

    def by_space(self) -> dict[str, float]:
        """Return the raw score of each space that found the memory."""
        named = {"e1": self.cosine, "e6": self.bm25}
        return {name: round(value, 4) for name, value in named.items() if value is not None}

    def dominant(self) -> str:
        """Return the space that speaks most for this memory."""
        return "e1" if (self.cosine or 0.0) > 0.5 or self.bm25 is None else "e6"


def combine(
    keyword: Mapping[NodeKey, float],
    dense: Mapping[NodeKey, float] | None,
    nodes: Mapping[NodeKey, Node],
    *,
    profile: str,
) -> dict[NodeKey, Scores]:
    """Return the scores of every candidate.

    Args:
        keyword: BM25 by node.
        dense: cosine by node; None without vectors.
        nodes: the candidates.
        profile: a key of PROFILES.
    """
    best_keyword = max(keyword.values(), default=0.0)
    cosines = dense or {}
    low, high = (min(cosines.values()), max(cosines.values())) if cosines else (0.0, 0.0)
    scores = {}
    for key, node in nodes.items():
        weight = 0.0 if dense is None else _dense_weight(node, profile)
        cosine, bm25 = cosines.get(key), keyword.get(key)
        total = weight * _scaled(cosine, low, high) + (1 - weight) * _scaled(bm25, 0.0, best_keyword)
        scores[key] = Scores(cosine=cosine, bm25=bm25, total=total)
    return scores


def _dense_weight(node: Node, profile: str) -> float:
    fixed = PROFILES[profile]
    return DENSE_WEIGHT.get(node.subtype or "", DENSE_WEIGHT_OTHER) if fixed is None else fixed


def _scaled(value: float | None, low: float, high: float) -> float:
    if value is None or high <= low:
        return 0.0 if value is None or value < high else 1.0
    return max(0.0, (value - low) / (high - low))
