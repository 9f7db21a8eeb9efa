"""Statement scorer: how sure it is that a sentence is worth keeping, and what kind of statement it is (B.17).

A linear model over the features of `statement_features`: a logistic regression for "worth keeping", one of the kinds
after it. The weights are data (`data/statement_scorer.json`), trained by `python -m bench train_extraction` on sessions
that were written for it (`bench/data/sessions`); docs/sessions.md says how well it does on others.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hyperloci.conversations.consolidation.findings import FindingKind

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "statement_scorer.json"

SURE_OF_CONTEXT: Final = 0.4
"""Log odds (probability .6) from which on a statement is kept with what it answers: on projects held out, 83 % of those
contexts are needed then, and 81 % of the needed ones are there."""

SURE_OF_USER: Final = 0.5
"""Probability from which on a statement is one about the user: every project sees those. Of general talk (BEAM) 38
of 111 that were taken for one were less sure, most of them about what was being worked on."""


@dataclass(frozen=True, slots=True)
class StatementScore:
    """What a sentence is worth.

    Attributes:
        probability: how sure it is worth keeping, 0..1.
        needs_context: whether it is likely understood only with the words that it answers.
    """

    probability: float
    needs_context: bool


@dataclass(frozen=True, slots=True)
class ScorerWeights:
    """A trained model: the intercept and the weight of each feature, for each thing that is decided."""

    keep: Mapping[str, float]
    context: Mapping[str, float]
    kinds: Mapping[FindingKind, Mapping[str, float]]

    def score(self, features: Iterable[str]) -> StatementScore:
        """Return the score of a sentence with these features."""
        names = ("", *features)  # The intercept has no name.
        return StatementScore(
            probability=1.0 / (1.0 + math.exp(-_add_weights(self.keep, names))),
            needs_context=_add_weights(self.context, names) > SURE_OF_CONTEXT,
        )

    def choose_kind(self, features: Iterable[str]) -> FindingKind:
        """Return the likeliest kind of a statement with these features (`read_kind_features`).

        One about the user must be surer: otherwise it is of the next likeliest kind.
        """
        odds = self.weigh_kinds(features)
        if odds.get(FindingKind.USER_INFO, 0.0) < SURE_OF_USER:
            odds.pop(FindingKind.USER_INFO, None)
        return max(odds, key=lambda kind: (odds[kind], kind))

    def weigh_kinds(self, features: Iterable[str]) -> dict[FindingKind, float]:
        """Return how likely a statement with these features is of each kind; together 1."""
        names = frozenset(("", *features))
        odds = {kind: math.exp(_add_weights(weights, names)) for kind, weights in self.kinds.items()}
        total = math.fsum(odds.values())
        return {kind: value / total for kind, value in odds.items()}


def _add_weights(weights: Mapping[str, float], names: Iterable[str]) -> float:
    return sum(weights.get(name, 0.0) for name in names)


@functools.cache
def load_weights() -> ScorerWeights:
    """Return the trained weights."""
    return parse_weights(json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8")))


def parse_weights(document: Mapping[str, Any]) -> ScorerWeights:
    """Return the weights in a document as the training writes it."""
    kinds = {FindingKind(name): weights for name, weights in document["kinds"].items()}
    return ScorerWeights(keep=document["keep"], context=document["context"], kinds=kinds)
