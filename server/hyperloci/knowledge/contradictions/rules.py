"""Contradiction rules: two statements contradict each other by denial, opposites or different values (D.10)."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.contradictions import sentence_match
from hyperloci.knowledge.contradictions.antonyms import has_opposite, pair_opposites
from hyperloci.knowledge.contradictions.claims import (
    AnalysedSentence,
    analyse_statements,
    search_needles,
    select_comparable_sentences,
)
from hyperloci.knowledge.contradictions.lexicon import stem_set
from hyperloci.knowledge.contradictions.polarity import Clause, Region, is_state_before
from hyperloci.knowledge.contradictions.quantities import Value, are_same_value
from hyperloci.knowledge.contradictions.words import Word
from hyperloci.model.answers import ContradictionKind, ContradictionNature
from hyperloci.system.values import dataclass
from hyperloci.text.language.vocabulary import vocabulary
from hyperloci.text.language.word_tables import word_set

DENIAL_GATE: Final = 0.6
"""Strength from which on a denial or an opposite counts; `bench.contradictions` shows what other gates give."""

VALUE_GATE: Final = 0.5
"""Another value for the same thing is plain once the things match; half of the smaller side's words must."""

NEVER_BONUS: Final = 0.25
"""`I have never used` denies every instance: one that shares a third of its words contradicts it."""

OTHER_SUBJECT: Final = 0.6
"""Factor for a denial about someone the other statement does not mention; it may still be the same thing renamed."""

ONLY_CHOICES: Final = 0.7
"""Strength of `we use npm` against `we use pnpm`: nothing but the choice itself is said."""

CHOICE_AND_MORE: Final = 0.5
"""The same where one side says a word more: `we use npm` against `the site uses pnpm`."""

TAKEN_UP_SHARED: Final = 2
"""Words that a statement must share with a dead end, unless the dead end has no more."""

CHANGE_SHARED: Final = 2
"""Words that a change and the old statement must share: `increased to 78%` alone fits everything."""

MIN_SIMILARITY: Final = 0.35
"""Below this cosine two texts are about different things, even if they share words."""


CHANGED: Final = re.compile(
    r"\b(?:no longer|any ?more|used to|since then|from now on|instead of|switched|migrated|replaced|renamed|stopped|"
    r"moved (?:away )?(?:from|to)|has been (?:removed|dropped|changed))\b|"
    r"(?<!\w)(?:больше не|теперь|перешли|заменили)(?!\w)",
    re.IGNORECASE,
)
"""Words that describe a change: a denial with one of these updates an older statement."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why two statements contradict each other, and how surely (0..1).

    `nature` is `update` where one is a newer state of what the other says: another value, or told as a change.
    """

    kind: ContradictionKind
    score: float
    reason: str
    nature: ContradictionNature = ContradictionNature.CONTRADICTION


CACHED_VERDICTS: Final = 200
"""Of one statement: a search finds thirty candidates, and each is asked for up to three times."""


class ContradictionJudge:
    """One statement, ready to be compared with many memories."""

    def __init__(self, statement: str) -> None:
        self.statement = statement
        self._sentences = analyse_statements(statement)
        self._about = frozenset[str]().union(*(sentence.about for sentence in self._sentences))
        self._needles = search_needles(self._sentences)
        self._compare = functools.lru_cache(CACHED_VERDICTS)(self._compare_anew)

    def compare_memory(self, candidate: str, similarity: float | None = None) -> Verdict | None:
        """Return the strongest reason why a memory's text contradicts the statement, or None.

        Args:
            candidate: the memory's text; one that was asked for before is not compared again.
            similarity: cosine of the two texts, where vectors are there.
        """
        return self._compare(candidate, similarity)

    def _compare_anew(self, candidate: str, similarity: float | None) -> Verdict | None:
        verdicts = [
            verdict
            for b in select_comparable_sentences(candidate, self._needles)
            for a in self._sentences
            if sentence_match.have_same_labels(a, b) and (verdict := _judge_sentences(a, b, similarity)) is not None
        ]
        best = max(verdicts, key=lambda verdict: verdict.score, default=None)
        return None if best is None else replace(best, nature=self._nature_of(best.kind, candidate))

    def _nature_of(self, kind: ContradictionKind, candidate: str) -> ContradictionNature:
        told_as_change = any(CHANGED.search(text) for text in (self.statement, candidate))
        return (
            ContradictionNature.UPDATE
            if kind is ContradictionKind.VALUE or told_as_change
            else ContradictionNature.CONTRADICTION
        )

    def compute_likeness(self, text: str) -> float:
        """Return how much of what both texts say is the same, 0..1; values are not compared."""
        mine, theirs = self._about, frozenset[str]().union(*(sentence.about for sentence in analyse_statements(text)))
        return len(mine & theirs) / math.sqrt(len(mine) * len(theirs)) if mine and theirs else 0.0

    def score_uptake(self, approach: str) -> float:
        """Return how likely the statement proposes what `approach` says, 0..1; 0 if it warns against it."""
        return max((_score_uptake(a, b) for a in self._sentences for b in analyse_statements(approach)), default=0.0)


