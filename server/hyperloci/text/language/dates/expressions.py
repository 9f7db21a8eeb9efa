"""Expressions of a time: how one names it, and which calendar days it means on a day.

A reader that wants other bounds makes them from the expression's parts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.language.dates.calendar_days import (
    Days,
    month_of,
    season_of,
    unit_days,
    unit_span,
    weekday_near,
    whole_day,
    year_of,
)

_WINTER: Final = 3


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
            return whole_day(dt.date.fromisoformat(self.iso[:10]))
        if self.weekday is not None and self.form is Form.COMING:
            return whole_day(weekday_near(self.weekday, 0, today + dt.timedelta(1)))
        if self.weekday is not None:
            return whole_day(weekday_near(self.weekday, _STEPS.get(self.form, -1), today))
        if self.month is not None and self.day is not None:
            return whole_day(self._date(self.month, self.day, today))
        if self.month is not None:
            return month_of(dt.date(self.year or self._month_year(self.month, today), self.month, 1))
        if self.season is not None:
            return season_of(self._season_year(self.season, today), self.season)
        if self.year is not None:
            return year_of(dt.date(self.year, 1, 1))
        return self._span(today)

    def _span(self, today: dt.date) -> Days:
        unit = self.unit or "day"
        if self.form is not Form.LATELY:
            return unit_span(unit, self.offset, today)
        if unit == "weekend":
            return unit_span(unit, -1, today)
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
        begun = today.year - (season_of(today.year, season)[0] > today)
        is_on = season_of(begun, season)[1] > today
        if self.year is not None:
            return self.year - (begun < self.year and season == _WINTER)
        if self.form is Form.LAST:
            return begun - is_on
        if self.form is Form.NEXT:
            return begun + 1
        return today.year if self.form is Form.THIS and not is_on else begun
