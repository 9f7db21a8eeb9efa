"""The calendar: how long units of time are, and which days a week, month, season or year has.

Weeks begin on Monday, seasons are whole months.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Final

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

PERIODS: Final = ("week", "month", "year", "weekend")
"""Units that begin on a day of the calendar."""

Days = tuple[dt.date, dt.date]
"""First day, and the first that is not in it any more."""


def unit_days(unit: str) -> int:
    """Return the whole days of a unit: 30 of a month, 365 of a year, none of an hour."""
    return int(UNIT_SECONDS[unit] // UNIT_SECONDS["day"])


def unit_ms(unit: str) -> int:
    """Return how long a unit of a second or more is, in milliseconds; from a day on in whole days."""
    return round(unit_days(unit) * UNIT_SECONDS["day"] or UNIT_SECONDS[unit]) * 1_000


def month_of(day: dt.date) -> Days:
    """Return the calendar month that a day is in."""
    first = day.replace(day=1)
    return first, (first + dt.timedelta(32)).replace(day=1)


def year_of(day: dt.date) -> Days:
    """Return the calendar year that a day is in."""
    return dt.date(day.year, 1, 1), dt.date(day.year + 1, 1, 1)


def season_of(year: int, season: int) -> Days:
    """Return a season that begins in a year: three whole months, as north of the equator."""
    first = dt.date(year, 3 * (season + 1), 1)
    return first, month_of(first + dt.timedelta(62))[1]


def whole_day(day: dt.date) -> Days:
    """Return the days of one day alone."""
    return day, day + dt.timedelta(1)


def unit_span(unit: str, step: int, today: dt.date) -> Days:
    """Return the calendar week, weekend, month or year so many from today's; of what is shorter, the day."""
    if unit == "year":
        return year_of(today.replace(year=today.year + step, day=1))
    if unit == "month":
        months = today.year * 12 + today.month - 1 + step
        return month_of(dt.date(months // 12, months % 12 + 1, 1))
    if unit not in PERIODS:
        return whole_day(today + dt.timedelta(int(step * UNIT_SECONDS[unit] / UNIT_SECONDS["day"])))
    monday = today - dt.timedelta(today.weekday() - 7 * step)
    if unit == "weekend":
        # On a Sunday "last weekend" is a week ago, on a Monday it was yesterday: the week before, both times.
        return monday + dt.timedelta(5), monday + dt.timedelta(7)
    return monday, monday + dt.timedelta(7)


def weekday_near(number: int, step: int, today: dt.date) -> dt.date:
    """Return the last such day before today, the first from today on, or that of the next week."""
    if step < 0:
        return today - dt.timedelta((today.weekday() - number - 1) % 7 + 1)
    if step == 0:
        return today + dt.timedelta((number - today.weekday()) % 7)
    return today - dt.timedelta(today.weekday()) + dt.timedelta(7 + number)