def _score_uptake(a: AnalysedSentence, b: AnalysedSentence) -> float:
    warned = any(a.words[place].stem in stem_set("failure") for place in range(len(a.words)))
    asserted, tried = a.asserted, b.asserted
    frame = sentence_match.match_stems(a, b, asserted, tried)
    enough = len(frame.shared) >= TAKEN_UP_SHARED or frame.shared == tried
    opposed = not asserted & tried or tried & (a.about - asserted)
    return frame.likeness if enough and not warned and not opposed else 0.0


def find_verdict(statement: str, candidate: str, similarity: float | None = None) -> Verdict | None:
    """Return why a candidate text contradicts a statement, or None (D.10); see `ContradictionJudge`."""
    return make_judge(statement).compare_memory(candidate, similarity)


@functools.lru_cache(maxsize=16)
def make_judge(statement: str) -> ContradictionJudge:
    """Return a statement ready to be compared; one that was asked for a moment ago is ready already."""
    return ContradictionJudge(statement)


def _judge_sentences(a: AnalysedSentence, b: AnalysedSentence, similarity: float | None) -> Verdict | None:
    pairs = list(_find_opposites(a, b))
    if any((i in a.denied) != (j in b.denied) for i, j in pairs):
        return None  # "enabled" and "not disabled" agree
    return (
        _find_denial(a, b, similarity)
        or _judge_opposites(a, b, pairs, similarity)
        or _find_other_value(a, b, similarity)
    )


def _blend_similarity(strength: float, similarity: float | None) -> float:
    """Return the strength of a match in words, tempered by the likeness in meaning where that is known."""
    return strength if similarity is None else (strength + max(0.0, similarity)) / 2


# -- denial ------------------------------------------------------------------------------------------------------------


def _find_denial(a: AnalysedSentence, b: AnalysedSentence, similarity: float | None) -> Verdict | None:
    """Find what one sentence denies and the other asserts."""
    found = [
        verdict
        for one, other in ((a, b), (b, a))
        for clause in one.clauses
        if clause.negated and (verdict := _judge_denied_clause(one, other, clause, similarity)) is not None
    ]
    return max(found, key=lambda verdict: verdict.score, default=None)


def _judge_denied_clause(
    one: AnalysedSentence, other: AnalysedSentence, clause: Clause, similarity: float | None
) -> Verdict | None:
    denied = {one.words[place].stem for place in clause.places if one.words[place].topical}
    asserted = other.asserted
    also_denied = denied & other.about - asserted
    if not denied & asserted or len(also_denied) >= len(denied & asserted) or _values_differ(one, other):
        return None
    frame = sentence_match.match_stems(one, other, one.about if clause.phrase else denied, asserted)
    verbs = stem_set("verbs", "light")
    if frame.shared <= verbs and not denied <= verbs:
        return None  # "never written any Rust" and "written in Kotlin" share what was done, not to what
    strength = frame.likeness * (OTHER_SUBJECT if frame.other_subject else 1.0)
    score = _blend_similarity(strength, similarity) + (NEVER_BONUS if clause.sweeping and strength else 0.0)
    if score < DENIAL_GATE:
        return None
    words = quote_words(sentence_match.list_shared_words(one, frame))
    if clause.cue == "never" and any(word.lower == "always" for word in other.words):
        reason = f'both are about {words}; one says "never", the other "always"'
        return Verdict(ContradictionKind.ANTONYM, min(1.0, score), reason)
    return Verdict(
        ContradictionKind.NEGATION, min(1.0, score), f'both are about {words}; one of them denies it ("{clause.cue}")'
    )


def _values_differ(one: AnalysedSentence, other: AnalysedSentence) -> bool:
    """Return whether the denied values are others than those the other sentence states: `not 30 s`, `60 s`."""
    return any(
        not any(are_same_value(value, stated) for stated in others)
        for value in one.denied_values
        if (others := [stated for stated in other.values if stated.kind == value.kind])
    )


# -- opposites ---------------------------------------------------------------------------------------------------------


def _find_opposites(a: AnalysedSentence, b: AnalysedSentence) -> Iterator[tuple[int, int]]:
    """Yield the places of opposite words that speak of the same thing."""
    if a.stems.isdisjoint(b.stems):
        return
    for i, j in pair_opposites(a.opposable, b.opposable):
        if (
            a.words[i].stem not in b.stems
            and b.words[j].stem not in a.stems
            and _may_oppose(a, i, a.words[i])
            and _may_oppose(b, j, b.words[j])
            and sentence_match.compare_sentences(a, b, {i}, {j}).fit >= VALUE_GATE
        ):
            yield i, j


def _may_oppose(sentence: AnalysedSentence, at: int, word: Word) -> bool:
    """Return whether a word says something of the subject: what stands in the subject only tells it from others."""
    if sentence.regions[at] is Region.SUBJECT and any(place > at for place in sentence.verbs):
        return False
    if word.lower in word_set("clauses.states"):
        return at + 1 == len(sentence.words) or is_state_before(sentence.words[at + 1].lower)
    known = has_opposite(word.lower) or has_opposite(word.stem)
    return (word.topical or known) and word.lower not in word_set("clauses.negators")  # denying is `_find_denial`'s


