"""Words for dates: what languages call days, months, units and numbers; `[dates]` of a language's file.

The languages whose words are read in every text are apart from those that a text is told to be in
(`text.language.told_languages`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from hyperloci.system.values import dataclass
from hyperloci.text.language.told_languages import told_languages
from hyperloci.text.language.word_tables import read_languages


@dataclass(frozen=True, slots=True, kw_only=True)
class DateWords:
    """One language's words for dates, in lower case.

    Attributes:
        weekdays, short_weekdays, plural_weekdays: Monday is 0. The plurals are habits, no days.
        months: January is 1.
        unsure_months: those of them that are other words too.
        seasons: spring is 0; `unsure_seasons`: those of them that alone are no time.
        names: the first of each weekday and month.
        units: to the names of `UNIT_SECONDS`, and to `weekend`.
        numerals: numbers in words.
        counts, vague_counts: what stands for a number in front of a unit, of one word or several; the numerals too.
        parts_of_day: to their middle, in hours.
        ordinals: endings of a day's number.
        ordinal_words: days of a month in words.
        clock: what stands before a time of day.
        not_after: after these a word by itself is no day (`guten Morgen`).
        links: what may stand between the word of a bound and its date.
        bounds: to `since`, `starting`, `after`, `before`, `by`, `due`, `between`, `and`, `from` or `to`.
    """

    weekdays: dict[str, int]
    short_weekdays: Mapping[str, int]
    plural_weekdays: dict[str, int]
    months: Mapping[str, int]
    unsure_months: frozenset[str]
    seasons: Mapping[str, int]
    unsure_seasons: frozenset[str]
    names: frozenset[str]
    units: Mapping[str, str]
    numerals: Mapping[str, int]
    counts: Mapping[str, int]
    vague_counts: Mapping[str, int]
    parts_of_day: Mapping[str, float]
    ordinals: tuple[str, ...]
    ordinal_words: dict[str, int]
    clock: frozenset[str]
    not_after: frozenset[str]
    links: frozenset[str]
    bounds: Mapping[str, str]


@functools.cache
def languages() -> tuple[str, ...]:
    """Return the languages whose words for dates are read in every text, by their code."""
    found = (language for language, tables in read_languages().items() if "dates" in tables)
    return tuple(language for language in found if language not in told_languages())


@functools.cache
def date_words(language: str) -> DateWords:
    """Return a language's words for dates.

    Raises:
        FileNotFoundError: no such language.
    """
    table = read_languages()[language]["dates"]
    numerals = {word: int(number) for number, words in table["numerals"].items() for word in words.split()}
    return DateWords(
        weekdays=_numbered(table["weekdays"]),
        short_weekdays=_numbered(table["short_weekdays"]),
        plural_weekdays=_numbered(table["plural_weekdays"]),
        months=_numbered(table["months"], start=1),
        unsure_months=frozenset(table["unsure_months"].split()),
        seasons=_numbered(table["seasons"]),
        unsure_seasons=frozenset(table["unsure_seasons"].split()),
        names=frozenset(words.split()[0] for words in (*table["weekdays"], *table["months"])),
        units=_inverted(table["units"]),
        numerals=numerals,
        counts=numerals | _counted(table["counts"]),
        vague_counts=_counted(table["vague_counts"]),
        parts_of_day={word: float(hour) for word, hour in _inverted(table["parts_of_day"]).items()},
        ordinals=("", *table["ordinals"].split()),
        ordinal_words=_counted(table["ordinal_words"]),
        clock=frozenset(table["clock"].split()),
        not_after=frozenset(table["not_after"].split()),
        links=frozenset(table["links"].split()),
        bounds=_inverted(table["bounds"]),
    )


def _numbered(names: Sequence[str], start: int = 0) -> dict[str, int]:
    return {_spoken(word): number for number, words in enumerate(names, start) for word in words.split()}


def _inverted(names: Mapping[str, str]) -> dict[str, str]:
    return {_spoken(word): name for name, words in names.items() for word in words.split()}


def _spoken(word: str) -> str:
    """Return a word of a table as a text has it: `week-end` is three, `fin_de_semana` too."""
    return word.replace("_", " ").replace("-", " - ")


def _counted(names: Mapping[str, Sequence[str]]) -> dict[str, int]:
    return {words: int(number) for number, several in names.items() for words in several}


@functools.cache
def unsure_short_months() -> frozenset[str]:
    """Return the short names of months that are other words too: `may` and `march` are words of English alone."""
    words = map(date_words, languages())
    return frozenset[str]().union(*(each.unsure_months - each.names for each in words))


@functools.cache
def bound_words() -> Mapping[str, str]:
    """Return the words of every text that make a date an end of a time, and which (`DateWords.bounds`)."""
    return {word: name for language in languages() for word, name in date_words(language).bounds.items()}


@functools.cache
def number_words() -> frozenset[str]:
    """Return the numbers in words of every text."""
    return frozenset(word for language in languages() for word in date_words(language).numerals)
