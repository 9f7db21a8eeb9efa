"""Near days: which day is meant by one without its year or month, seen from today."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from typing import Final

from hyperloci.store.keywords.analysis import stop_words
from hyperloci.text.language.dates import date_words, month_of

DAY: Final = dt.timedelta(days=1)
_YEAR: Final = dt.timedelta(days=366)

LATELY: Final = dt.timedelta(days=60)
"""A day without a year that is no longer ago is past: `submitted on 12 July`, said in August. One that is longer ago is
the next one: who says `by 5 January` in December means ahead."""

_NEXT_WORD: Final = re.compile(r" (?P<word>[^\W\d_]+)")
_GOING_ON: Final = frozenset({"already", "even", "instead", "please", "since", "unless"})
"""Words that go on after a day and are no stop words of a search."""


def is_day_number(text: str, end: int) -> bool:
    """Tell whether an English ordinal that ends there is a day: `by the 2nd attempt`, `on the 1st Sunday` count others.

    What it counts is a word of its own; after a day the sentence goes on with one that says nothing alone, or a name.
    """
    following = _NEXT_WORD.match(text, end)
    if following is None or not text[end - 1].isalpha():
        return True
    word, words = following["word"].lower(), date_words("en")
    if word in words.weekdays or word in words.units:
        return False
    return following["word"][0].isupper() or word in stop_words() | _GOING_ON or word in words.parts_of_day


def choose_year(today: dt.date, month: int, day: int | None) -> dt.date:
    """Return the first such day, or end of the month, that is ahead within a year or was lately.

    Raises:
        ValueError: there is no such day.
    """
    for year in (today.year - 1, today.year, today.year + 1):
        with contextlib.suppress(ValueError):
            found = make_day(year, month, day)
            if -LATELY <= found - today <= _YEAR:
                return found
    raise ValueError(f"no day {day} of month {month} near {today}")


def make_day(year: int, month: int, day: int | None) -> dt.date:
    """Return a day, or the last one of a month.

    Raises:
        ValueError: there is no such day.
    """
    return month_of(dt.date(year, month, 1))[1] - DAY if day is None else dt.date(year, month, day)


def find_day_of_month(today: dt.date, number: int) -> dt.date:
    """Return the first day of that number that is not past: not every month has a 31st.

    Raises:
        ValueError: no month has it.
    """
    month = today.replace(day=1)
    for _ in range(3):
        with contextlib.suppress(ValueError):
            day = month.replace(day=number)
            if day >= today:
                return day
        month = month_of(month)[1]
    raise ValueError(f"no month has a day {number}")
