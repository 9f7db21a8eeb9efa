"""Statement scorer: how sure it is that a sentence is worth keeping, and what kind of statement it is (B.17).

A linear model over the features of `statement_features`: a logistic regression for "worth keeping", one of the kinds
after it. The weights are data (`data/statement_scorer.json`), trained by `python -m bench train_extraction` on sessions
that were written for it (`bench/data/sessions`); docs/sessions.md says how well it does on others.
"""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.knowledge.logistic import add_weights, weigh_names
from hyperloci.system.values import dataclass

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "statement_scorer.json"

SURE_OF_USER: Final = 0.5
"""Probability from which on a statement is one about the user: every project sees those. Of general talk (BEAM) 38
of 111 that were taken for one were less sure, most of them about what was being worked on."""


SURE_OF_DEAD_END: Final = 0.45
"""The same for a dead end, which warns the next session off. In cross-validation over projects half of the statements
that were likeliest one are none; of those that pass three in four are, and one in eight is lost as one (it is kept all
the same, as what is likeliest next)."""

SURE_OF_DEADLINE: Final = 0.4
"""The same for a deadline, which ends with its day. In cross-validation over writers 4 of 18 that are likeliest one and
less sure are; from .4 to .65 44 of 78, above 268 of 302."""

_SURE: Final = {
    FindingKind.USER_INFO: SURE_OF_USER,
    FindingKind.DEAD_END: SURE_OF_DEAD_END,
    FindingKind.DEADLINE: SURE_OF_DEADLINE,
}


@dataclass(frozen=True, slots=True)
class ScorerWeights:
    """A trained model: the intercept and the weight of each feature, for each thing that is decided."""

    keep: Mapping[str, float]
    kinds: Mapping[FindingKind, Mapping[str, float]]

    def score(self, features: Iterable[str]) -> float:
        """Return how sure it is that a sentence with these features is worth keeping, 0..1."""
        return weigh_names(self.keep, features)

    def choose_kind(self, features: Iterable[str], *, besides: Collection[FindingKind] = ()) -> FindingKind:
        """Return the likeliest kind of a statement with these features (`read_kind_features`).

        One about the user, a dead end or a deadline must be surer: otherwise it is of the next likeliest kind.

        Args:
            features: its features.
            besides: kinds that it is not of.
        """
        odds = self.weigh_kinds(features)
        passing = {k: p for k, p in odds.items() if k not in besides and p >= _SURE.get(k, 0.0)}
        return max(passing, key=lambda kind: (passing[kind], kind))

    def weigh_kinds(self, features: Iterable[str]) -> dict[FindingKind, float]:
        """Return how likely a statement with these features is of each kind; together 1."""
        names = frozenset(("", *features))
        odds = {kind: math.exp(add_weights(weights, names)) for kind, weights in self.kinds.items()}
        total = math.fsum(odds.values())
        return {kind: value / total for kind, value in odds.items()}


@functools.cache
def load_weights() -> ScorerWeights:
    """Return the trained weights."""
    return parse_weights(json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8")))


def parse_weights(document: Mapping[str, Any]) -> ScorerWeights:
    """Return the weights in a document as the training writes it."""
    kinds = {FindingKind(name): weights for name, weights in document["kinds"].items()}
    return ScorerWeights(keep=document["keep"], kinds=kinds)
