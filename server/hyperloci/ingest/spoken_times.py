"""Days that somebody speaks of without naming them: "last Friday", "two weeks ago", "в прошлом месяце" (issue 6, B.05).

Each is resolved against the day it was said, to a span as wide as the words are: a day, a calendar week, month or year
(UTC; weeks begin on Monday). Rules, not a library: dateparser's search took 3 to 13 ms a turn and read "We", "may" and
"yesterday and" as dates; these take 0.03 ms and leave out what is vague ("the other day", "soon") or says nothing new
("today", "this month").
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hyperloci.text.language.fences import mask_code

MAX_TIMES: Final = 12
"""Of one turn; who speaks of more days lists them."""

MAX_CHARS: Final = 20_000
"""Looked at in a turn: what follows was pasted."""

MAX_AGO: Final = 1_200
"""Units back or ahead; more is no date."""

_MS: Final = 86_400_000
_EPOCH: Final = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class SpokenTime:
    """A span of whole days, in milliseconds (`until` is the first that is not in it), and the words for it."""

    since: int
    until: int
    phrase: str

    def __str__(self) -> str:
        """Return the words and what they mean: `last Friday: 2023-07-14`."""
        return f"{self.phrase}: {span_text(self.since, self.until)}"


def span_text(since: int, until: int) -> str:
    """Return a span of days as a date, a month, a year, or first and last day."""
    first, last = _day(since), _day(until - 1)
    if first == last:
        return first.isoformat()
    if (first, last + dt.timedelta(1)) == _month(first):
        return f"{first:%Y-%m}"
    if (first, last + dt.timedelta(1)) == _year(first):
        return str(first.year)
    return f"{first.isoformat()} to {last.isoformat()}"


def spoken_times(text: str, said_at: int) -> tuple[SpokenTime, ...]:
    """Return the days that a text speaks of, said at a time in milliseconds; each once, in order."""
    if not _HINT.search(text):
        return ()
    today = _day(said_at)
    found: dict[tuple[int, int], SpokenTime] = {}
    for match in _phrases().finditer(mask_code(text[:MAX_CHARS])):
        for first, end in _spans(match, today):
            span = (_ms(first), _ms(end))
            found.setdefault(span, SpokenTime(*span, phrase=" ".join(match[0].split())))
        if len(found) >= MAX_TIMES:
            break
    return tuple(found.values())


_Span = tuple[dt.date, dt.date]
"""First day, and the first that is not in it any more."""

_NUMBERS: Final[Mapping[str, int]] = {
    **dict.fromkeys(("a", "an", "one", "один", "одну", "одна"), 1),
    **dict.fromkeys(("two", "couple", "a couple", "a couple of", "couple of", "два", "две", "пару", "пара"), 2),
    **dict.fromkeys(("three", "три"), 3),
    **dict.fromkeys(("four", "четыре"), 4),
    **dict.fromkeys(("five", "пять"), 5),
    **dict.fromkeys(("six", "шесть"), 6),
    **dict.fromkeys(("seven", "семь"), 7),
    **dict.fromkeys(("eight", "восемь"), 8),
    **dict.fromkeys(("nine", "девять"), 9),
    **dict.fromkeys(("ten", "десять"), 10),
    **dict.fromkeys(("twelve", "двенадцать"), 12),
}
_WEEKDAYS: Final = (
    r"mon(?:day)?|понедельник",
    r"tue(?:s(?:day)?)?|вторник",
    r"wed(?:nesday)?|сред[ау]",
    r"thu(?:rs(?:day)?)?|четверг",
    r"fri(?:day)?|пятниц[ау]",
    r"sat(?:urday)?|суббот[ау]",
    r"sun(?:day)?|воскресенье",
)
_MONTHS: Final = (
    r"jan(?:uary)?|январ[ея]",
    r"feb(?:ruary)?|феврал[ея]",
    r"mar(?:ch)?|март[ае]?",
    r"apr(?:il)?|апрел[ея]",
    r"may|ма[ея]",
    r"june?|июн[ея]",
    r"july?|июл[ея]",
    r"aug(?:ust)?|август[ае]?",
    r"sep(?:t(?:ember)?)?|сентябр[ея]",
    r"oct(?:ober)?|октябр[ея]",
    r"nov(?:ember)?|ноябр[ея]",
    r"dec(?:ember)?|декабр[ея]",
)
_UNITS: Final[Mapping[str, str]] = {
    "day": r"days?|д(?:ень|ня|ней)",
    "week": r"weeks?|недел(?:ю|и|ь|е)",
    "month": r"months?|месяц(?:а|ев|е|у)?",
    "year": r"years?|год(?:а|у)?|лет",
    "weekend": r"weekend|выходны[ехм]+",
}


def _either(patterns: Mapping[str, str] | tuple[str, ...]) -> str:
    return "|".join(patterns.values() if isinstance(patterns, Mapping) else patterns)


_COUNT: Final = r"\d{1,4}|" + "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_UNIT: Final = _either({name: pattern for name, pattern in _UNITS.items() if name != "weekend"})
_PAST: Final = r"last|past|previous|прошл(?:ый|ая|ое|ой|ую|ом|ого|ых)"
_NEXT: Final = r"next|upcoming|following|следующ(?:ий|ая|ее|ей|ую|ем|его|их)"
_THIS: Final = r"this|this coming|эт(?:от|у|и|их)"
_PHRASE: Final = rf"""\b(?:
      (?P<before>(?:the\s+)?day\s+before\s+yesterday|позавчера)
    | (?P<yesterday>yesterday|last\s+night|вчера|прошлой\s+ночью)
    | (?P<after>(?:the\s+)?day\s+after\s+tomorrow|послезавтра)
    | (?P<tomorrow>tomorrow|завтра)
    | (?P<weeks_before>(?:the\s+)?week(?P<end>end)?\s+before\s+last)
    | (?:(?P<ago>{_COUNT})\s+)?(?P<ago_unit>{_UNIT})\s+(?:ago|back\b(?!\s+(?:to|and|in|from|up))|назад)
    | (?:in|через)\s+(?:(?P<ahead>{_COUNT})\s+)?(?P<ahead_unit>{_UNIT})(?:['’]s?\s+time)?
    | (?:(?P<past>{_PAST})|(?P<next>{_NEXT})|(?P<this>{_THIS}))\s+
      (?:(?P<weekday>{_either(_WEEKDAYS)})|(?P<month>{_either(_MONTHS)})|(?P<unit>{_either(_UNITS)}))
    )\b"""
_HINT: Final = re.compile(
    r"ago|yesterday|tomorrow|last|past|previous|next|upcoming|following|this|\bin\b|back|before|вчера|завтра|назад|через"
    r"|прошл|следующ|\bэт",
    re.IGNORECASE,
)
"""One of these stands in every phrase; most turns have none and are done with in a microsecond."""


@functools.cache
def _phrases() -> re.Pattern[str]:
    # Made when a text needs it: it takes longer than a hook's own work.
    return re.compile(_PHRASE, re.IGNORECASE | re.VERBOSE)


def _spans(match: re.Match[str], today: dt.date) -> Iterator[_Span]:
    """Yield the span of one phrase; nothing for what is no date after all."""
    try:
        span = _span(match, today)
    except (ValueError, OverflowError):
        return  # Before the year 1, after the year 9999.
    if span is not None:
        yield span


def _span(match: re.Match[str], today: dt.date) -> _Span | None:
    for name, days in (("before", -2), ("yesterday", -1), ("tomorrow", 1), ("after", 2)):
        if match[name]:
            return _whole_day(today + dt.timedelta(days))
    if match["weeks_before"]:
        return _unit("weekend" if match["end"] else "week", -2, today)
    for count, unit, sign in (("ago", "ago_unit", -1), ("ahead", "ahead_unit", 1)):
        if match[unit]:
            if match[count] is None and match[unit].isascii():
                return None  # "Years ago" is no year; "неделю назад" is a week.
            return _counted(match[count], _name_of(_UNITS, match[unit]), sign, today)
    step = -1 if match["past"] else 1 if match["next"] else 0
    if match["weekday"]:
        return _whole_day(_weekday(_number_of(_WEEKDAYS, match["weekday"]), step, today))
    if match["month"]:
        return _named_month(_number_of(_MONTHS, match["month"]) + 1, step, today)
    unit_name = _name_of(_UNITS, match["unit"])
    # "This week" is when it was said; the weekend of a week is not.
    return None if step == 0 and unit_name != "weekend" else _unit(unit_name, step, today)


def _counted(count: str | None, unit: str, sign: int, today: dt.date) -> _Span | None:
    number = 1 if count is None else _NUMBERS.get(" ".join(count.lower().split())) or int(count)
    if number > MAX_AGO:
        return None
    if unit == "day":
        return _whole_day(today + dt.timedelta(sign * number))
    return _unit(unit, sign * number, today)


def _unit(unit: str, step: int, today: dt.date) -> _Span:
    """Return the calendar week, weekend, month or year so many from today's; a day is a day."""
    if unit == "day":
        return _whole_day(today + dt.timedelta(step))
    if unit == "year":
        return _year(today.replace(year=today.year + step, day=1))
    if unit == "month":
        months = today.year * 12 + today.month - 1 + step
        return _month(dt.date(months // 12, months % 12 + 1, 1))
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


def _named_month(number: int, step: int, today: dt.date) -> _Span:
    """Return the last such month that is over, the next that has not begun, or this year's."""
    year = today.year
    if step < 0 and number >= today.month:
        year -= 1
    if step > 0 and number <= today.month:
        year += 1
    return _month(dt.date(year, number, 1))


def _whole_day(day: dt.date) -> _Span:
    return day, day + dt.timedelta(1)


def _month(day: dt.date) -> _Span:
    first = day.replace(day=1)
    return first, (first + dt.timedelta(32)).replace(day=1)


def _year(day: dt.date) -> _Span:
    return dt.date(day.year, 1, 1), dt.date(day.year + 1, 1, 1)


def _number_of(patterns: tuple[str, ...], word: str) -> int:
    return next(n for n, pattern in enumerate(patterns) if re.fullmatch(pattern, word, re.IGNORECASE))


def _name_of(patterns: Mapping[str, str], word: str) -> str:
    return next(name for name, pattern in patterns.items() if re.fullmatch(pattern, word, re.IGNORECASE))


def _day(ms: int) -> dt.date:
    return _EPOCH + dt.timedelta(ms // _MS)


def _ms(day: dt.date) -> int:
    return (day - _EPOCH).days * _MS
