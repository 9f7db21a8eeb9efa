"""Sentence frames: whether two sentences are about the same thing, apart from the words in which they differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from typing import Final

from hyperloci.knowledge.contradictions.claims import AnalysedSentence
from hyperloci.knowledge.contradictions.polarity import Region
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
        words: the shared stems as the first sentence has them, for the reason.
    """

    shared: frozenset[str]
    overlap: float
    cosine: float
    extra: int
    other_subject: bool
    other_place: bool
    sizes: tuple[int, int]
    words: tuple[str, ...]

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
    words=(),
)
"""The frame of two sentences that have nothing in common."""


def compare_sentences(
    a: AnalysedSentence, b: AnalysedSentence, without_a: Collection[int] = (), without_b: Collection[int] = ()
) -> SentenceMatch:
    """Match two sentences on all their topics but the given places."""
    return match_stems(
        a, b, topic_stems(a, without_a), topic_stems(b, without_b), frozenset(without_a), frozenset(without_b)
    )


def match_stems(
    a: AnalysedSentence,
    b: AnalysedSentence,
    stems_a: set[str],
    stems_b: set[str],
    without_a: frozenset[int] = frozenset(),
    without_b: frozenset[int] = frozenset(),
) -> SentenceMatch:
    """Match two sentences on some of their stems."""
    weights = {stem: _shared_stem_weight(a, b, stem, without_a, without_b) for stem in stems_a & stems_b}
    shared = frozenset(stem for stem, weight in weights.items() if weight > 0)
    smaller, larger = sorted((len(stems_a), len(stems_b)))
    weight = sum(weights.values())
    return SentenceMatch(
        shared=shared,
        overlap=weight / smaller if smaller else 0.0,
        cosine=weight / math.sqrt(smaller * larger) if smaller else 0.0,
        extra=min(len(stems_a - shared), len(stems_b - shared)),
        other_subject=_regions_differ(a, b, Region.SUBJECT, stems_a - shared, stems_b - shared),
        other_place=_regions_differ(a, b, Region.PLACE, stems_a - shared, stems_b - shared),
        sizes=(len(stems_a), len(stems_b)),
        words=tuple(dict.fromkeys(a.words[a.topics[stem][0]].lower for stem in sorted(shared, key=a.topics.get))),  # type: ignore[arg-type]
    )


def have_same_labels(a: AnalysedSentence, b: AnalysedSentence) -> bool:
    """Return whether no number that names the topic differs: sprint 4 is not sprint 5."""
    return all(b.labels.get(kind, number) == number for kind, number in a.labels.items())


def topic_stems(sentence: AnalysedSentence, without: Collection[int] = ()) -> set[str]:
    """Return the stems a sentence is about, but for those that stand only at the given places."""
    return {stem for stem, places in sentence.topics.items() if any(place not in without for place in places)}


def _shared_stem_weight(
    a: AnalysedSentence, b: AnalysedSentence, stem: str, without_a: frozenset[int], without_b: frozenset[int]
) -> float:
    """Return how far a shared stem means the same thing in both: 0 where its modifiers differ."""
    best = 0.0
    for i in a.topics[stem]:
        for j in b.topics[stem]:
            mods_a, mods_b = _modifier_stems(a, i, without_a), _modifier_stems(b, j, without_b)
            if mods_a and mods_b and mods_a.isdisjoint(b.topics) and mods_b.isdisjoint(a.topics):
                continue
            best = max(best, 1.0 if _is_noun_head(a, i) == _is_noun_head(b, j) else HEAD_AS_MODIFIER)
    return best


def _modifier_stems(sentence: AnalysedSentence, at: int, without: frozenset[int]) -> set[str]:
    """Return the stems of the words that form one noun phrase with the word at `at`, before it."""
    found: set[str] = set()
    place = at - 1
    while place >= 0 and sentence.words[place].topical and place not in sentence.verbs:
        if place not in without:
            found.add(sentence.words[place].stem)
        place -= 1
    return found


def _is_noun_head(sentence: AnalysedSentence, at: int) -> bool:
    following = at + 1
    return (
        following >= len(sentence.words)
        or not sentence.words[following].topical
        or following in sentence.verbs
        or at in sentence.verbs
    )


def _regions_differ(
    a: AnalysedSentence, b: AnalysedSentence, region: Region, extra_a: Iterable[str], extra_b: Iterable[str]
) -> bool:
    return any(a.regions[a.topics[s][0]] is region for s in extra_a) and any(
        b.regions[b.topics[s][0]] is region for s in extra_b
    )
