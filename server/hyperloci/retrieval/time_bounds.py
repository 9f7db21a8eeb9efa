"""Time bounds: of a question (`yesterday`, `in March`, `since 2026-01-31`) and of arguments (B.05, B.07)."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import replace
from typing import Final

from hyperloci.clock import end_of_day, format_day, from_local_iso, read_day, start_of_day
from hyperloci.errors import BadRequestError
from hyperloci.system.values import dataclass
from hyperloci.text.language.dates import DateExpression, DateText, Form, month_of, read_question, unit_days, unit_ms

_RANGES: Final = {"between": ("and",), "from": ("to", "by"), "since": ("to", "by")}
"""What stands between the two ends of a time, by the word before the first."""

_JOINS: Final = ("to", "and", "-", "–", "—")
"""The same between two months, where nothing stands before."""

_MONTH: Final = re.compile(r"[0-9]{4}-[0-9]{2}")
_WEEK_NAME: Final = re.compile(r"[0-9]{4}-?W[0-9]{2}")
_TO_SUNDAY: Final = dt.timedelta(6)
_YEAR: Final = re.compile(r"(?<![0-9])[12][0-9]{3}(?![0-9])")


@dataclass(frozen=True, slots=True)
class TimeBounds:
    """A stretch of time that a question speaks of: from `after` on, before `before`, either open; in milliseconds.

    `expression` is what says so, as the question has it; `is_vague` where it counts by a word like `few`.
    """

    after: int | None
    before: int | None
    expression: str
    is_vague: bool = False

    def describe(self) -> str:
        """Return the days from the first to the last: `2026-11-09..2026-11-15`, `since 2026-11-09`."""
        first = None if self.after is None else format_day(self.after)
        last = None if self.before is None else format_day(self.before - 1)
        if first is None or last is None:
            return f"since {first}" if last is None else f"up to {last}"
        return first if first == last else f"{first}..{last}"


OpenSpan = tuple[int | None, int | None]


def find_time_bounds(query: str, now: int) -> TimeBounds | None:
    """Return the first stretch of time that a question names, or the first with its year; None if it names none.

    Days and times are those of this machine's time zone. `last week` is the calendar's, as in what turns speak of
    (`text.language.relative_dates`), `the past week` the seven days up to now; a month or weekday by name is the latest
    one that has begun.
    """
    text = read_question(query)
    named = filter(None, (_read_bounds(text, at, now) for at in range(len(text.words))))
    # An underscore makes a name of code.
    found = [bounds for bounds in named if "_" not in bounds.expression]
    # "last Friday, before 10 April 2026": what is counted from now gives way to what says its year.
    return next((bounds for bounds in found if _YEAR.search(bounds.expression)), found[0] if found else None)


def parse_time_bound(text: str, now_ms: int, *, argument: str = "after") -> int:
    """Turn what a person may write for a time bound into milliseconds (B.07).

    Understands ISO 8601, `2026-03`, `now` and every expression that a question may hold, which is its beginning:
    `last_week`, `3 days ago`, `March 2026`; underscores and spaces are the same.

    Raises:
        BadRequestError: nothing of the kind; the message names the argument and forms that work.
    """
    return _parse_span(text, now_ms, argument)[0]


def parse_moment(text: str, now_ms: int, *, argument: str) -> int:
    """Return the moment of which a person asks what held (B.14): the end of a day or longer, or now within it.

    Raises:
        BadRequestError: as of `parse_time_bound`.
    """
    first, end = _parse_span(text, now_ms, argument)
    last = now_ms if end is None else max(first, end - 1)
    return min(last, now_ms) if first <= now_ms else last


def _parse_span(text: str, now: int, argument: str) -> tuple[int, int | None]:
    """Return when a time begins and when it is over, None where that is still to come; a moment begins and is over."""
    word = text.strip()
    try:
        if word.lower() == "now":
            return now, now
        if _MONTH.fullmatch(word):
            first, end = month_of(dt.date.fromisoformat(f"{word}-01"))
            return start_of_day(first), start_of_day(end)
        if len(word) <= len("2026-01-31"):
            day = dt.date.fromisoformat(word)
            return start_of_day(day), end_of_day(day + _TO_SUNDAY if _WEEK_NAME.fullmatch(word) else day)
        return from_local_iso(word), from_local_iso(word)
    except (ValueError, OverflowError):
        span = _parse_whole_expression(DateText(word), now)
    if span is None:
        raise BadRequestError(
            f"{argument}={text!r} is not a time. Use today, yesterday, last_week, last_month, '3 days ago', "
            "YYYY-MM-DD or an ISO 8601 date-time."
        )
    return span


def _parse_whole_expression(text: DateText, now: int) -> tuple[int, int | None] | None:
    """Return the stretch of an expression, a moment where it counts from now; None for any other text."""
    found = text.read(0, alone=True) if text.words else None
    if found is None or found.end < len(text.words):
        return None
    if found.form is Form.AGO and found.unit is not None:
        moment = now + found.offset * unit_ms(found.unit)
        return moment, moment
    span = _resolve_expression(found, now)
    return None if span is None or span[0] is None else (span[0], span[1])


def _read_bounds(text: DateText, at: int, now: int) -> TimeBounds | None:
    """Return the bounds of the expression that begins with a word, if one does."""
    found = _read_range(text, at, now) or _read_open(text, at, now)
    if found is not None:
        return found
    expression = text.read(at) or _read_month(text, at)
    span = None if expression is None else _resolve_expression(expression, now)
    return None if expression is None or span is None else TimeBounds(*span, expression.text, expression.vague)


def _read_month(text: DateText, at: int) -> DateExpression | None:
    """Return the month of a year that begins with a word: a question's `March 2026` is a time, whatever leads to it."""
    found = text.read(at, alone=True)
    return found if found is not None and found.month is not None and found.year is not None else None


