"""Forms of expressions: what words may stand one behind the other, and what they say of a time.

`[dates.days]` and `[dates.forms]` of a language's file, as templates by the word that they begin with.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from hyperloci.text.language.dates.calendar_days import PERIODS, UNIT_SECONDS
from hyperloci.text.language.dates.expressions import Form
from hyperloci.text.language.dates.words import DateWords, date_words, languages
from hyperloci.text.language.word_tables import read_languages

_YEARS: Final = range(1900, 2100)
_MAX_DIGITS: Final = 6
_DIGITS: Final = "0"
"""Stands for any number in digits."""

EVERY: Final = ""
"""Stands for the languages whose words are read in every text."""

_Parts = dict[str, Any]
"""Attributes of a DateExpression that words give."""

_Place = tuple[bool, int, Mapping[str, _Parts]]
"""Whether some words have to stand or must not stand in a place, how many the longest are, and what they say."""

Template = tuple[str, Form, tuple[_Place, ...], _Parts]
"""A form of expressions: its language, its places in order, and what it says whatever stands there."""


def match_places(places: Iterable[_Place], parts: _Parts, words: Sequence[str], at: int) -> tuple[int, _Parts] | None:
    """Return the first word after an expression that begins at a word, and its parts; None if none does."""
    for wanted, longest, known in places:
        length, said = _match_place(known, longest, words, at)
        if wanted != bool(length):
            return None
        at, parts = (at + length, parts | said) if wanted else (at, parts)
    return at, parts


def _match_place(known: Mapping[str, _Parts], longest: int, words: Sequence[str], at: int) -> tuple[int, _Parts]:
    """Return how many words stand in a place, the most that can, and what they say; none if others do."""
    if at >= len(words):
        return 0, {}
    if _DIGITS in known and words[at].isdecimal() and len(words[at]) <= _MAX_DIGITS:
        return 1, {"count": int(words[at])}
    if longest == 1:
        said = known.get(words[at])
        return (0, {}) if said is None else (1, said)
    lengths = range(min(longest, len(words) - at), 0, -1)
    return next(((n, known[text]) for n in lengths if (text := " ".join(words[at : at + n])) in known), (0, {}))


def forms_from(word: str, told: tuple[str, ...]) -> Sequence[Template]:
    """Return the templates of expressions that may begin with a word, in a text that may be in some languages."""
    templates = _all_templates(told)
    known = templates.get(word, ())
    if not word[0].isdecimal():
        return known
    iso: Template = (EVERY, Form.NAMED, ((True, 1, {word: {"iso": word.upper()}}),), {})
    if "-" in word:
        return [iso]
    return [*known, *templates.get(_DIGITS, ())]


@functools.cache
def _all_templates(told: tuple[str, ...]) -> Mapping[str, Sequence[Template]]:
    """Return the templates of every text and of some languages together, by the word that they begin with."""
    several = [_templates(language) for language in (EVERY, *told)]
    words = {word for templates in several for word in templates}
    return {word: [form for templates in several for form in templates.get(word, ())] for word in words}


@functools.cache
def _templates(language: str) -> Mapping[str, Sequence[Template]]:
    """Return the templates of a language, or of those of every text, by the word that they begin with."""
    found: dict[str, list[Template]] = {}
    for each in languages() if language == EVERY else (language,):
        for template in _language_templates(each, language):
            for word in {words.split()[0] for words in template[2][0][2]}:
                found.setdefault(word, []).append(template)
    return found


def _language_templates(language: str, read_in: str) -> Iterator[Template]:
    table = read_languages()[language]["dates"]
    known = _known_words(date_words(language))
    texts = [(Form.DAY, {"count": int(days)}, text) for days, several in table["days"].items() for text in several]
    texts += [(Form(form), {}, text) for form, several in table["forms"].items() for text in several]
    read = functools.cache(functools.partial(_place, known))  # Many templates have the same places.
    for form, parts, text in texts:
        choices = [((place[:-1],), ()) if place.endswith("?") else ((place,),) for place in text.split()]
        for places in itertools.product(*choices):
            yield read_in, form, tuple(map(read, itertools.chain(*places))), parts


def _place(known: Mapping[str, Mapping[str, _Parts]], text: str) -> _Place:
    names = text.removeprefix("!").split("|")
    said = {word: parts for name in names for word, parts in known.get(name, {name: {}}).items()}
    return not text.startswith("!"), max(len(word.split()) for word in said), said


def _known_words(words: DateWords) -> Mapping[str, Mapping[str, _Parts]]:
    """Return what stands for each name in braces, and what it says."""
    in_words = words.ordinal_words | {word.replace(" ", " - "): day for word, day in words.ordinal_words.items()}
    sure_months = {word: month for word, month in words.months.items() if word not in words.unsure_months}
    sure_seasons = {word: season for word, season in words.seasons.items() if word not in words.unsure_seasons}
    days = {f"{day:{width}}{ending}": day for day in range(1, 32) for width in ("", "02") for ending in words.ordinals}
    units = {word: unit for word, unit in words.units.items() if UNIT_SECONDS.get(unit, 0) >= 1}
    spans = {word: unit for word, unit in words.units.items() if UNIT_SECONDS.get(unit, 0) >= UNIT_SECONDS["hour"]}
    months = {f"{month:{width}}": month for month in range(1, 13) for width in ("", "02")}
    periods = {word: unit for word, unit in words.units.items() if unit in PERIODS}
    vague = {word: {"count": count, "vague": True} for word, count in words.vague_counts.items()}
    return {
        "{weekday}": _saying("weekday", words.weekdays),
        "{short_weekday}": _saying("weekday", words.short_weekdays),
        "{any_weekday}": {word: {} for word in words.weekdays | dict(words.short_weekdays)},
        "{month}": _saying("month", words.months),
        "{month_number}": _saying("month", months),
        "{sure_month}": _saying("month", sure_months),
        "{season}": _saying("season", words.seasons),
        "{sure_season}": _saying("season", sure_seasons),
        "{unit}": _saying("unit", units),
        "{span}": _saying("unit", spans),
        "{period}": _saying("unit", periods),
        "{count}": _saying("count", words.counts) | vague | {_DIGITS: {"count": 0}},
        "{day}": _saying("day", days),
        "{ordinal}": _saying("day", in_words),
        "{year}": _saying("year", {str(year): year for year in _YEARS}),
    }


def _saying(name: str, table: Mapping[str, Any]) -> dict[str, _Parts]:
    return {word: {name: value} for word, value in table.items()}
