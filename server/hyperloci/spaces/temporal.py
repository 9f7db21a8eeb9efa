"""Temporal spaces (E2, E3): recency and rhythm, computed on demand; nothing of them is stored.

They order what other spaces found and never make a topic (architecture, AP-60).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.clock import MS_PER_DAY
from hyperloci.store.vectors.bits import FloatArray
from hyperloci.system.values import dataclass
from hyperloci.text.language.dates import clock_minutes, date_words, read_question

MS_PER_HOUR: Final = MS_PER_DAY // 24

RECENCY_SCALES_DAYS: Final = (1 / 24, 1.0, 7.0, 30.0, 365.0)
"""An hour, a day, a week, a month, a year: one decay alone tells apart only ages near its own scale."""

DAY_HARMONICS: Final = (1, 2, 3)
"""Waves a day; three tell 9:00 from 11:00 (cosine 0.5) and still know both as morning."""

WEEK_HARMONICS: Final = (1, 2, 3)
"""Waves a week; with three, two days in a row differ (cosine 0.4) and none is as near as the day itself."""

_EPOCH_WEEKDAY: Final = 3
"""1 January 1970 was a Thursday; Monday is 0."""


def score_recency(times: NDArray[np.int64], now: int) -> FloatArray:
    """E2: return how fresh moments are, 0..1: the mean of exponential decays from an hour to a year.

    Args:
        times: milliseconds since the epoch; what lies in the future is as fresh as can be.
        now: the present, in the same unit.
    """
    days = np.maximum(0, now - np.asarray(times, np.int64)).astype(np.float64) / MS_PER_DAY
    decays = np.exp(-days[:, None] / np.array(RECENCY_SCALES_DAYS))
    return np.asarray(decays.mean(axis=1), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class RhythmMoment:
    """A time of day, a day of the week, or both.

    Attributes:
        hour: 0..24, local; None for any.
        weekday: Monday 0 to Sunday 6; None for any.
    """

    hour: float | None = None
    weekday: int | None = None


_WORD: Final = re.compile(r"\w+")
_CLOCK: Final = re.compile(r"\s+(\d{1,2}(?::\d{2})?\s*(?:am|pm)?)\b", re.IGNORECASE)
_LAST_HOUR: Final = 24


def moment_of(text: str) -> RhythmMoment | None:
    """Return the time of day or day of the week that a question names (`on Friday evening`), or None."""
    tables = [date_words(language) for language in read_question(text).list_languages()]
    words = [(match[0].lower(), match.end()) for match in _WORD.finditer(text)]
    hours = [table.parts_of_day[word] for table in tables for word, _ in words if word in table.parts_of_day]
    names = [table.weekdays | table.plural_weekdays for table in tables]
    weekdays = [name[word] for name in names for word, _ in words if word in name]
    clocks = (_clock_hour(text, end) for word, end in words if any(word in table.clock for table in tables))
    hour = next((hour for hour in clocks if hour is not None), min(hours, default=None))
    return None if hour is None and not weekdays else RhythmMoment(hour, min(weekdays, default=None))


def _clock_hour(text: str, at: int) -> float | None:
    match = _CLOCK.match(text, at)
    minutes = None if match is None else clock_minutes(match[1])
    return None if minutes is None or minutes >= (_LAST_HOUR + 1) * 60 else minutes / 60


def score_rhythm(times: NDArray[np.int64], moment: RhythmMoment, *, utc_offset_ms: int = 0) -> FloatArray:
    """E3: return how near moments are to a time of day and a day of the week, 0..1; parts left open don't count.

    Args:
        times: milliseconds since the epoch.
        moment: what is asked for.
        utc_offset_ms: what local time is ahead of UTC.
    """
    local = np.asarray(times, np.int64) + utc_offset_ms
    wanted: list[FloatArray] = []
    if moment.hour is not None:
        hours = (local % MS_PER_DAY) / MS_PER_HOUR
        wanted.append(_harmonic_nearness((hours - moment.hour).astype(np.float64), 24.0, DAY_HARMONICS))
    if moment.weekday is not None:
        days = (local // MS_PER_DAY + _EPOCH_WEEKDAY) % 7
        wanted.append(_harmonic_nearness((days - moment.weekday).astype(np.float64), 7.0, WEEK_HARMONICS))
    if not wanted:
        return np.full(len(local), np.nan, np.float32)
    return np.asarray(np.mean(wanted, axis=0), dtype=np.float32)


def _harmonic_nearness(distance: NDArray[np.float64], period: float, harmonics: Sequence[int]) -> FloatArray:
    """Return the cosine of Fourier features that far apart, negative ones cut off.

    The features of a moment t are (cos kt, sin kt) for each harmonic k; two moments' dot product is cos k(t - u).
    """
    angles = 2 * np.pi * distance[:, None] / period * np.array(harmonics)
    return np.asarray(np.clip(np.cos(angles).mean(axis=1), 0.0, 1.0), dtype=np.float32)
