"""Told languages: those whose words for days are read only where a text tells by its other words that it is in them.

`mar`, `sept` and `am` are words of several languages, so a day is one of German where German is written around it.
Short texts tell enough: `seit gestern` holds two words that no English text has.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence

from hyperloci.system.values import dataclass
from hyperloci.text.language.word_tables import read_languages, read_table


@dataclass(frozen=True, slots=True)
class _Marks:
    """The words that speak for a language, those of them that no other has, and those that speak for English."""

    own: frozenset[str]
    sole: frozenset[str]
    english: frozenset[str]


@functools.cache
def told_languages() -> tuple[str, ...]:
    """Return the languages that a text is told to be in by its words, by their code."""
    return tuple(language for language, tables in read_languages().items() if "told_by" in tables)


def find_told(words: Iterable[str]) -> tuple[str, ...]:
    """Return the languages of which words in lower case hold a word that is one of no other."""
    found = frozenset(words)
    return tuple(language for language in told_languages() if not _marks(language).sole.isdisjoint(found))


def is_told(language: str, words: Sequence[str]) -> bool:
    """Return whether words in lower case tell a language: `hier` is a day where the rest is French, no German."""
    if _marks(language).sole.isdisjoint(words) or is_rather_english(language, words):
        return False
    own = _count(words, _marks(language).own)
    return all(own >= _count(words, _marks(other).own) for other in told_languages())


def is_rather_english(language: str, words: Sequence[str]) -> bool:
    """Return whether more of words in lower case are English than of a language."""
    marks = _marks(language)
    return _count(words, marks.english) > _count(words, marks.own)


def _count(words: Iterable[str], known: frozenset[str]) -> int:
    return sum(word in known for word in words)


@functools.cache
def _marks(language: str) -> _Marks:
    own = _own_words(language)
    others = frozenset[str]().union(*(_own_words(other) for other in told_languages() if other != language))
    shared = read_languages()[language]["told_by"]["shared"].split()
    return _Marks(own, own - others, frozenset(read_table("stop.words")).difference(shared))


@functools.cache
def _own_words(language: str) -> frozenset[str]:
    return frozenset(read_languages()[language]["told_by"]["words"].split())
