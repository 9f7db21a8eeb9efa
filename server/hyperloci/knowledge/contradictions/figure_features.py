"""Figure features: whether the figures of two statements are the same, clash, or speak of different things."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.knowledge.contradictions.loose_figures import (
    COUNT,
    LooseFigure,
    are_equal_figures,
    read_loose_figures,
)

MOST: Final = 3.0
"""Counts end here: more says no more."""


def measure_loose_figures(old: str, new: str, cover: Mapping[str, float]) -> dict[str, float]:
    """Return the features of two statements' loose figures, by name.

    Args:
        old, new: the statements.
        cover: how far they share words: `covered_old`, `covered_new`, `covered_most` (0..1), `left_new`.
    """
    a, b = read_loose_figures(old), read_loose_figures(new)
    equal = [[are_equal_figures(x, y) for y in b] for x in a]
    same = any(map(any, equal))
    clashes = _find_clashes(a, b, equal)
    alike = [(x, y) for x, y in clashes if x.dimension != COUNT or x.thing == y.thing]
    alone = bool(clashes) and not same
    return {
        "loose_old": min(MOST, len(a)),
        "loose_new": min(MOST, len(b)),
        "loose_same": float(same),
        "loose_clash": min(2.0, len(clashes)),
        "loose_clash_alone": float(alone),
        "loose_clash_covered": alone * min(cover["covered_old"], cover["covered_new"]),
        "loose_clash_most": alone * cover["covered_most"],
        "loose_clash_left": alone * cover["left_new"],
        "loose_alike": min(2.0, len(alike)),
        "loose_alike_alone": float(bool(alike) and not same),
        "loose_points": float(any(x.is_point for x, _ in clashes)),
        "loose_other": float(bool(a and b) and not clashes and not same),
        "loose_lone": float(len(a) == 1 and len(b) == 1),
        "loose_lost": float(bool(a) and not b),
        "loose_added": float(bool(b) and not a),
    }


def _find_clashes(
    a: Sequence[LooseFigure], b: Sequence[LooseFigure], equal: Sequence[Sequence[bool]]
) -> list[tuple[LooseFigure, LooseFigure]]:
    """Return figures of one dimension, one of each statement, neither of which the other statement has.

    Args:
        a, b: the figures of both.
        equal: for each of `a` whether each of `b` may be the same.
    """
    left = [x for x, row in zip(a, equal, strict=True) if not any(row)]
    right = [y for at, y in enumerate(b) if not any(row[at] for row in equal)]
    return [(x, y) for x, y in itertools.product(left, right) if x.dimension == y.dimension]
