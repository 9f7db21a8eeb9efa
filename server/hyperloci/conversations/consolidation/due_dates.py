"""Due dates: the day that a deadline names, seen from the day it was said on."""

from __future__ import annotations

import datetime as dt

from hyperloci.clock import MS_PER_DAY
from hyperloci.text.language.dates import DateExpression, DateText

_EPOCH = dt.date(1970, 1, 1)


def read_due_date(text: str, said_at: int) -> str | None:
    """Return the first day ahead that a deadline names, as ISO 8601; None if it names none.

    Args:
        text: the deadline.
        said_at: when it was said, in milliseconds.
    """
    today = _EPOCH + dt.timedelta(days=said_at // MS_PER_DAY)
    days = (_read_day(found, today) for found in DateText(text).find())
    return next((day.isoformat() for day in days if day is not None and day >= today), None)


def _read_day(found: DateExpression, today: dt.date) -> dt.date | None:
    """Return the last day that an expression means; a day and month without a year is the next one."""
    try:
        if found.month is not None and found.day is not None and found.year is None:
            day = dt.date(today.year, found.month, found.day)
            return day if day >= today else day.replace(year=today.year + 1)
        return found.days(today)[1] - dt.timedelta(days=1)
    except (ValueError, OverflowError):
        return None
