"""Statement profiles: what is counted of one statement before it is compared with others.

A profile is made once for each statement and kept: its words, what it is about, names, values, cues, polarity.
"""

from __future__ import annotations

import functools
import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.knowledge.contradictions.antonyms import OpposableWords
from hyperloci.knowledge.contradictions.claims import AnalysedSentence, analyse_sentence
from hyperloci.knowledge.contradictions.quantities import Value
from hyperloci.knowledge.contradictions.word_order import WordOrder, read_word_order
from hyperloci.knowledge.contradictions.words import Word
from hyperloci.system.values import dataclass
from hyperloci.text.language.vocabulary import vocabulary
from hyperloci.text.language.word_tables import word_set

CACHED_PROFILES: Final = 2_048
"""Profiles that are kept: the same memories are candidates again and again."""

MAX_PROFILE_CHARS: Final = 600
"""A statement is a thought or two; what a memory says beyond that is not weighed."""

MEASURED: Final = ("count", "number", "time", "size", "percent", "frequency", "clock", "date", "version", "weekday")
"""Beginnings of the kinds of values that are figures; the others are names."""

COMMON_START: Final = 5
"""Stems that share so many first letters count as one: `synchronis` and `synchron`."""

LEAVING_WITHIN: Final = 3
"""Words before a shared word in which a word of leaving says that it is what was left."""

_PLACEHOLDER: Final = re.compile(r"\[(?:redacted:[a-z-]{1,40}|private)\]")

_LEAVING: Final = frozenset("from off dropped ditched left without ripped replaced swapped not for".split())  # noqa: SIM905

_SIGNS: Final = str.maketrans(
    {"’": "'", "‘": "'", "`": " ", '"': " ", "“": " ", "”": " ", "*": " ", "?": " ", ";": ","}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementProfile:
    """What is counted of one statement.

    Attributes:
        words: all its words, as `contradictions.words` reads them.
        order: the stems it is about, in order, with repetitions.
        stems: the same as a set.
        starts: the first letters of those that are long enough to be told by them.
        row: the stems of all its words.
        word_order: what stands where.
        opposable: its words, for finding opposites.
        names: stems of words that look like names.
        modifiers: by stem, the stems that stand right before it.
        figures: kind and value of what it measures, counts or dates.
        tools: family and name of the alternatives it names.
        cues: how many phrases of each table of `data/pair_cues.toml` it has.
        cued: the tables of which it has any.
        negations: how many words deny.
        oppositions: how many words turn around what they stand with.
        early_negation: whether one of its first three words denies.
        asks: whether it has a question mark.
        lower: whether it begins with a small letter.
    """

    words: tuple[Word, ...]
    order: tuple[str, ...]
    stems: frozenset[str]
    starts: frozenset[str]
    row: tuple[str, ...]
    word_order: WordOrder
    opposable: OpposableWords
    names: frozenset[str]
    modifiers: Mapping[str, frozenset[str]]
    figures: tuple[Value, ...]
    tools: frozenset[tuple[str, str]]
    cues: Mapping[str, int]
    cued: frozenset[str]
    negations: int
    oppositions: int
    early_negation: bool
    asks: bool
    lower: bool


@functools.lru_cache(maxsize=CACHED_PROFILES)
def profile_statement(text: str) -> StatementProfile:
    """Return the profile of a statement; what stands in it for a secret or a private part is no word of it."""
    text = _PLACEHOLDER.sub(" ", text[:MAX_PROFILE_CHARS])
    sentence = analyse_sentence(" ".join(text.translate(_SIGNS).split()))
    words, lowered = sentence.words, [word.lower for word in sentence.words]
    order = tuple([word.stem for word in words if word.topical])
    negators, cues = word_set("clauses.negators"), _count_cues(lowered)
    return StatementProfile(
        words=words,
        order=order,
        stems=sentence.about,
        starts=frozenset([stem[:COMMON_START] for stem in order if len(stem) >= COMMON_START]),
        row=tuple([word.stem for word in words]),
        word_order=read_word_order(words),
        opposable=sentence.opposable,
        names=frozenset([word.stem for place, word in enumerate(words) if _is_telling_name(word, place)]),
        modifiers=_collect_modifiers(words),
        figures=_collect_figures(sentence),
        tools=_collect_tools(lowered),
        cues=cues,
        cued=frozenset([table for table, count in cues.items() if count]),
        negations=sum(map(negators.__contains__, lowered)),
        oppositions=sum(map(_opposing_words().__contains__, lowered)),
        early_negation=not negators.isdisjoint(lowered[:3]),
        asks="?" in text,
        lower=text[:1].islower(),
    )


def list_cue_tables() -> Sequence[str]:
    """Return the names of the tables of cues."""
    return tuple(_read_cues())


@functools.lru_cache(maxsize=16)
def find_left_behind(text: str) -> Sequence[str]:
    """Return the stems, with repetitions, that stand right after a word of leaving."""
    words = profile_statement(text).words
    return [
        word.stem
        for at, word in enumerate(words)
        if word.topical and any(before.lower in _LEAVING for before in words[max(0, at - LEAVING_WITHIN) : at])
    ]


def find_cue(text: str, table: str) -> str:
    """Return the longest cue of a table that a text has, or nothing."""
    padded = f" {' '.join(word.lower for word in profile_statement(text).words)} "
    return max((cue for cue in _read_cues()[table] if f" {cue} " in padded), key=len, default="")


def _is_telling_name(word: Word, place: int) -> bool:
    """Return whether a word is a name for more than standing first in its sentence."""
    return word.name and (place > 0 or not word.text.istitle())


def _collect_modifiers(words: tuple[Word, ...]) -> dict[str, frozenset[str]]:
    found: dict[str, frozenset[str]] = {}
    for before, word in itertools.pairwise(words):
        if before.topical and word.topical:
            found[word.stem] = found.get(word.stem, frozenset()) | {before.stem}
    return found


def _collect_figures(sentence: AnalysedSentence) -> tuple[Value, ...]:
    values = sorted((*sentence.values, *sentence.denied_values), key=lambda value: value.start)
    return tuple(value for value in values if value.kind.startswith(MEASURED))


def _collect_tools(lowered: list[str]) -> frozenset[tuple[str, str]]:
    known = map(vocabulary().find, lowered)
    return frozenset([(name.family, name.name) for name in known if name is not None and name.family])


def _count_cues(lowered: list[str]) -> dict[str, int]:
    """Return how many cues of each table stand in a text, given its words."""
    padded, by_first = f" {' '.join(lowered)} ", _index_cues()
    counts = dict.fromkeys(_read_cues(), 0)
    for word in set(padded.split()) & by_first.keys():
        for cue, table in by_first[word]:
            counts[table] += cue in padded
    return counts


@functools.cache
def _index_cues() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Return by their first word the cues, a space on both sides of each, with their tables."""
    found: dict[str, list[tuple[str, str]]] = {}
    for table, cues in _read_cues().items():
        for cue in cues:
            found.setdefault(cue.split()[0], []).append((f" {cue} ", table))
    return {word: tuple(cues) for word, cues in found.items()}


@functools.cache
def _opposing_words() -> frozenset[str]:
    return frozenset(_read_cues()["opposing"])


@functools.cache
def _read_cues() -> Mapping[str, tuple[str, ...]]:
    text = (Path(__file__).parent / "data/pair_cues.toml").read_text(encoding="utf-8")
    return {table: tuple(cues) for table, cues in tomllib.loads(text).items()}
