"""Replacement scorer: how likely a new statement takes the place of an older one, or takes it back (B.17).

A linear model and shallow trees over what two statements share (`features`): what they say together is the
mean of their log-odds. There are two such models: one reads words alone, for what has just been said; the other also
the cosine of both statements in E1, which finds what is meant in other words. They are data
(`data/replacement_scorer.json`), trained by `python -m bench train_replacements` on sessions written for it.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

from hyperloci.conversations.consolidation.replacement.features import (
    ComparedStatement,
    WordRarity,
    compare_statements,
)
from hyperloci.conversations.consolidation.replacement.surroundings import NOTHING_HEARD, Surroundings
from hyperloci.knowledge.contradictions.forest import Forest
from hyperloci.knowledge.logistic import to_probability
from hyperloci.system.values import dataclass

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "replacement_scorer.json"

FAR: Final = -6.0
"""Log-odds of the linear model below which trees are not asked: with them it is nothing that is marked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacementModel:
    """A trained model.

    Attributes:
        weights: the linear model: the weight of each feature, the intercept under ''.
        features: those that the trees read, in their order.
        start: the log-odds before any tree.
        forest: what the trees add to them.
        actions: weights of what was done (`action_features`), which are added to what both say together.
    """

    weights: Mapping[str, float]
    features: tuple[str, ...]
    start: float
    forest: Forest
    actions: Mapping[str, float]

    @classmethod
    def of_document(cls, document: Mapping[str, Any]) -> Self:
        """Return the model in a document as the training writes it."""
        return cls(
            weights=document["weights"],
            features=tuple(document["features"]),
            start=document["start"],
            forest=Forest(document["trees"]),
            actions=document["actions"],
        )

    def estimate(self, rows: Sequence[Mapping[str, float]]) -> list[float]:
        """Return the probability for the features of each of some pairs (`compare_statements`)."""
        odds = [
            self.weights[""] + math.fsum(self.weights.get(name, 0.0) * value for name, value in row.items())
            for row in rows
        ]
        asked = [at for at, value in enumerate(odds) if value > FAR]
        if asked:
            features = [[rows[at].get(name, 0.0) for name in self.features] for at in asked]
            for at, leaves in zip(asked, self.forest.sum_leaves(features), strict=True):
                odds[at] = (odds[at] + self.start + leaves) / 2
        for at, row in enumerate(rows):
            odds[at] += math.fsum(weight * row.get(name, 0.0) for name, weight in self.actions.items())
        return [to_probability(value) for value in odds]


class ReplacementScorer:
    """Scores a new statement against living ones, by models without and with cosines."""

    def __init__(self, words: ReplacementModel, meaning: ReplacementModel) -> None:
        self._words = words
        self._meaning = meaning

    def score(
        self,
        new: ComparedStatement,
        living: Sequence[ComparedStatement],
        cosines: Sequence[float] | None = None,
        around: Surroundings = NOTHING_HEARD,
    ) -> list[float]:
        """Return for each living statement the probability that the new one replaces it or takes it back.

        Where cosines are known, meaning is asked alone; both are weighed in `replacements`.
        """
        rows = compare_statements(new, living, WordRarity.of([*living, new]), cosines, around)
        return (self._words if cosines is None else self._meaning).estimate(rows)


@functools.cache
def load_replacement_scorer() -> ReplacementScorer:
    """Return the trained scorer."""
    document = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return ReplacementScorer(**{name: ReplacementModel.of_document(model) for name, model in document.items()})
