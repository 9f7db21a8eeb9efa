"""Claims: what a sentence states: topics, subject, circumstances, values, and what it denies."""

from __future__ import annotations

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.contradictions.antonyms import OpposableWords, find_opposable
from hyperloci.knowledge.contradictions.polarity import Clause, ClauseReader, Region
from hyperloci.knowledge.contradictions.quantities import Value, find_values
from hyperloci.knowledge.contradictions.words import Word, analyse_words, split_statements
from hyperloci.system.values import dataclass
from hyperloci.text.language.vocabulary import vocabulary

_COPULAS: Final = frozenset({"is", "are", "was", ":", "="})
_DEFINITE: Final = frozenset({"the", "our", "my", "your", "its"})
_MAX_NAME_WORDS: Final = 3
CACHED_SENTENCES: Final = 4_096
"""Sentences whose analysis is kept: the same memories are candidates again and again."""

MAX_STATEMENTS: Final = 12
"""Sentences of a statement that are compared; anything longer is a text, not a statement."""

FEW_SENTENCES: Final = 3
"""Memories of so few sentences are analysed whole: most facts are."""

MAX_COMPARED: Final = 8
"""Sentences of a long memory that are compared at most."""

NEEDLE_CHARS: Final = 5
"""Enough of a stem to find its inflected forms by plain substring search."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalysedSentence:
    """One analysed sentence. Places in it are indexes of words.

    Attributes:
        words, clauses, regions, verbs: as `polarity` read them.
        denied: places under an odd number of negations.
        values: what is stated, not denied, and says something of the topic.
        denied_values: values that are denied.
        labels: numbers that name the topic (`sprint 4`) by kind.
        topics: places of what it is about, by stem.
        about: the stems it is about.
        asserted: those of them that stand somewhere undenied.
        stems: the stems of all its words.
        subjects, circumstances: the stems it is about that stand first in the subject, and first in a circumstance.
        heads: places of words that no noun phrase goes on behind.
        modifiers: by place the places and stems of the words that form one noun phrase with it, before it.
        opposable: its words, for finding opposites.
    """

    words: tuple[Word, ...]
    clauses: tuple[Clause, ...]
    regions: tuple[Region, ...]
    verbs: frozenset[int]
    denied: frozenset[int]
    values: tuple[Value, ...]
    denied_values: tuple[Value, ...]
    labels: dict[str, float | str]
    topics: dict[str, tuple[int, ...]]
    about: frozenset[str]
    asserted: frozenset[str]
    stems: frozenset[str]
    subjects: frozenset[str]
    circumstances: frozenset[str]
    heads: frozenset[int]
    modifiers: Mapping[int, tuple[tuple[int, str], ...]]
    opposable: OpposableWords


@functools.lru_cache(maxsize=CACHED_SENTENCES)
def analyse_sentence(sentence: str) -> AnalysedSentence:
    """Analyse one sentence."""
    words = analyse_words(sentence)
    reader = ClauseReader(words)
    reader.read_clauses()
    denied = frozenset(place for clause in reader.clauses if clause.negated for place in clause.places)
    values = [_mark_label(value, reader) for value in find_values(words)]
    values += _find_name_claims(words, values)
    topics = _find_topics(words)
    about = frozenset(topics)
    return AnalysedSentence(
        words=tuple(words),
        clauses=tuple(reader.clauses),
        regions=tuple(reader.regions),
        verbs=frozenset(reader.verbs),
        denied=denied,
        values=tuple(value for value in values if not value.label and value.start not in denied),
        denied_values=tuple(value for value in values if not value.label and value.start in denied),
        labels={value.kind: value.name or value.size for value in values if value.label},
        topics=topics,
        about=about,
        asserted=frozenset([stem for stem, places in topics.items() if not denied.issuperset(places)])
        if denied
        else about,
        stems=frozenset([word.stem for word in words]),
        subjects=frozenset([stem for stem, places in topics.items() if reader.regions[places[0]] is Region.SUBJECT]),
        circumstances=frozenset([stem for stem, places in topics.items() if reader.regions[places[0]] is Region.PLACE]),
        heads=_find_heads(words, reader.verbs),
        modifiers=_find_modifiers(words, reader.verbs),
        opposable=find_opposable([word.lower for word in words]),
    )


def analyse_statements(text: str) -> list[AnalysedSentence]:
    """Return the analysed sentences of a statement, in order."""
    return [sentence for part in split_statements(text)[:MAX_STATEMENTS] if (sentence := analyse_sentence(part)).words]


def select_comparable_sentences(text: str, needles: Sequence[str]) -> list[AnalysedSentence]:
    """Return the sentences of a memory that can contradict a statement.

    Args:
        text: the memory; of a long one only sentences that hold a needle are analysed.
        needles: what `search_needles` returned for the statement.
    """
    parts: Sequence[str] = split_statements(text)
    if len(parts) > FEW_SENTENCES:
        parts = [part for part in parts if any(needle in part.lower() for needle in needles)][:MAX_COMPARED]
    return [sentence for part in parts if (sentence := analyse_sentence(part)).words]


def search_needles(sentences: Sequence[AnalysedSentence]) -> tuple[str, ...]:
    """Return the beginnings of words that a sentence must hold one of to contradict these."""
    stems = {stem[:NEEDLE_CHARS] for sentence in sentences for stem in sentence.topics}
    kinds = {value.kind for sentence in sentences for value in sentence.values}
    families = vocabulary().families
    return tuple(sorted(stems.union(*(families.get(kind, ()) for kind in kinds))))


def _find_topics(words: Sequence[Word]) -> dict[str, tuple[int, ...]]:
    topics: dict[str, tuple[int, ...]] = {}
    for place, word in enumerate(words):
        if word.topical:
            topics[word.stem] = (*topics[word.stem], place) if word.stem in topics else (place,)
    return topics


def _find_heads(words: Sequence[Word], verbs: Collection[int]) -> frozenset[int]:
    """Return the places of the words that no noun phrase goes on behind."""
    following = enumerate((*words[1:], None))
    return frozenset(
        at for at, after in following if after is None or not after.topical or at + 1 in verbs or at in verbs
    )


def _find_modifiers(words: Sequence[Word], verbs: Collection[int]) -> dict[int, tuple[tuple[int, str], ...]]:
    """Return by place the places and stems of the words that form one noun phrase with it, before it."""
    found: dict[int, tuple[tuple[int, str], ...]] = {}
    for at, word in enumerate(words[:-1]):
        if word.topical and at not in verbs:
            found[at + 1] = (*found.get(at, ()), (at, word.stem))
    return found


def _mark_label(value: Value, reader: ClauseReader) -> Value:
    """Mark what tells the topic from others: `port 8080 serves HTTP`, `two men fight`, `in Python 3.9 it fails`."""
    if any(place < value.start for place in reader.verbs):
        return value
    numbered = value.kind == "version" or value.kind.startswith(("number of", "count of"))
    region = reader.regions[value.start]
    placed = region is Region.PLACE and value.kind not in vocabulary().families
    named = placed or (region is Region.SUBJECT and numbered)
    return replace(value, label=True) if named and reader.verbs else value


def _find_name_claims(words: Sequence[Word], known: Sequence[Value]) -> list[Value]:
    """Return the name in `the maintainer is Anna`, `Anna is the maintainer` or `maintainer: Anna`."""
    at = next((place for place, word in enumerate(words) if word.lower in _COPULAS), None)
    if at is None or at == 0 or at + 1 == len(words):
        return []
    right = words[at + 1 :]
    if _is_proper_name(right) and any(word.topical for word in words[:at]):
        start, end = at + 1, len(words)
    elif (
        words[at].lower != ":"
        and right[0].lower in _DEFINITE
        and any(word.topical for word in right)
        and _is_proper_name(words[:at])
    ):
        start, end = 0, at
    else:
        return []
    if any(start <= value.start < end for value in known):
        return []
    name = " ".join(word.lower for word in words[start:end])
    return [Value(kind="name", name=name, text=" ".join(w.text for w in words[start:end]), start=start, end=end)]


def _is_proper_name(words: Sequence[Word]) -> bool:
    return 0 < len(words) <= _MAX_NAME_WORDS and all(word.name for word in words)
