"""Joining the lists of several spaces into one order.

Reciprocal ranks are safe against any scale of scores; calibrated scores say more where they can be trusted.
Vectors themselves are never fused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

K = TypeVar("K")

RRF_K = 60
"""B.06: the higher, the flatter the contribution of a rank (Cormack et al. 2009 chose 60)."""


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
