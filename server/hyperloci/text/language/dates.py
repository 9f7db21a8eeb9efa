"""Expressions of dates and times in a text: `yesterday`, `three weeks ago`, `last March`, `2026-01-31`, `в пятницу`.

One grammar for every reader (`ingest.spoken_times` for turns, `retrieval.times` for questions and arguments,
`spaces.temporal` for times of day, `graph.values` for what is compared). Its words and forms are data: `[dates]` of a
language's file. What an expression means as calendar days is told here (UTC; weeks begin on Monday); a reader that
wants other bounds makes them of the expression's parts.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

_DATA: Final = Path(__file__).parent / "data"
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

_PERIODS: Final = ("week", "month", "year", "weekend")
_YEARS: Final = range(1900, 2100)
_MAX_DIGITS: Final = 6
_MAX_NUMERAL_WORDS: Final = 3


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
    NAMED = "named"
    """A date, weekday, month or year by its name: `on Friday`, `5 March`."""
    ALONE = "alone"
    """A weekday, month or year without a word that makes it a date; read only where a caller expects a date."""


_STEPS: Final[Mapping[Form, int]] = {
    Form.DAY: 1,
    Form.AGO: -1,
    Form.AHEAD: 1,
    Form.BEFORE_LAST: -2,
    Form.LAST: -1,
    Form.THIS: 0,
    Form.NEXT: 1,
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
        names: the first of each weekday and month.
        units: to the names of `UNIT_SECONDS`, and to `weekend`.
        numerals: numbers in words.
        counts, vague_counts: what stands for a number in front of a unit, of one word or several; the numerals too.
        parts_of_day: to their middle, in hours.
        ordinals: endings of a day's number.
        clock: what stands before a time of day.
        bounds: to `since`, `after`, `before`, `by`, `between` or `and`.
    """

    weekdays: dict[str, int]
    short_weekdays: Mapping[str, int]
    plural_weekdays: dict[str, int]
    months: Mapping[str, int]
    names: frozenset[str]
    units: Mapping[str, str]
    numerals: Mapping[str, int]
    counts: Mapping[str, int]
    vague_counts: Mapping[str, int]
    parts_of_day: Mapping[str, float]
    ordinals: tuple[str, ...]
    clock: frozenset[str]
    bounds: Mapping[str, str]


@functools.cache
def languages() -> tuple[str, ...]:
    """Return the languages that have a file, by their code."""
    return tuple(sorted(path.stem for path in _DATA.glob("*.toml") if "dates" in _table(path)))


@functools.cache
def date_words(language: str) -> DateWords:
    """Return a language's words for dates.

    Raises:
        FileNotFoundError: no such language.
    """
    table = _table(_DATA / f"{language}.toml")["dates"]
    numerals = {word: int(number) for number, words in table["numerals"].items() for word in words.split()}
    return DateWords(
        weekdays=_numbered(table["weekdays"]),
        short_weekdays=_numbered(table["short_weekdays"]),
        plural_weekdays=_numbered(table["plural_weekdays"]),
        months=_numbered(table["months"], start=1),
        names=frozenset(words.split()[0] for words in (*table["weekdays"], *table["months"])),
        units=_inverted(table["units"]),
        numerals=numerals,
        counts=numerals | _counted(table["counts"]),
        vague_counts=_counted(table["vague_counts"]),
        parts_of_day={word: float(hour) for word, hour in _inverted(table["parts_of_day"]).items()},
        ordinals=tuple(table["ordinals"].split()),
        clock=frozenset(table["clock"].split()),
        bounds=_inverted(table["bounds"]),
    )


@functools.cache
def _table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _numbered(names: Sequence[str], start: int = 0) -> dict[str, int]:
    return {word: number for number, words in enumerate(names, start) for word in words.split()}


def _inverted(names: Mapping[str, str]) -> dict[str, str]:
    return {word: name for name, words in names.items() for word in words.split()}


def _counted(names: Mapping[str, Sequence[str]]) -> dict[str, int]:
    return {words: int(number) for number, several in names.items() for words in several}


