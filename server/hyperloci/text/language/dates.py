"""Dates: expressions of dates and times in a text, such as `yesterday`, `last March`, `2026-01-31`, `в пятницу`.

One grammar for every reader (`text.language.relative_dates` for turns, `retrieval.time_bounds` for questions and
arguments, `spaces.temporal` for times of day, `knowledge.contradictions.quantities` for compared values). Its
words and forms are data: `[dates]` of a language's file. This module says which calendar days an expression means
(weeks begin on Monday); a reader that wants other bounds makes them from the expression's parts.

It is one file, though long: what an expression may look like and which days it means are read side by side.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final

from hyperloci.system.values import dataclass
from hyperloci.text.language.told_languages import find_told, is_told, told_languages
from hyperloci.text.language.word_tables import read_languages

_TOKEN: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?)?(?!\w)"
    r"|[^\W_]+|[^\w\s]"
)
_CLOCK: Final = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?\s*(am|pm)?", re.IGNORECASE)

UNIT_SECONDS: Final[Mapping[str, float]] = {
    "nanosecond": 1e-9,
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1.0,
    "minute": 60.0,
    "hour": 3_600.0,
    "day": 86_400.0,
    "week": 604_800.0,
    "month": 2_629_800.0,
    "year": 31_557_600.0,
}
"""Months and years are the mean of the calendar's."""

_NAME_BEFORE: Final = frozenset("_@#$/\\`")
_NAME_AFTER: Final = frozenset("_(/\\`")
_JOINERS: Final = frozenset(".:-")
"""Signs that make words a part of a name: any of the first two beside them, one of the last between them and a word."""

_PERIODS: Final = ("week", "month", "year", "weekend")
_YEARS: Final = range(1900, 2100)
_WINTER: Final = 3
_MAX_DIGITS: Final = 6
_DIGITS: Final = "0"
"""Stands for any number in digits."""

_EVERY: Final = ""
"""Stands for the languages whose words are read in every text."""

TOLD_BY: Final = 12
"""How many words on either side tell the language of an expression."""


class Form(StrEnum):
    """How an expression names its time; each is a table or an entry of `[dates.forms]`."""

    DAY = "day"
    """So many days from today: `yesterday`."""
    AGO = "ago"
    AHEAD = "ahead"
    LATELY = "lately"
    """The last so many units, up to now."""
    BEFORE_LAST = "before_last"
    LAST = "last"
    THIS = "this"
    NEXT = "next"
    COMING = "coming"
    """The first such weekday after today."""
    NAMED = "named"
    """A date, weekday, month or year by its name: `on Friday`, `5 March`."""
    ALONE = "alone"
    """A weekday, month, season or year without a word that makes it a date; read only where a caller expects a date."""


_STEPS: Final[Mapping[Form, int]] = {
    Form.DAY: 1,
    Form.AGO: -1,
    Form.AHEAD: 1,
    Form.BEFORE_LAST: -2,
    Form.LAST: -1,
    Form.THIS: 0,
    Form.NEXT: 1,
    Form.COMING: 1,
}

Days = tuple[dt.date, dt.date]
"""First day, and the first that is not in it any more."""