def _judge_opposites(
    a: AnalysedSentence, b: AnalysedSentence, pairs: list[tuple[int, int]], similarity: float | None
) -> Verdict | None:
    if not pairs or (similarity is not None and similarity < MIN_SIMILARITY):
        return None
    frame = sentence_match.compare_sentences(a, b, {i for i, _ in pairs}, {j for _, j in pairs})
    score = _blend_similarity(frame.fit, similarity)
    if score < DENIAL_GATE:
        return None
    i, j = pairs[0]
    topic = quote_words(sentence_match.list_shared_words(a, frame))
    reason = f'both are about {topic}; one says "{a.words[i].text}", the other "{b.words[j].text}"'
    return Verdict(ContradictionKind.ANTONYM, min(1.0, score), reason)


# -- values ------------------------------------------------------------------------------------------------------------


def _find_other_value(a: AnalysedSentence, b: AnalysedSentence, similarity: float | None) -> Verdict | None:
    if similarity is not None and similarity < MIN_SIMILARITY:
        return None
    found = [
        verdict
        for kind in dict.fromkeys(value.kind for value in a.values)
        if (verdict := _compare_kind(a, b, kind, similarity)) is not None
    ]
    return max(found, key=lambda verdict: verdict.score, default=None)


def _compare_kind(a: AnalysedSentence, b: AnalysedSentence, kind: str, similarity: float | None) -> Verdict | None:
    left, right = _current_values(a, kind), _current_values(b, kind)
    if not left or not right or any(are_same_value(one, other) for one in left for other in right):
        return None
    frame = sentence_match.compare_sentences(a, b, _value_places(left), _value_places(right))
    strength = _value_strength(a, b, kind, frame)
    changed = _tells_change(a, left[0]) or _tells_change(b, right[0])
    if changed and strength < VALUE_GATE:
        frame = _match_changed_clauses(a, b, left, right)
        strength = frame.overlap
    if strength < VALUE_GATE:
        return None
    shared = sentence_match.list_shared_words(a, frame)
    topic = f"both are about {quote_words(shared)}" if shared else f"both name a {kind}"
    change = " (one of them describes a change)" if changed else ""
    reason = f"{topic}; one says {left[0].text}, the other {right[0].text}{change}"
    return Verdict(ContradictionKind.VALUE, min(1.0, _blend_similarity(strength, similarity)), reason)


def _current_values(sentence: AnalysedSentence, kind: str) -> list[Value]:
    """Return the values of a kind that hold: of `from 70% to 90%` the last."""
    found = [value for value in sentence.values if value.kind == kind]
    if len(found) > 1 and _tells_change(sentence, found[-1]):
        return [value for value in found if sentence.words[value.start - 1].lower == "to"] or found
    return found


def _value_strength(a: AnalysedSentence, b: AnalysedSentence, kind: str, frame: sentence_match.SentenceMatch) -> float:
    if kind not in vocabulary().families:
        return frame.fit
    if not stem_set("offering").isdisjoint({*a.topics, *b.topics}):
        return 0.0  # "supports YAML" and "supports TOML" hold both
    if frame.sizes == (0, 0):
        return ONLY_CHOICES
    if 0 in frame.sizes:
        return CHOICE_AND_MORE if max(frame.sizes) == 1 else 0.0
    return frame.fit


def _match_changed_clauses(
    a: AnalysedSentence, b: AnalysedSentence, left: list[Value], right: list[Value]
) -> sentence_match.SentenceMatch:
    """Match clause with clause: who tells of a change adds when and why, which the old statement did not have."""
    without_a, without_b = _value_places(left), _value_places(right)
    found = [
        sentence_match.match_stems(a, b, stems_a, stems_b, without_a, without_b)
        for stems_a in _candidate_stems(a, left[0], without_a)
        for stems_b in _candidate_stems(b, right[0], without_b)
    ]
    fit = [frame for frame in found if len(frame.shared) >= CHANGE_SHARED and not frame.other_subject]
    return max(fit or [sentence_match.NO_MATCH], key=lambda frame: frame.overlap)


def _candidate_stems(
    sentence: AnalysedSentence, value: Value, without: Collection[int]
) -> tuple[AbstractSet[str], set[str]]:
    """Return the stems of the whole sentence, and those of the clause a value stands in."""
    near = [sentence.words[place] for place in _clause_of(sentence, value) if place not in without]
    return sentence_match.topic_stems(sentence, without), {word.stem for word in near if word.topical}


def _tells_change(sentence: AnalysedSentence, value: Value) -> bool:
    return any(sentence.words[place].stem in stem_set("change") for place in _clause_of(sentence, value))


def _clause_of(sentence: AnalysedSentence, value: Value) -> list[int]:
    return next((clause.places for clause in sentence.clauses if value.start in clause.places), [])


def _value_places(values: list[Value]) -> set[int]:
    return {place for value in values for place in range(value.start, value.end)}


def quote_words(words: Sequence[str]) -> str:
    """Return the first few words, each in quotation marks, for a reason."""
    return ", ".join(f"'{word}'" for word in words[:4])