# -- expressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class DateExpression:
    """An expression of a time in a text.

    Attributes:
        form: how it names its time.
        text: as written.
        first, end: its first word, and the first after it (places in `DateText.words`).
        count: how many units, or days from today; `vague`: it stands for a word like `few`.
        unit: a name of `UNIT_SECONDS`, or `weekend`.
        weekday, month, day, year: what is named, Monday 0, January 1.
        iso: an ISO 8601 date, or date and time.
    """

    form: Form
    text: str = ""
    first: int = 0
    end: int = 0
    count: int = 1
    vague: bool = False
    unit: str | None = None
    weekday: int | None = None
    month: int | None = None
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
        if self.weekday is not None:
            return _whole_day(_weekday(self.weekday, _STEPS.get(self.form, -1), today))
        if self.month is not None and self.day is not None:
            return _whole_day(self._date(self.month, self.day, today))
        if self.month is not None:
            return month_of(dt.date(self.year or self._month_year(self.month, today), self.month, 1))
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


def month_of(day: dt.date) -> Days:
    """Return the calendar month that a day is in."""
    first = day.replace(day=1)
    return first, (first + dt.timedelta(32)).replace(day=1)


def year_of(day: dt.date) -> Days:
    """Return the calendar year that a day is in."""
    return dt.date(day.year, 1, 1), dt.date(day.year + 1, 1, 1)


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
        templates = _templates().get("0" if self.words[at][0].isdigit() else self.words[at], ())
        best: tuple[int, _Template, dict[str, Any]] | None = None
        for template in templates:
            found = template.match(self.words, at) if alone or template.form is not Form.ALONE else None
            if found is not None and (best is None or found[0] > best[0]):
                best = (found[0], template, found[1])
        if best is None or not self._stands_apart(at, best[0]) or ("count" in best[2] and self._in_number(at)):
            return None
        end, template, parts = best
        return DateExpression(form=template.form, first=at, end=end, text=self.between(at, end), **parts)

    def between(self, first: int, end: int) -> str:
        """Return the text of some words, as written."""
        return self.text[self._places[first][0] : self._places[end - 1][1]]

    def _stands_apart(self, first: int, end: int) -> bool:
        """Tell whether words are no part of a longer identifier."""
        start, stop = self._places[first][0], self._places[end - 1][1]
        return "_" not in (self.text[start - 1 : start], self.text[stop : stop + 1])

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


@dataclass(frozen=True, slots=True)
class _Slot:
    """A place in a template: one of some words.

    Attributes:
        words: what may stand here, to the part of the expression and the value that it gives.
        numbers: parts that digits may give here.
        ordinals: endings of a day's number.
        absent: none of the words may stand here, and nothing is read.
    """

    words: Mapping[str, tuple[str, Any]]
    numbers: frozenset[str] = frozenset()
    ordinals: tuple[str, ...] = ()
    absent: bool = False

    def match(self, words: Sequence[str], at: int) -> tuple[int, dict[str, Any]] | None:
        """Return where it ends and the parts that it gives; None where it doesn't match."""
        if self.absent:
            return None if at < len(words) and words[at] in self.words else (at, {})
        if at >= len(words):
            return None
        if words[at][0].isdigit():
            parts = self._number(words[at])
            return None if parts is None else (at + 1, parts)
        for length in range(min(_MAX_NUMERAL_WORDS, len(words) - at) if "count" in self.numbers else 1, 0, -1):
            found = self.words.get(" ".join(words[at : at + length]))
            if found is not None:
                return at + length, _parts(*found)
        return None

    def _number(self, word: str) -> dict[str, Any] | None:
        if "iso" in self.numbers and "-" in word:
            return {"iso": word.upper()}
        if "day" in self.numbers:
            ending = next((ending for ending in self.ordinals if word.endswith(ending)), "")
            word = word.removesuffix(ending)
        if not (word.isascii() and word.isdigit()):
            return None
        if "count" in self.numbers and len(word) <= _MAX_DIGITS:
            return {"count": int(word)}
        if "day" in self.numbers and len(word) <= 2:
            return {"day": int(word)}
        return {"year": int(word)} if "year" in self.numbers and len(word) == 4 and int(word) in _YEARS else None