def unit_days(unit: str) -> int:
    """Return the whole days of a unit: 30 of a month, 365 of a year, none of an hour."""
    return int(UNIT_SECONDS[unit] // UNIT_SECONDS["day"])


def unit_ms(unit: str) -> int:
    """Return how long a unit of a second or more is, in milliseconds; from a day on in whole days."""
    return round(unit_days(unit) * UNIT_SECONDS["day"] or UNIT_SECONDS[unit]) * 1_000


# -- words ------------------------------------------------------------------------------------------------------------


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
def _unsure_short_months() -> frozenset[str]:
    """Return the short names of months that are other words too: `may` and `march` are words of English alone."""
    words = map(date_words, languages())
    return frozenset[str]().union(*(each.unsure_months - each.names for each in words))


@functools.cache
def _bound_words() -> Mapping[str, str]:
    """Return the words of every text that make a date an end of a time, and which (`DateWords.bounds`)."""
    return {word: name for language in languages() for word, name in date_words(language).bounds.items()}


# -- expressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DateExpression:
    """An expression of a time in a text.

    Attributes:
        form: how it names its time.
        language: whose words it is in, if it is one that a text is told to be in.
        text: as written.
        first, end: its first word, and the first after it (places in `DateText.words`).
        count: how many units, or days from today; `vague`: it stands for a word like `few`.
        unit: a name of `UNIT_SECONDS`, or `weekend`.
        weekday, month, season, day, year: what is named, Monday 0, January 1, spring 0.
        iso: an ISO 8601 date, or date and time.
    """

    form: Form
    language: str = ""
    text: str = ""
    first: int = 0
    end: int = 0
    count: int = 1
    vague: bool = False
    unit: str | None = None
    weekday: int | None = None
    month: int | None = None
    season: int | None = None
    day: int | None = None
    year: int | None = None
    iso: str | None = None

    @property
    def offset(self) -> int:
        """How many units from the present it lies, ahead of it if positive."""
        return _STEPS.get(self.form, 0) * self.count

    def days(self, today: dt.date) -> Days:
        """Return the calendar days that it means on a day; of what has no direction the latest that has begun.

        Raises:
            ValueError, OverflowError: there is no such day, or it lies outside the years 1 to 9999.
        """
        if self.iso is not None:
            return _whole_day(dt.date.fromisoformat(self.iso[:10]))
        if self.weekday is not None and self.form is Form.COMING:
            return _whole_day(_weekday(self.weekday, 0, today + dt.timedelta(1)))
        if self.weekday is not None:
            return _whole_day(_weekday(self.weekday, _STEPS.get(self.form, -1), today))
        if self.month is not None and self.day is not None:
            return _whole_day(self._date(self.month, self.day, today))
        if self.month is not None:
            return month_of(dt.date(self.year or self._month_year(self.month, today), self.month, 1))
        if self.season is not None:
            return _season_of(self._season_year(self.season, today), self.season)
        if self.year is not None:
            return year_of(dt.date(self.year, 1, 1))
        return self._span(today)

    def _span(self, today: dt.date) -> Days:
        unit = self.unit or "day"
        if self.form is not Form.LATELY:
            return _unit(unit, self.offset, today)
        if unit == "weekend":
            return _unit(unit, -1, today)
        return today - dt.timedelta(self.count * unit_days(unit)), today + dt.timedelta(1)

    def _date(self, month: int, day: int, today: dt.date) -> dt.date:
        date = dt.date(self.year or today.year, month, day)
        return dt.date(today.year - 1, month, day) if self.year is None and date > today else date

    def _month_year(self, month: int, today: dt.date) -> int:
        if self.form is Form.LAST:
            return today.year - (month >= today.month)
        if self.form is Form.NEXT:
            return today.year + (month <= today.month)
        return today.year - (self.form is not Form.THIS and month > today.month)

    def _season_year(self, season: int, today: dt.date) -> int:
        """Return the year in which it begins. A winter is of that year, or of the next if it is still to begin."""
        begun = today.year - (_season_of(today.year, season)[0] > today)
        is_on = _season_of(begun, season)[1] > today
        if self.year is not None:
            return self.year - (begun < self.year and season == _WINTER)
        if self.form is Form.LAST:
            return begun - is_on
        if self.form is Form.NEXT:
            return begun + 1
        return today.year if self.form is Form.THIS and not is_on else begun


def month_of(day: dt.date) -> Days:
    """Return the calendar month that a day is in."""
    first = day.replace(day=1)
    return first, (first + dt.timedelta(32)).replace(day=1)


def year_of(day: dt.date) -> Days:
    """Return the calendar year that a day is in."""
    return dt.date(day.year, 1, 1), dt.date(day.year + 1, 1, 1)


def _season_of(year: int, season: int) -> Days:
    """Return a season that begins in a year: three whole months, as north of the equator."""
    first = dt.date(year, 3 * (season + 1), 1)
    return first, month_of(first + dt.timedelta(62))[1]


def _whole_day(day: dt.date) -> Days:
    return day, day + dt.timedelta(1)


def _unit(unit: str, step: int, today: dt.date) -> Days:
    """Return the calendar week, weekend, month or year so many from today's; of what is shorter, the day."""
    if unit == "year":
        return year_of(today.replace(year=today.year + step, day=1))
    if unit == "month":
        months = today.year * 12 + today.month - 1 + step
        return month_of(dt.date(months // 12, months % 12 + 1, 1))
    if unit not in _PERIODS:
        return _whole_day(today + dt.timedelta(int(step * UNIT_SECONDS[unit] / UNIT_SECONDS["day"])))
    monday = today - dt.timedelta(today.weekday() - 7 * step)
    if unit == "weekend":
        # On a Sunday "last weekend" is a week ago, on a Monday it was yesterday: the week before, both times.
        return monday + dt.timedelta(5), monday + dt.timedelta(7)
    return monday, monday + dt.timedelta(7)


def _weekday(number: int, step: int, today: dt.date) -> dt.date:
    """Return the last such day before today, the first from today on, or that of the next week."""
    if step < 0:
        return today - dt.timedelta((today.weekday() - number - 1) % 7 + 1)
    if step == 0:
        return today + dt.timedelta((number - today.weekday()) % 7)
    return today - dt.timedelta(today.weekday()) + dt.timedelta(7 + number)


# -- reading ----------------------------------------------------------------------------------------------------------


class DateText:
    """A text, word by word, and the expressions of time in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places = [match.span() for match in _TOKEN.finditer(text)]
        self.words = [text[start:end].lower().replace("’", "'") for start, end in self._places]
        self._expressions: dict[tuple[int, bool], DateExpression | None] = {}

    def find(self) -> Iterator[DateExpression]:
        """Yield the expressions, in order, none within another."""
        at = 0
        while at < len(self.words):
            found = self.read(at)
            if found is not None:
                yield found
            at = at + 1 if found is None else found.end

    def read(self, at: int, *, alone: bool = False) -> DateExpression | None:
        """Return the longest expression that begins with a word.

        Args:
            at: which word.
            alone: whether a date is expected there, so that a weekday, month or year by itself is one.
        """
        forms = _forms_from(self.words[at], self._told)
        if not forms:
            return None
        # Who looks for ranges, open ends and single dates asks the same word several times.
        if (at, alone) not in self._expressions:
            self._expressions[at, alone] = self._read_forms(at, forms, alone=alone)
        return self._expressions[at, alone]

    def _read_forms(self, at: int, forms: Sequence[_Template], *, alone: bool) -> DateExpression | None:
        found = [
            (*match, form, language)
            for language, form, places, parts in forms
            if (alone or form is not Form.ALONE) and (match := _match(places, parts, self.words, at))
        ]
        found = [match for match in found if self._may_be(match[3], at, match[0])] if self._told else found
        if not found:
            return None
        end, parts, form, language = max(found, key=lambda match: match[0])
        if not self.stands_apart(at, end) or ("count" in parts and self._in_number(at)):
            return None
        return DateExpression(form=form, language=language, first=at, end=end, text=self.between(at, end), **parts)

    @functools.cached_property
    def _told(self) -> tuple[str, ...]:
        """The languages besides those of every text that it may be in somewhere."""
        return find_told(self.words)

    def _may_be(self, language: str, first: int, end: int) -> bool:
        """Tell whether words may be a date in a language: in one that is told there, and no habit.

        Of what is read everywhere `mar 5` is none where another language is told.
        """
        if language == _EVERY:
            is_sure = _unsure_short_months().isdisjoint(self.words[first:end])
            return is_sure or not any(self._is_told(each, first, end) for each in self._told)
        is_habit = end - first == 1 and first > 0 and self.words[first - 1] in date_words(language).not_after
        return not is_habit and self._is_told(language, first, end)

    def list_languages(self) -> list[str]:
        """Return the languages whose words for dates may stand in it: those of every text, and those that all tells."""
        return [*languages(), *(language for language in self._told if is_told(language, self.words))]

    def _is_told(self, language: str, first: int, end: int) -> bool:
        return is_told(language, self.words[max(0, first - TOLD_BY) : end + TOLD_BY])

    def bound(self, at: int) -> tuple[str, int]:
        """Return what a word is before a date, of `DateWords.bounds`, and which word the date may begin with.

        '' for any other word.
        """
        word = self.words[at]
        name = _bound_words().get(word, "")
        if name or not self._told:
            return name, at + 1
        for language in self._told:
            words = date_words(language)
            if word in words.bounds and self._is_told(language, at, at + 1):
                return words.bounds[word], self._skip(words.links, at + 1)
        return "", at + 1

    def lead(self, at: int) -> str:
        """Return the word before a date that begins with a word; of a language that is told there, what it is called
        in `DateWords.bounds`."""
        for language in self._told:
            words, before = date_words(language), at - 1
            while before > 0 and self.words[before] in words.links:
                before -= 1
            if before >= 0 and self.words[before] in words.bounds and self._is_told(language, before, at):
                return words.bounds[self.words[before]]
        return self.words[at - 1] if at else ""

    def _skip(self, links: frozenset[str], at: int) -> int:
        while at < len(self.words) and self.words[at] in links:
            at += 1
        return at

    def between(self, first: int, end: int) -> str:
        """Return the text of some words, as written."""
        return self.text[self._places[first][0] : self._places[end - 1][1]]

    def stands_apart(self, first: int, end: int) -> bool:
        """Tell whether words are no part of a name: `last_week()`, `Monday.com`, `date.today`, `@today`."""
        start, stop = self._places[first][0], self._places[end - 1][1]
        before, after = self.text[max(0, start - 2) : start], self.text[stop : stop + 2]
        if before[-1:] in _NAME_BEFORE or after[:1] in _NAME_AFTER:
            return False
        return not (before[-1:] in _JOINERS and before[:-1].isalnum()) and not (
            after[:1] in _JOINERS and after[1:].isalpha()
        )

    def is_spaced(self, at: int) -> bool:
        """Tell whether space stands before a word."""
        return self.text[self._places[at][0] - 1 : self._places[at][0]].isspace()

    def _in_number(self, at: int) -> bool:
        """Tell whether a number goes on from the word before: `twenty five`, `3.5`."""
        before = self.words[at - 1] if at else ""
        if before in _number_words():
            return self.words[at] in _number_words()
        return (
            before == "." and at > 1 and self.words[at - 2].isdigit() and self._places[at - 1][1] == self._places[at][0]
        )


@functools.cache
def _number_words() -> frozenset[str]:
    return frozenset(word for language in languages() for word in date_words(language).numerals)


_Parts = dict[str, Any]
"""Attributes of a DateExpression that words give."""

_Place = tuple[bool, int, Mapping[str, _Parts]]
"""Whether some words have to stand or must not stand in a place, how many the longest are, and what they say."""

_Template = tuple[str, Form, tuple[_Place, ...], _Parts]
"""A form of expressions: its language, its places in order, and what it says whatever stands there."""


@functools.lru_cache(maxsize=16)
def read_question(text: str) -> DateText:
    """Return a question, to look for dates in: one search looks into it several times."""
    return DateText(text)


def _match(places: Iterable[_Place], parts: _Parts, words: Sequence[str], at: int) -> tuple[int, _Parts] | None:
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


def _forms_from(word: str, told: tuple[str, ...]) -> Sequence[_Template]:
    """Return the templates of expressions that may begin with a word, in a text that may be in some languages."""
    templates = _all_templates(told)
    known = templates.get(word, ())
    if not word[0].isdecimal():
        return known
    iso: _Template = (_EVERY, Form.NAMED, ((True, 1, {word: {"iso": word.upper()}}),), {})
    if "-" in word:
        return [iso]
    return [*known, *templates.get(_DIGITS, ())]


@functools.cache
def _all_templates(told: tuple[str, ...]) -> Mapping[str, Sequence[_Template]]:
    """Return the templates of every text and of some languages together, by the word that they begin with."""
    several = [_templates(language) for language in (_EVERY, *told)]
    words = {word for templates in several for word in templates}
    return {word: [form for templates in several for form in templates.get(word, ())] for word in words}


@functools.cache
def _templates(language: str) -> Mapping[str, Sequence[_Template]]:
    """Return the templates of a language, or of those of every text, by the word that they begin with."""
    found: dict[str, list[_Template]] = {}
    for each in languages() if language == _EVERY else (language,):
        for template in _language_templates(each, language):
            for word in {words.split()[0] for words in template[2][0][2]}:
                found.setdefault(word, []).append(template)
    return found


def _language_templates(language: str, read_in: str) -> Iterator[_Template]:
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
    periods = {word: unit for word, unit in words.units.items() if unit in _PERIODS}
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


# -- times of day -----------------------------------------------------------------------------------------------------


def clock_minutes(text: str) -> int | None:
    """Return the minutes since midnight that a time of day means (`3:30 pm`, `17:05`); None for any other text.

    A bare number is as often a count as an hour: it is none.
    """
    match = _CLOCK.fullmatch(text)
    if match is None or not (match[2] or match[3]):
        return None
    hour = int(match[1])
    if match[3]:
        hour = hour % 12 + (12 if match[3].lower() == "pm" else 0)
    return hour * 60 + int(match[2] or 0)
