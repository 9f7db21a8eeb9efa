"""Statement scorer: how sure it is that a sentence is worth keeping, and what kind of statement it is (B.17).

A linear model over the features of `statement_features`: a logistic regression for "worth keeping", of the user's
sentences and of the assistant's apart, and one of the kinds after it. The weights are data (`data/worth_keeping.txt`,
`data/statement_kinds.txt`), trained by `python -m bench train_extraction` on sessions that were written for it
(`bench/data/sessions`); docs/sessions.md says how well it does on others, `python -m bench weights` prints the
heaviest.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from hyperloci.conversations.consolidation.findings import FindingKind
from hyperloci.conversations.consolidation.statement_features import read_kind_features
from hyperloci.conversations.consolidation.turn_view import ASSISTANT, USER
from hyperloci.knowledge.deadlines.due_dates import (
    is_mostly_dated,
    names_past_day,
    read_due_date,
    read_last_day,
)
from hyperloci.knowledge.logistic import to_probability
from hyperloci.knowledge.weight_table import WeightTable
from hyperloci.system.values import dataclass
from hyperloci.text.language.sentences import sentence_spans

_FOLDER: Final = Path(__file__).parent / "data"
WORTH_WEIGHTS: Final = _FOLDER / "worth_keeping.txt"
KIND_WEIGHTS: Final = _FOLDER / "statement_kinds.txt"

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

SURELY_DUE: Final = 0.65
"""Share of its kind from which on a statement that holds until a day is a deadline all the same, and openings
count down to it: `we have until 30 June` by .66 and more, of 12 that are labelled so; `no migrations until the
auditor leaves on 20 March` by .59 and less, of five that others' sessions have."""

SURELY_DEAD_END: Final = 0.5
"""Share of its kind from which on a statement is a dead end: likelier that than all else together. Who is told that
something failed leaves it alone, so a decision that is taken for one does harm: of 70 that were likeliest dead ends in
23 projects 43 are, of the four below .5 two."""

_SURE: Final = {
    FindingKind.USER_INFO: SURE_OF_USER,
    FindingKind.DEAD_END: SURE_OF_DEAD_END,
    FindingKind.DEADLINE: SURE_OF_DEADLINE,
}


@dataclass(frozen=True, slots=True)
class ScorerWeights:
    """A trained model: the weights of features, the intercept under ''.

    Attributes:
        worth: of a sentence's features (`read_features`), for its being worth keeping: a column for each speaker. The
            same place in a turn, or the same answer, says other things of the other's words.
        kinds: of a statement's features (`read_kind_features`): a column for each kind, by its name.
    """

    worth: WeightTable
    kinds: WeightTable

    def score(self, features: Iterable[str]) -> float:
        """Return how sure it is that a sentence with these features is worth keeping, 0..1."""
        found = frozenset(features)
        sums = dict(zip(self.worth.columns, self.worth.add_weights(("", *found)), strict=True))
        return to_probability(sums[ASSISTANT if f"who={ASSISTANT}" in found else USER])

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
        sums = self.kinds.add_weights(frozenset(("", *features)))
        odds = {FindingKind(kind): math.exp(log_odds) for kind, log_odds in zip(self.kinds.columns, sums, strict=True)}
        total = math.fsum(odds.values())
        return {kind: value / total for kind, value in odds.items()}


@functools.cache
def load_weights() -> ScorerWeights:
    """Return the trained weights."""
    return ScorerWeights(WeightTable(WORTH_WEIGHTS.read_bytes()), WeightTable(KIND_WEIGHTS.read_bytes()))


def _keep_deadlines(statement: str) -> str:
    """Return the sentences of a deadline that are one by themselves; all where none is.

    `Tomorrow: the API. The demo is on 11 December`: nothing is due tomorrow.
    """
    weights, sentences = load_weights(), [statement[start:end] for start, end in sentence_spans(statement)]
    if len(sentences) == 1:
        return statement
    kinds = [weights.choose_kind(tuple(read_kind_features(sentence))) for sentence in sentences]
    due = [sentence for sentence, kind in zip(sentences, kinds, strict=True) if kind is FindingKind.DEADLINE]
    return "\n".join(due) or statement


def choose_kind(statement: str, said_at: int) -> tuple[FindingKind, str | None]:
    """Return the kind of a statement, and of a deadline the day.

    What names only days that are past is no deadline. Nor is what holds until its day, or names a day beside other
    things that don't end with it, unless it surely is one by its words.
    """
    features, weights = tuple(read_kind_features(statement)), load_weights()
    kind = weights.choose_kind(features)
    if kind is FindingKind.DEAD_END and weights.weigh_kinds(features)[kind] < SURELY_DEAD_END:
        kind = weights.choose_kind(features, besides=(FindingKind.DEAD_END,))
    if kind is not FindingKind.DEADLINE:
        return kind, None
    due, last = read_due_date(_keep_deadlines(statement), said_at), read_last_day(statement, said_at)
    is_past = due is None and names_past_day(statement, said_at)
    holds_till_then = last is not None and (due is None or due[:10] <= last)
    is_sure = weights.weigh_kinds(features)[FindingKind.DEADLINE] >= SURELY_DUE
    if is_past or (not is_sure and (holds_till_then or not is_mostly_dated(statement))):
        return weights.choose_kind(features, besides=(FindingKind.DEADLINE,)), None
    return kind, due