def _read_open(text: DateText, at: int, now: int) -> TimeBounds | None:
    """Return the bounds of an expression with one end, like `since March`."""
    how, date_at = text.bound(at)
    found = _read_date(text, date_at)
    span = None if found is None else _resolve_expression(found, now)
    if found is None or span is None:
        return None
    after, before = span
    spans = {
        "since": (after, None),
        "starting": (after, None),
        "after": (after if before is None else before, None),
        "before": (None, after),
        "by": (None, after if before is None else before),
    }
    return TimeBounds(*spans[how], text.between(at, found.end)) if how in spans else None


def _read_range(text: DateText, at: int, now: int) -> TimeBounds | None:
    """Return the bounds of an expression with two ends: `between Monday and Friday`, `March to May 2026`."""
    how, date_at = text.bound(at)
    first = _read_date(text, date_at if how in _RANGES else at)
    if first is None or first.end >= len(text.words):
        return None
    join, last_at = text.bound(first.end)
    joins = _RANGES.get(how, _JOINS)
    last = _read_date(text, last_at) if join in joins or text.words[first.end] in joins else None
    if last is None or not _is_range(first, last, how):
        return None
    start, end = (_resolve_expression(date, now) for date in _share_year(first, last))
    if start is None or end is None:
        return None
    before = end[0] if end[1] is None else end[1]
    is_ordered = start[0] is None or before is None or start[0] < before
    return TimeBounds(start[0], before, text.between(at, last.end)) if is_ordered else None


def _is_range(first: DateExpression, last: DateExpression, how: str) -> bool:
    """Tell whether two dates are the ends of a time, by the word before them; `from 2000 to 2048` counts anything."""
    if how == "between":
        return True
    if not how:
        return None not in (first.month, last.month) and (first.year or last.year) is not None
    return not (first.form is Form.ALONE and first.year is not None and first.month is first.season is None)


def _share_year(first: DateExpression, last: DateExpression) -> tuple[DateExpression, DateExpression]:
    """Return the ends of a range, the one without a year in that of the other: `March to May 2024`."""
    if first.month is None or last.month is None:
        return first, last
    turns = (first.month, first.day or 0) > (last.month, last.day or 0)
    if first.year is None and last.year is not None:
        return replace(first, year=last.year - turns), last
    if last.year is None and first.year is not None:
        return first, replace(last, year=first.year + turns)
    return first, last


def _read_date(text: DateText, at: int) -> DateExpression | None:
    """Return the date that is expected to begin with a word."""
    return text.read(at, alone=True) if at < len(text.words) else None


def _resolve_expression(found: DateExpression, now: int) -> OpenSpan | None:
    """Return the stretch that an expression means now; None where there is no such day."""
    try:
        return (
            _resolve_moment(found.iso)
            if found.iso and len(found.iso) > len("2026-01-31")
            else _resolve_stretch(found, now)
        )
    except (ValueError, OverflowError):
        return None


def _resolve_moment(iso: str) -> OpenSpan:
    moment = from_local_iso(iso)
    return moment, moment + unit_ms("minute")


def _resolve_stretch(found: DateExpression, now: int) -> OpenSpan:
    if found.unit is not None and found.unit != "weekend":
        if found.form is Form.LATELY:
            return now - found.count * unit_ms(found.unit), None
        if found.form in (Form.AGO, Form.AHEAD):
            return _resolve_offset(found.offset, found.unit, now)
    first, end = (start_of_day(day) for day in found.days(read_day(now)))
    return first, None if found.form is Form.THIS and found.unit not in (None, "weekend") else end


def _resolve_offset(count: int, unit: str, now: int) -> OpenSpan:
    """Return what so many units from now mean: as fine as the unit, and half a unit wider than weeks and more."""
    half = unit_ms(unit) // 2
    if unit in ("second", "minute", "hour"):
        moment = now + count * unit_ms(unit)
        return moment - half, moment + half
    # Counted in days: one on which clocks are put on or back has 23 or 25 hours.
    day = read_day(now) + dt.timedelta(count * unit_days(unit))
    half = 0 if unit == "day" else half
    return start_of_day(day) - half, end_of_day(day) + half
