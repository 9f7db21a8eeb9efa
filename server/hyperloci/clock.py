"""Clock: the time in milliseconds since the epoch, UTC, which tests can replace."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import time
from collections.abc import Callable, Mapping, MutableMapping

from hyperloci.system.data_paths import CLOCK_VARIABLE

Clock = Callable[[], int]
"""A function that returns now, in milliseconds since 1970-01-01 UTC."""

MS_PER_DAY = 86_400_000

_ANYWHERE_MS = MS_PER_DAY + MS_PER_DAY // 2
"""From midnight UTC, when a day begins, to its end where it ends last: twelve hours behind UTC."""

_AGE_UNITS = (
    ("year", 365 * MS_PER_DAY),
    ("month", 30 * MS_PER_DAY),
    ("week", 7 * MS_PER_DAY),
    ("day", MS_PER_DAY),
    ("hour", 3_600_000),
    ("minute", 60_000),
)

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_MILLISECOND = dt.timedelta(milliseconds=1)
_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""The first time that the calendar has a day for, of the year 1, and the last, of 9999."""


OFFSET_VARIABLE = CLOCK_VARIABLE
"""Seconds added to the clock of every process, so that recorded sessions are replayed at their own dates. For replays
and tests only: memories made under it carry the shifted times."""


_MAX_OFFSET_SECONDS = 100 * 365 * 86_400.0
"""A hundred years: what lies further on no calendar here has days for."""


def is_offset(text: str) -> bool:
    """Tell whether a text is a number of seconds that the clock can be moved by."""
    try:
        return abs(float(text)) <= _MAX_OFFSET_SECONDS
    except ValueError:
        return False


def read_offset(environ: Mapping[str, str]) -> int:
    """Return the clock's offset in milliseconds; 0 where the variable is absent, or nothing to move it by."""
    said = environ.get(OFFSET_VARIABLE) or "0"
    return round(float(said) * 1_000) if is_offset(said) else 0


_OFFSET_MS = read_offset(os.environ)


def forget_offset(environ: MutableMapping[str, str] | None = None) -> None:
    """Go by the system's clock from now on, as do processes started with `environ`: the offset is not the user's."""
    global _OFFSET_MS
    _OFFSET_MS = 0
    if environ is not None:
        environ.pop(OFFSET_VARIABLE, None)


def system_clock() -> int:
    """Return the time in milliseconds since the epoch: the system's, moved by `HYPERLOCI_CLOCK_OFFSET`."""
    return time.time_ns() // 1_000_000 + _OFFSET_MS


def read_clock(environ: Mapping[str, str]) -> int:
    """Return the time by the clock of a process with this environment: a hook's, of whose event another one writes."""
    return time.time_ns() // 1_000_000 + read_offset(environ)


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


def to_wall_time(ms: int) -> int:
    """Return what the clocks of this machine's time zone show at a time, as if they showed UTC.

    Where the calendar has no such day, or the system no clock for it, they show UTC.
    """
    try:
        wall = ms + time.localtime(ms // 1_000).tm_gmtoff * 1_000
    except (OverflowError, OSError, ValueError):
        return ms
    return wall if _FIRST_MS <= wall <= _LAST_MS else ms


def read_day(ms: int) -> dt.date:
    """Return the day of a time where this machine stands: what its user calls today.

    Raises:
        OverflowError: a time before the year 1, or after 9999.
    """
    return (_EPOCH + to_wall_time(ms) * _MILLISECOND).date()


def format_day(ms: int) -> str:
    """Render the day of a time where this machine stands (`2026-11-21`)."""
    return read_day(ms).isoformat()


def format_minute(ms: int) -> str:
    """Render a time as the clocks of this machine's time zone show it (`2026-11-21 08:30`)."""
    return to_iso(to_wall_time(ms))[:16].replace("T", " ")


def from_local_iso(text: str) -> int:
    """Parse ISO 8601 as a person writes it; a time without an offset is of this machine's time zone.

    Raises:
        ValueError: the text is not ISO 8601.
    """
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        with contextlib.suppress(OverflowError, OSError, ValueError):  # As in `to_wall_time`.
            return round(moment.timestamp() * 1_000)
    return from_iso(text)


def start_of_day(day: dt.date) -> int:
    """Return when a day begins where this machine stands, in milliseconds: not each has a midnight, or one only."""
    return from_local_iso(day.isoformat())


def end_of_day(day: dt.date) -> int:
    """Return when a day is over where this machine stands, in milliseconds."""
    return start_of_day(day + dt.timedelta(1)) if day < dt.date.max else _LAST_MS + 1


def read_day_end(day: object) -> int | None:
    """Return when a day in ISO 8601 is over everywhere on earth, in milliseconds; None for anything else."""
    try:
        midnight = from_iso(str(day or "")[:10])
    except ValueError:
        return None
    return midnight + _ANYWHERE_MS


def format_age(ms: int, now: int) -> str:
    """Render how long ago a time was, for people, in the largest unit of which it is at least one (`3 days ago`).

    A time that is less than a minute ago, or still to come, is `just now`.
    """
    for unit, length in _AGE_UNITS:
        if count := max(0, now - ms) // length:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"
