"""Pair judge: the probability that a new statement and an old one cannot both hold.

Shallow trees over the features of `pair_features`, learned from pairs written by hand (`bench train_contradictions`).
"""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.knowledge.contradictions.forest import Forest
from hyperloci.knowledge.contradictions.pair_features import find_clashing_figures, find_opposites, measure_pair
from hyperloci.knowledge.contradictions.rules import quote_words
from hyperloci.knowledge.contradictions.statement_profile import find_cue, profile_statement
from hyperloci.knowledge.logistic import to_probability
from hyperloci.system.values import dataclass

CONTRADICTION_GATE: Final = 0.66
"""Probability from which on a pair counts as a contradiction: 8 % false alarms among pairs of writers it has not read
(`bench train_contradictions`). What the rules find is among its features. Of statements that share a word and hold side
by side in one project it calls 1 % a contradiction; before it had learned from such, 6 %."""

SURE_GATE: Final = 0.77
"""Probability from which on a contradiction is stored: half the false alarms."""

INDEFINITE: Final = frozenset({"a", "an", "some", "two", "three", "several", "many", "there"})
"""A statement that begins so speaks of something or other: "a man rides" and "a woman rides" may both hold."""

GOING_ON: Final = frozenset({"is", "are", "was", "were"})
"""Before a word in `-ing` they tell what is going on: at another moment something else may be."""

GOING_ON_WITHIN: Final = 3
"""Words behind them, at most: `is not quickly riding`."""

SCENE_MOST: Final = 0.5
"""What two statements score at most where the rules find nothing and both are of something or other, or of what is
going on. Almost none of the pairs learned from are; without it 16 % of SICK's neutral pairs of captions are false
alarms, with it 2 %, and of the pairs of developers and of writers never read it changes none."""

CHANGES: Final = ("undone", "plan_off", "replaced", "ended")
"""Tables of cues that tell of a change, the most telling first."""

STAYING: Final = "plan_off"
"""The table whose cues tell how it stays, too."""


@dataclass(frozen=True, slots=True)
class _Model:
    read_row: Callable[[Mapping[str, float]], Sequence[float]]
    start: float
    forest: Forest


def score_contradictions(old: Sequence[str], new: str) -> list[float]:
    """Return for each of some statements the probability that it and a later one cannot both hold, 0..1."""
    return _score_pairs(old, new, [measure_pair(text, new) for text in old])


def score_contradiction(old: str, new: str) -> float:
    """Return the probability that a statement and a later one cannot both hold, 0..1."""
    return score_contradictions([old], new)[0]


def is_contradiction(score: float) -> bool:
    """Return whether a probability is enough to call two statements a contradiction."""
    return score >= CONTRADICTION_GATE


def is_change(old: str, new: str) -> bool:
    """Return whether a statement that contradicts an old one tells of a change: another value, or in so many words."""
    return find_clashing_figures(old, new) is not None or bool(_find_change(old, new))


def explain_contradiction(old: str, new: str) -> str:
    """Return in words what speaks for a contradiction of two statements."""
    a, b = profile_statement(old), profile_statement(new)
    shared = dict.fromkeys(word.lower for word in a.words if word.stem in a.stems & b.stems)
    topic = f"both are about {quote_words(list(shared))}" if shared else "both are about the same"
    figures, opposites = find_clashing_figures(old, new), find_opposites(a, b)
    if figures is not None:
        return f"{topic}; one says {figures[0]}, the other {figures[1]}"
    if opposites:
        return f'{topic}; one says "{opposites[0][0]}", the other "{opposites[0][1]}"'
    if change := _find_change(old, new):
        return f'{topic}; the newer says "{change}"'
    if a.negations % 2 != b.negations % 2:
        return f"{topic}; one of them denies it"
    return f"{topic}; what they say of it differs"


def _find_change(old: str, new: str) -> str:
    """Return the words of a statement that tell of a change, or nothing.

    What both say that stays ("keep", "won't") is no change; who says "moved to" of another thing tells of the next one.
    """
    for table in CHANGES:
        cue = find_cue(new, table)
        if len(cue) > len("not") and not (table == STAYING and _says_too(old, cue)):
            return cue
    return ""


def _says_too(text: str, cue: str) -> bool:
    return set(profile_statement(cue).row) <= set(profile_statement(text).row)


def _score_pairs(old: Sequence[str], new: str, measured: Sequence[Mapping[str, float]]) -> list[float]:
    """Return what the trees make of pairs' features; less where both are scenes."""
    scores = _score_features(measured)
    if not _is_scene(new):
        return scores
    return [
        min(score, SCENE_MOST) if _is_scene(text) and not _has_verdict(features) else score
        for text, features, score in zip(old, measured, scores, strict=True)
    ]


def _is_scene(text: str) -> bool:
    """Return whether a statement speaks of something or other, or tells what is going on."""
    words = [word.lower for word in profile_statement(text).words]
    return not INDEFINITE.isdisjoint(words[:1]) or any(
        word in GOING_ON and any(later.endswith("ing") for later in words[at + 1 : at + 1 + GOING_ON_WITHIN])
        for at, word in enumerate(words)
    )


def _has_verdict(features: Mapping[str, float]) -> bool:
    """Return whether the rules find a contradiction."""
    return any(features[f"rule_{kind}"] > 0 for kind in ("negation", "antonym", "value"))


def _score_features(measured: Sequence[Mapping[str, float]]) -> list[float]:
    if not measured:
        return []
    model = _load_model()
    rows = [model.read_row(features) for features in measured]
    return [to_probability(model.start + total) for total in model.forest.sum_leaves(rows)]


@functools.cache
def _load_model() -> _Model:
    read = json.loads((Path(__file__).parent / "data/pair_trees.json").read_text(encoding="utf-8"))
    return _Model(operator.itemgetter(*read["features"]), read["start"], Forest(read["trees"]))
