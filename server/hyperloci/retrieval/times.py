"""Expressions of time in a question, as bounds: `yesterday`, `3 days ago`, `in March`, `since 2026-01-31` (B.05)."""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hyperloci.clock import MS_PER_DAY

_MONTHS_EN: Final = "january february march april may june july august september october november december".split()  # noqa: SIM905
_MONTHS_RU: Final = (
    "январ",
    "феврал",
    "март",
    "апрел",
    "ма[йея]",
    "июн",
    "июл",
    "август",
    "сентябр",
    "октябр",
    "ноябр",
    "декабр",
)
_DAYS: Final = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905
_UNIT_MS: Final = {
    "minute": 60_000,
    "hour": 3_600_000,
    "day": MS_PER_DAY,
    "week": 7 * MS_PER_DAY,
    "month": 30 * MS_PER_DAY,
    "year": 365 * MS_PER_DAY,
}
_RU_UNITS: Final = {
    "минут": "minute",
    "час": "hour",
    "дн": "day",
    "ден": "day",
    "недел": "week",
    "месяц": "month",
    "лет": "year",
    "год": "year",
}
_NUMBERS: Final = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
    "couple of": 2,
    "few": 3,
}

_UNIT: Final = r"(minute|hour|day|week|month|year)s?"
_RU_UNIT: Final = r"(минут|час|дн|ден|недел|месяц|лет|год)\w*"
_COUNT: Final = rf"(\d{{1,4}}|{'|'.join(_NUMBERS)})"
_MONTH: Final = rf"({'|'.join(_MONTHS_EN)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_HINT: Final = re.compile(
    rf"\d|day|night|morning|week|month|year|hour|minute|{'|'.join(month[:3] for month in _MONTHS_EN)}|вчера|сегодня|"
    rf"{'|'.join((*_RU_UNITS, *_MONTHS_RU))}",
    re.IGNORECASE,
)
"""What every expression has one of. Most questions have none and are spared two dozen patterns, which take a hook five
milliseconds to compile."""

_ISO: Final = r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:?\d{2})?)?"


@dataclass(frozen=True, slots=True)
class Bounds:
    """A stretch of time that a question speaks of: from `after` on, before `before`, either open; in milliseconds.

    `text` is the expression, as the question has it.
    """

    after: int | None
    before: int | None
    text: str


Span = tuple[int | None, int | None]
Reader = Callable[[re.Match[str], int], Span]


def find_time(query: str, now: int) -> Bounds | None:
    """Return the first stretch of time that a question names; None if it names none.

    Days are UTC days. `last week` is the seven days up to now, as in the bounds of a search (`clock.parse_when`); a
    month or weekday by name is the latest one that has begun.
    """
    if _HINT.search(query) is None:
        return None
    best: tuple[int, int, Bounds] | None = None
    for order, (pattern, read) in enumerate(_readers()):
        match = pattern.search(query)
        if match is None:
            continue
        try:
            after, before = read(match, now)
        except (ValueError, OverflowError):
            continue
        if best is None or (match.start(), order) < best[:2]:
            best = (match.start(), order, Bounds(after, before, match[0].strip()))
    return None if best is None else best[2]


@functools.cache
def _readers() -> tuple[tuple[re.Pattern[str], Reader], ...]:
    word = r"(?<!\w)(?:{})(?!\w)"
    point = "|".join(
        (
            r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?)?",
            r"yesterday|today|last[ _](?:week|month|year)",
            rf"(?:\d{{1,4}}|{'|'.join(_NUMBERS)}) (?:minute|hour|day|week|month|year)s? ago",
            rf"{_MONTH.replace('(', '(?:', 1)}(?: \d{{4}})?",
            rf"(?:last )?(?:{'|'.join(_DAYS)})",
            r"\d{4}",
        )
    )
    readers: tuple[tuple[str, Reader], ...] = (
        (rf"between (?P<a>{point}) and (?P<b>{point})", _between),
        (rf"(?P<how>since|after|before|until|till|by) (?P<a>{point})", _open),
        (rf"(?:in|over|during|within) the (?:last|past) {_COUNT}? ?{_UNIT}|(?:last|past) (\d{{1,4}}) {_UNIT}", _lately),
        (rf"{_COUNT} {_UNIT} ago", _ago),
        (r"(?:the )?day before yesterday|позавчера", lambda _, now: _day(now, -2)),
        (r"yesterday|вчера", lambda _, now: _day(now, -1)),
        (r"today|this morning|tonight|сегодня", lambda _, now: _day(now, 0)),
        (
            r"(?:last|past|previous)[ _]week|(?:на |за )?(?:прошл|последн)\w+ недел\w+",
            lambda _, now: (now - _UNIT_MS["week"], None),
        ),
        (
            r"(?:last|past|previous)[ _]month|(?:в |за )?(?:прошл|последн)\w+ месяц\w*",
            lambda _, now: (now - _UNIT_MS["month"], None),
        ),
        (
            r"(?:last|past|previous)[ _]year|(?:в |за )?(?:прошл|последн)\w+ год\w*",
            lambda _, now: (now - _UNIT_MS["year"], None),
        ),
        (r"this week|на этой неделе", lambda _, now: (_midnight(now) - _at(now).weekday() * MS_PER_DAY, None)),
        (r"this month|в этом месяце", lambda _, now: (_first(_at(now).year, _at(now).month), None)),
        (r"this year|в этом году", lambda _, now: (_first(_at(now).year, 1), None)),
        (rf"(\d{{1,4}}) {_RU_UNIT} назад", _ago_ru),
        (
            rf"за последн\w+ (\d{{1,4}}) {_RU_UNIT}",
            lambda match, now: (now - int(match[1]) * _UNIT_MS[_RU_UNITS[match[2].lower()]], None),
        ),
        (_ISO, _iso),
        (rf"(?:on )?{_MONTH} (\d{{1,2}})(?:st|nd|rd|th)?(?:,? (\d{{4}}))?", _date),
        (rf"(?:on )?(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (\d{{4}}))?", _date_turned),
        (rf"(?:in|during|last|this|of) {_MONTH}(?:,? (\d{{4}}))?", _month),
        (rf"в ({'|'.join(_MONTHS_RU)})\w*(?: (\d{{4}}))?", _month_ru),
        (rf"(?:on|last|this) ({'|'.join(_DAYS)})", _weekday),
        (
            r"(?:in|during|в) ((?:19|20)\d{2})(?: году)?",
            lambda match, _: (_first(int(match[1]), 1), _first(int(match[1]) + 1, 1)),
        ),
    )
    return tuple((re.compile(word.format(pattern), re.IGNORECASE), read) for pattern, read in readers)


