"""Sentence frames: whether two sentences are about the same thing, apart from the words in which they differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from hyperloci.knowledge.contradictions.claims import AnalysedSentence
from hyperloci.system.values import dataclass

HEAD_AS_MODIFIER: Final = 0.5
"""`environment` and `environment variables` share a word, not a thing: half a match."""

EXTRA_ON_BOTH: Final = 0.75
"""Each word that both sides have extra makes it less likely that they speak of one thing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceMatch:
    """How two sentences match.

    Attributes:
        shared: the stems both are about, without those that are parts of different things.
        overlap: weight of the shared stems by the smaller side's stems, 0..1.
        cosine: weight of the shared stems by the geometric mean of both sides' stems, 0..1; lower than the overlap
            where one side says much more than the other.
        extra: the number of stems that the side with fewer extra ones has beyond the shared.
        other_subject: each is about someone or something the other does not mention.
        other_place: each holds under a circumstance the other does not mention.
        sizes: the number of stems of each side.
    """

    shared: frozenset[str]
    overlap: float
    cosine: float
    extra: int
    other_subject: bool
    other_place: bool
    sizes: tuple[int, int]

    @property
    def fit(self) -> float:
        """Confidence that both are about the same thing under the same circumstances, 0..1."""
        return 0.0 if self.other_subject or self.other_place else self.likeness * EXTRA_ON_BOTH**self.extra

    @property
    def likeness(self) -> float:
        """How much of what both say is about the same, 0..1."""
        return (self.overlap + self.cosine) / 2


NO_MATCH: Final = SentenceMatch(
    shared=frozenset(),
    overlap=0.0,
    cosine=0.0,
    extra=0,
    other_subject=False,
    other_place=False,
    sizes=(0, 0),
)
"""The frame of two sentences that have nothing in common."""


def compare_sentences(
    a: AnalysedSentence, b: AnalysedSentence, without_a: Collection[int] = (), without_b: Collection[int] = ()
) -> SentenceMatch:
    """Match two sentences on all their topics but the given places."""
    return match_stems(a, b, topic_stems(a, without_a), topic_stems(b, without_b), without_a, without_b)


def match_stems(
    a: AnalysedSentence,
    b: AnalysedSentence,
    stems_a: AbstractSet[str],
    stems_b: AbstractSet[str],
    without_a: Collection[int] = (),
    without_b: Collection[int] = (),
) -> SentenceMatch:
    """Match two sentences on some of their stems."""
    weights = {stem: _shared_stem_weight(a, b, stem, without_a, without_b) for stem in stems_a & stems_b}
    shared = frozenset(stem for stem, weight in weights.items() if weight > 0)
    smaller, larger = sorted((len(stems_a), len(stems_b)))
    weight = sum(weights.values())
    extra_a, extra_b = stems_a - shared, stems_b - shared
    return SentenceMatch(
        shared=shared,
        overlap=weight / smaller if smaller else 0.0,
        cosine=weight / math.sqrt(smaller * larger) if smaller else 0.0,
        extra=min(len(extra_a), len(extra_b)),
        other_subject=not (extra_a.isdisjoint(a.subjects) or extra_b.isdisjoint(b.subjects)),
        other_place=not (extra_a.isdisjoint(a.circumstances) or extra_b.isdisjoint(b.circumstances)),
        sizes=(len(stems_a), len(stems_b)),
    )


def list_shared_words(sentence: AnalysedSentence, match: SentenceMatch) -> list[str]:
    """Return the shared stems as the first of the matched sentences has them, in its order."""
    places = sorted(sentence.topics[stem][0] for stem in match.shared)
    return list(dict.fromkeys(sentence.words[place].lower for place in places))


def have_same_labels(a: AnalysedSentence, b: AnalysedSentence) -> bool:
    """Return whether no number that names the topic differs: sprint 4 is not sprint 5."""
    return all(b.labels.get(kind, number) == number for kind, number in a.labels.items())


def topic_stems(sentence: AnalysedSentence, without: Collection[int] = ()) -> AbstractSet[str]:
    """Return the stems a sentence is about, but for those that stand only at the given places."""
    if not without:
        return sentence.about
    return {stem for stem, places in sentence.topics.items() if any(place not in without for place in places)}


def _shared_stem_weight(
    a: AnalysedSentence, b: AnalysedSentence, stem: str, without_a: Collection[int], without_b: Collection[int]
) -> float:
    """Return how far a shared stem means the same thing in both: 0 where its modifiers differ."""
    best = 0.0
    for i in a.topics[stem]:
        for j in b.topics[stem]:
            mods_a, mods_b = a.modifiers.get(i), b.modifiers.get(j)
            if mods_a and mods_b and _are_apart(a, b, mods_a, mods_b, without_a, without_b):
                continue
            best = max(best, 1.0 if (i in a.heads) == (j in b.heads) else HEAD_AS_MODIFIER)
    return best


def _are_apart(
    a: AnalysedSentence,
    b: AnalysedSentence,
    mods_a: Iterable[tuple[int, str]],
    mods_b: Iterable[tuple[int, str]],
    without_a: Collection[int],
    without_b: Collection[int],
) -> bool:
    """Return whether two words are parts of different things: what modifies each is nowhere in the other sentence."""
    stems_a = {stem for place, stem in mods_a if place not in without_a}
    stems_b = {stem for place, stem in mods_b if place not in without_b}
    return bool(stems_a and stems_b) and stems_a.isdisjoint(b.about) and stems_b.isdisjoint(a.about)