def _parts(name: str, value: Any) -> dict[str, Any]:
    if name == "vague_count":
        return {"count": value, "vague": True}
    return {name: value} if name else {}


@dataclass(frozen=True, slots=True)
class _Template:
    """A form of expressions: its places in order, and what it says whatever stands there."""

    form: Form
    slots: tuple[_Slot, ...]
    parts: Mapping[str, Any]

    def match(self, words: Sequence[str], at: int) -> tuple[int, dict[str, Any]] | None:
        """Return the first word after an expression that begins at a word, and its parts; None if none does."""
        parts = dict(self.parts)
        for slot in self.slots:
            found = slot.match(words, at)
            if found is None:
                return None
            at = found[0]
            parts |= found[1]
        return at, parts


@functools.cache
def _templates() -> Mapping[str, Sequence[_Template]]:
    """Return the templates of all languages by the word that they begin with, `0` for digits."""
    found: dict[str, list[_Template]] = {}
    for template in itertools.chain([_ISO], *map(_language_templates, languages())):
        first = template.slots[0]
        for word in {word.split()[0] for word in first.words} | ({"0"} if first.numbers else set()):
            found.setdefault(word, []).append(template)
    return found


_ISO: Final = _Template(Form.NAMED, (_Slot({}, frozenset({"iso"})),), {})


def _language_templates(language: str) -> Iterator[_Template]:
    table = _table(_DATA / f"{language}.toml")["dates"]
    slots = _Slots(date_words(language))
    for days, texts in table["days"].items():
        yield from slots.expand(Form.DAY, texts, {"count": int(days)})
    for form, texts in table["forms"].items():
        yield from slots.expand(Form(form), texts, {})
    yield from slots.expand(Form.ALONE, ("{weekday}", "{month} {year}?", "{year}"), {})


class _Slots:
    """The places of a language's templates, each made once."""

    def __init__(self, words: DateWords) -> None:
        units = {word: unit for word, unit in words.units.items() if UNIT_SECONDS.get(unit, 0) >= 1}
        periods = {word: unit for word, unit in words.units.items() if unit in _PERIODS}
        self._ordinals = words.ordinals
        self._known: dict[str, _Slot] = {}
        self._tables = {
            "{weekday}": _part("weekday", words.weekdays),
            "{short_weekday}": _part("weekday", words.short_weekdays),
            "{month}": _part("month", words.months),
            "{unit}": _part("unit", units),
            "{period}": _part("unit", periods),
            "{count}": _part("count", words.counts) | _part("vague_count", words.vague_counts),
            "{day}": {},
            "{year}": {},
        }

    def expand(self, form: Form, texts: Sequence[str], parts: Mapping[str, Any]) -> Iterator[_Template]:
        """Yield a template for each choice of optional places."""
        for text in texts:
            choices = [((place[:-1],), ()) if place.endswith("?") else ((place,),) for place in text.split()]
            for chosen in itertools.product(*choices):
                yield _Template(form, tuple(self._slot(place) for place in itertools.chain(*chosen)), parts)

    def _slot(self, place: str) -> _Slot:
        if place not in self._known:
            self._known[place] = self._make(place)
        return self._known[place]

    def _make(self, place: str) -> _Slot:
        names = place.removeprefix("!").split("|")
        words: dict[str, tuple[str, Any]] = {}
        for name in names:
            words |= self._tables[name] if name.startswith("{") else {name: ("", None)}
        numbers = frozenset(name.strip("{}") for name in names if name in ("{count}", "{day}", "{year}"))
        return _Slot(words, numbers, self._ordinals, place.startswith("!"))


def _part(name: str, table: Mapping[str, Any]) -> dict[str, tuple[str, Any]]:
    return {word: (name, value) for word, value in table.items()}


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
