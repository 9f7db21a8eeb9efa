"""Fusion: one order out of the lists of several spaces, by ranks alone (B.06, E.07).

Reciprocal ranks are safe against any scale of scores; the pipeline fuses its third stage so, and `fusion = "rrf"` all
searches. Calibrated scores (`scoring`) say more where they can be trusted. Vectors themselves are never fused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from hyperloci.config import Settings
from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.space_weights import AUTO, RANK_WEIGHTS
from hyperloci.spaces.space import SPACES, SpaceCategory

K = TypeVar("K")

RRF_K: Final = 60
"""B.06: the higher, the less ranks differ (Cormack et al. 2009 chose 60)."""

OTHER_SPACE: Final = 0.05
"""What a space counts that a profile does not name: the least that any does."""


def reciprocal_rank_fusion(
    lists: Mapping[str, Sequence[K]], weights: Mapping[str, float] | None = None, *, k: int = RRF_K
) -> dict[K, float]:
    """Return the weighted sum of 1 / (k + rank) over the lists, best rank 1; a list without a weight has 1."""
    fused: dict[K, float] = {}
    for name, ranked in lists.items():
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        for rank, item in enumerate(ranked, start=1):
            fused[item] = fused.get(item, 0.0) + weight / (k + rank)
    return fused


def fuse_spaces(
    spaces: Mapping[str, Mapping[NodeKey, float]], profile: str, settings: Settings
) -> dict[NodeKey, float]:
    """Return the weighted reciprocal ranks of memories that several spaces scored, as a share of the most possible.

    Temporal spaces order nothing unless the question speaks of time: they are in `spaces` only then.
    """
    weights = {space: rank_weight(space, profile, settings) for space in spaces}
    lists = {space: sorted(found, key=lambda key: (-found[key], key)) for space, found in spaces.items()}
    fused = reciprocal_rank_fusion(lists, weights, k=settings.rrf_k)
    most = sum(weights.values()) / (settings.rrf_k + 1)
    return {key: value / most for key, value in fused.items()} if most else fused


def rank_weight(space: str, profile: str, settings: Settings) -> float:
    """Return what one space's ranks count: its weight in the profile times the user's factor for its kind (B.20)."""
    named = RANK_WEIGHTS["semantic" if profile == AUTO else profile]
    factor = settings.rrf_weight_vector
    if space in ("e6", "e13"):
        factor = settings.rrf_weight_fts
    elif SPACES[space].category is SpaceCategory.RELATIONAL:
        factor = settings.rrf_weight_graph
    return named.get(space, OTHER_SPACE) * factor
