"""Relative dates: days named by their distance: "last Friday", "two weeks ago", "в прошлом месяце" (issue 6, B.05).

Each is resolved against the day it was said, to a span as wide as the words are: a day, a calendar week, month or
year, the days up to then. Left out is what is vague ("a few days ago", "soon"), what names its day or could lie on
either side ("5 March", "on Friday") and what says nothing new ("today", "this month", "two hours ago").
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from hyperloci.clock import MS_PER_DAY, read_day
from hyperloci.system.values import dataclass
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.dates import DateExpression, DateText, Form, month_of, unit_days, year_of

MAX_TIMES: Final = 12
"""Of one turn; who speaks of more days lists them."""

MAX_CHARS: Final = 20_000
"""Looked at in a turn: what follows was pasted."""

MAX_AGO: Final = 1_200
"""Units back or ahead; more is no date."""

_EPOCH: Final = dt.date(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class RelativeDate:
    """A span of whole days, in milliseconds (`until` is the first that is not in it), and the words for it."""

    since: int
    until: int
    phrase: str

    def __str__(self) -> str:
        """Return the words and what they mean: `last Friday: 2023-07-14`."""
        return f"{self.phrase}: {format_span(self.since, self.until)}"


def format_span(since: int, until: int) -> str:
    """Return a span of days as a date, a month, a year, or first and last day."""
    first, last = _to_date(since), _to_date(until - 1)
    if first == last:
        return first.isoformat()
    if (first, last + dt.timedelta(1)) == month_of(first):
        return f"{first:%Y-%m}"
    if (first, last + dt.timedelta(1)) == year_of(first):
        return str(first.year)
    return f"{first.isoformat()} to {last.isoformat()}"


def find_relative_dates(text: str, said_at: int) -> tuple[RelativeDate, ...]:
    """Return the days that a text speaks of, said at a time in milliseconds; each once, in order."""
    today = read_day(said_at)
    found: dict[tuple[int, int], RelativeDate] = {}
    for expression in DateText(mask_code(text[:MAX_CHARS])).find():
        if not adds_information(expression):
            continue
        try:
            first, end = expression.days(today)
        except (ValueError, OverflowError):
            continue  # Before the year 1, after the year 9999.
        span = (_to_ms(first), _to_ms(end))
        found.setdefault(span, RelativeDate(*span, phrase=" ".join(expression.text.split())))
        if len(found) >= MAX_TIMES:
            break
    return tuple(found.values())


def adds_information(expression: DateExpression) -> bool:
    """Tell whether an expression says of a turn which day it speaks of, and no other reader could know it."""
    if expression.vague or expression.form is Form.NAMED or expression.count > MAX_AGO or "_" in expression.text:
        return False  # A name with an underscore is one of code.
    if expression.unit is None:
        return expression.count != 0 or expression.form is not Form.DAY
    if expression.unit == "weekend":
        return True
    return unit_days(expression.unit) > 0 and expression.form is not Form.THIS


def _to_date(ms: int) -> dt.date:
    return _EPOCH + dt.timedelta(ms // MS_PER_DAY)


def _to_ms(day: dt.date) -> int:
    return (day - _EPOCH).days * MS_PER_DAY
