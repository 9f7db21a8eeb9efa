"""Replacement reading: the likeliest of what a statement may replace, read together with it (B.17)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from hyperloci.knowledge.cross_reading import PairScorer, read_together, to_odds
from hyperloci.knowledge.logistic import to_probability
from hyperloci.knowledge.successors import POSSIBLE_SUCCESSOR

READ_MOST: Final = 8
"""Statements, the likeliest, that are read together with a new one: some milliseconds each."""

READ_WEIGHT: Final = 0.3
"""How much the log-odds of that reading add to those of words and meaning: with writers left out average precision goes
from .526 to .554 with .25 to .5. Nothing else is added: with 0.5 more, four more past statements of 151 end, and eleven
more that hold (docs/benchmarks/changed-minds.md, "Read together")."""


def read_likeliest(
    scorer: PairScorer | None, new: str, olds: Sequence[str], scores: Sequence[float], wanted: Collection[int]
) -> list[float]:
    """Return the scores of older statements, of the likeliest together with what a model says that reads both.

    A reading that doubts what words and meaning hold possible keeps it from ending, and leaves it marked: of the marks
    in openings that are taken away otherwise more are right than of those that stay (docs/benchmarks/changed-minds.md,
    "A reading that doubts").

    Args:
        scorer: reads pairs; without one the scores stay.
        new: the newer statement, with what was answered.
        olds: the older ones.
        scores: how likely each is replaced, by words and meaning.
        wanted: the places of those that may be read.
    """
    likeliest = sorted(wanted, key=lambda at: (-scores[at], at))[:READ_MOST]
    readings = read_together(scorer, [(olds[at], new) for at in likeliest])
    joined = list(scores)
    for at, reading in zip(likeliest, readings or (), strict=False):
        together = to_probability(to_odds(scores[at]) + READ_WEIGHT * to_odds(reading))
        joined[at] = max(together, min(scores[at], POSSIBLE_SUCCESSOR))
    return joined
