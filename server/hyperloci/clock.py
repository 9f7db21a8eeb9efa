"""Time, in one place: milliseconds since the epoch, UTC, taken from a clock that tests can replace."""

from __future__ import annotations

import datetime as dt
import re
import time
from collections.abc import Callable

from hyperloci.errors import BadRequestError

Clock = Callable[[], int]
"""A function that returns now, in milliseconds since 1970-01-01 UTC."""

MS_PER_DAY = 86_400_000

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND = dt.timedelta(milliseconds=1)

_AGO = re.compile(r"^(\d+)\s+(minute|hour|day|week|month)s?\s+ago$")
_UNIT_MS = {
    "minute": 60_000,
    "hour": 3_600_000,
    "day": MS_PER_DAY,
    "week": 7 * MS_PER_DAY,
    "month": 30 * MS_PER_DAY,
}
_NAMED_DAYS = {"last_week": 7, "last_month": 30, "last_year": 365}


def system_clock() -> int:
    """Return the system's time in milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def to_iso(ms: int) -> str:
    """Render a time as ISO 8601 with offset, to the millisecond (`2026-11-21T07:30:00.000+00:00`)."""
    return (_EPOCH + ms * _MILLISECOND).isoformat(timespec="milliseconds")


def from_iso(text: str) -> int:
    """Parse ISO 8601; a time without an offset is taken as UTC.

    Raises:
        ValueError: the text is not ISO 8601.
    """
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return round((moment - _EPOCH) / _MILLISECOND)


def parse_when(text: str, now_ms: int, *, argument: str = "after") -> int:
    """Turn what a person may write for a time bound into milliseconds (B.07).

    Understands `today`, `yesterday`, `last_week`, `last_month`, `last_year`, `N minutes/hours/days/weeks/months ago`,
    `YYYY-MM-DD` and ISO 8601 date-times; underscores and spaces are the same.

    Raises:
        BadRequestError: nothing of the kind; the message names the argument and the forms that work.
    """
    word = re.sub(r"[\s_]+", " ", text.strip().lower())
    midnight = now_ms - now_ms % MS_PER_DAY
    if word == "today":
        return midnight
    if word == "yesterday":
        return midnight - MS_PER_DAY
    if word == "now":
        return now_ms
    days = _NAMED_DAYS.get(word.replace(" ", "_"))
    if days is not None:
        return now_ms - days * MS_PER_DAY
    ago = _AGO.match(word)
    if ago and len(ago[1]) <= 6:
        return now_ms - int(ago[1]) * _UNIT_MS[ago[2]]
    try:
        return from_iso(text.strip())
    except (ValueError, OverflowError):
        raise BadRequestError(
            f"{argument}={text!r} is not a time. Use today, yesterday, last_week, last_month, '3 days ago', "
            "YYYY-MM-DD or an ISO 8601 date-time."
        ) from None