def _between(match: re.Match[str], now: int) -> Span:
    first, second = find_time(_named(match["a"]), now), find_time(_named(match["b"]), now)
    if first is None or second is None:
        raise ValueError(match[0])
    return first.after, second.before if second.before is not None else second.after


def _open(match: re.Match[str], now: int) -> Span:
    bounds = find_time(_named(match["a"]), now)
    if bounds is None:
        raise ValueError(match[0])
    how = match["how"].lower()
    if how == "since":
        return bounds.after, None
    if how == "after":
        return bounds.before if bounds.before is not None else bounds.after, None
    return None, bounds.before if how == "by" and bounds.before is not None else bounds.after


def _named(text: str) -> str:
    """Return an expression as it would stand by itself: `March` as `in March`, `Friday` as `on Friday`."""
    if re.fullmatch(rf"{_MONTH}(?: \d{{4}})?|\d{{4}}", text, re.IGNORECASE):
        return f"in {text}"
    return f"on {text}" if text.lower() in _DAYS else text


def _lately(match: re.Match[str], now: int) -> Span:
    count, unit = (match[1] or "1", match[2]) if match[2] else (match[3], match[4])
    return now - _number(count) * _UNIT_MS[unit.lower()], None


def _ago(match: re.Match[str], now: int) -> Span:
    return _around(_number(match[1]), match[2].lower(), now)


def _ago_ru(match: re.Match[str], now: int) -> Span:
    return _around(int(match[1]), _RU_UNITS[match[2].lower()], now)


def _around(count: int, unit: str, now: int) -> Span:
    """Return the stretch that `N units ago` means: as fine as its unit, and half a unit wider than weeks and more."""
    moment = now - count * _UNIT_MS[unit]
    if unit in ("minute", "hour"):
        return moment - _UNIT_MS[unit] // 2, moment + _UNIT_MS[unit] // 2
    if unit == "day":
        return _day(moment, 0)
    return _midnight(moment) - _UNIT_MS[unit] // 2, _midnight(moment) + _UNIT_MS[unit] // 2 + MS_PER_DAY


def _iso(match: re.Match[str], now: int) -> Span:
    day = _ms(dt.datetime.fromisoformat(match[1]).replace(tzinfo=dt.UTC))
    if match[2] is None:
        return day, day + MS_PER_DAY
    text = f"{match[1]}T{match[2]}{match[3] or '+00:00'}"
    moment = _ms(dt.datetime.fromisoformat(text))
    return moment, moment + _UNIT_MS["minute"]


def _date(match: re.Match[str], now: int) -> Span:
    return _of_date(_month_number(match[1]), int(match[2]), match[3], now)


def _date_turned(match: re.Match[str], now: int) -> Span:
    return _of_date(_month_number(match[2]), int(match[1]), match[3], now)


def _of_date(month: int, day: int, year: str | None, now: int) -> Span:
    at = _at(now)
    start = _ms(dt.datetime(int(year) if year else at.year, month, day, tzinfo=dt.UTC))
    if year is None and start > now:
        start = _ms(dt.datetime(at.year - 1, month, day, tzinfo=dt.UTC))
    return start, start + MS_PER_DAY


def _month(match: re.Match[str], now: int) -> Span:
    return _of_month(_month_number(match[1]), match[2], now)


def _month_ru(match: re.Match[str], now: int) -> Span:
    number = next(n for n, stem in enumerate(_MONTHS_RU, start=1) if re.fullmatch(stem, match[1], re.IGNORECASE))
    return _of_month(number, match[2], now)


def _of_month(month: int, year: str | None, now: int) -> Span:
    at = _at(now)
    when = int(year) if year else at.year - (month > at.month)
    return _first(when, month), _first(when + month // 12, month % 12 + 1)


def _weekday(match: re.Match[str], now: int) -> Span:
    back = (_at(now).weekday() - _DAYS.index(match[1].lower())) % 7 or 7
    return _day(now, -back)


def _day(now: int, offset: int) -> Span:
    start = _midnight(now) + offset * MS_PER_DAY
    return start, start + MS_PER_DAY


def _midnight(now: int) -> int:
    return now - now % MS_PER_DAY


def _first(year: int, month: int) -> int:
    return _ms(dt.datetime(year, month, 1, tzinfo=dt.UTC))


def _at(now: int) -> dt.datetime:
    return dt.datetime.fromtimestamp(now / 1_000, dt.UTC)


def _ms(moment: dt.datetime) -> int:
    return round(moment.timestamp() * 1_000)


def _month_number(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS_EN, start=1) if month.startswith(name.lower()[:3]))


def _number(word: str) -> int:
    return _NUMBERS[word.lower()] if word.lower() in _NUMBERS else int(word)
