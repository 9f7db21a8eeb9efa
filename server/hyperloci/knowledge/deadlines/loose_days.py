"""Loose days: what is a day in a deadline alone, `starts Thursday 5 pm`, `moved to the 23rd`, `6/14`.

In other statements the same words are habits, versions, fractions, other things' numbers.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.deadlines.near_days import DAY, choose_year, find_day_of_month, is_day_number
from hyperloci.text.language.dates import DateText, Form, date_words, languages
from hyperloci.text.language.ordinal_months import ORDINAL_MONTHS

_DAYS_A_WEEK: Final = 7
_SUNDAY: Final = 7
_MONTHS: Final = 12

_MONTH_NAMES: Final = "|".join(sorted({*ORDINAL_MONTHS, *date_words("en").months}, key=len, reverse=True))
_ORDINAL: Final = re.compile(
    r"(?:(?:\b(?:by|on|before|until|till|til|to|through|for|is|of|now|from)|'s),? the"
    r"|\b\w{3,6}day,?(?: the)?|\b(?:am|zum)) "
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)(?![\w.])(?! ?(?:of\b|\d))(?! (?:{_MONTH_NAMES})\b)"
    r"|(?<!not )\bthe (?P<day2>\d{1,2})(?:st|nd|rd|th)(?=[.,;!?]|$)",
    re.IGNORECASE,
)
"""`The 3rd attempt` is no day: something must lead to it, or nothing follow."""

_FRACTION: Final = re.compile(r"(?<![\w./-])(?!24/7)(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\w/%]|\.\d)")
"""`24/7` means always, though July has a 24th."""

_DOTTED: Final = re.compile(
    r"(?<![\w./-])(?P<day>\d{1,2})\.(?P<month>\d{2})\.(?![\w.])|(?<![\w./-])(?P<day2>\d{2})\.(?P<month2>\d)\.(?![\w.])"
)
_WEEK: Final = re.compile(r"\b(?:KW|CW|calendar week|kalenderwoche) ?(?P<week>\d{1,2})\b", re.IGNORECASE)
_PART_OF_MONTH: Final = re.compile(
    rf"\b(?P<part>anfang|mitte|ende|mid|end of|early)[ -](?P<month>{_MONTH_NAMES})\b", re.IGNORECASE
)
_PART_ENDS: Final = {"anfang": 10, "early": 10, "mitte": 20, "mid": 20}
"""The last day of a part of a month."""

_TIME: Final = re.compile(
    r"(?:at )?(?:\d{1,2}(?!\d|st|nd|rd|th)|noon|midnight|morning|afternoon|evening|night)", re.IGNORECASE
)
"""What makes a weekday before it one day: `Sunday 8pm`, `Sunday noon`, `Thursday at 10`."""


def read_loose_days(text: str, today: dt.date) -> Iterator[dt.date]:
    """Yield the days that a deadline names, which nothing else does, in no order; what is no day is left out."""
    yield from _read_weekdays(text, today)
    for match in _ORDINAL.finditer(text):
        with contextlib.suppress(ValueError):
            if is_day_number(text, match.end()):
                yield find_day_of_month(today, int(match["day"] or match["day2"]))
    is_day_first = len(DateText(text).list_languages()) > len(languages())
    for match in _FRACTION.finditer(text):
        yield from _read_fraction(int(match["first"]), int(match["second"]), today, is_day_first=is_day_first)
    for match in _DOTTED.finditer(text):
        with contextlib.suppress(ValueError):
            yield choose_year(today, int(match["month"] or match["month2"]), int(match["day"] or match["day2"]))
    for match in _WEEK.finditer(text):
        with contextlib.suppress(ValueError):
            yield _find_week_end(today, int(match["week"]))
    for match in _PART_OF_MONTH.finditer(text):
        with contextlib.suppress(ValueError):
            name = match["month"].lower()
            number = ORDINAL_MONTHS.get(name) or date_words("en").months[name]
            yield choose_year(today, number, _PART_ENDS.get(match["part"].lower()))


def _read_weekdays(text: str, today: dt.date) -> Iterator[dt.date]:
    """Yield the next weekday of each that stands alone beside a time or `is`; `Wednesday week` is a week later.

    `The council met Thursday` is past. Of `Monday the 15th` its number says more.
    """
    words, at = DateText(text), 0
    while at < len(words.words):
        found = words.read(at, alone=True)
        if found is None or found.weekday is None or found.form not in (Form.ALONE, Form.NAMED):
            at += 1
            continue
        is_said = at > 0 and words.words[at - 1] == "is"
        after = words.words[found.end : found.end + 2]
        at = found.end
        is_later = after[:1] == ["week"]
        if is_later or is_said or after == ["'", "s"] or _TIME.match(" ".join(after)):
            yield replace(found, form=Form.THIS).days(today)[0] + (_DAYS_A_WEEK * DAY if is_later else dt.timedelta())


def _read_fraction(first: int, second: int, today: dt.date, *, is_day_first: bool) -> Iterator[dt.date]:
    """Yield the day that `6/14` or `31/12` means; `3/12` is one in Europe and another in America: in English none."""
    months = {second} if is_day_first and second <= _MONTHS else {n for n in (first, second) if n <= _MONTHS}
    if len(months) == 1:
        month = months.pop()
        with contextlib.suppress(ValueError):
            yield choose_year(today, month, first + second - month)


def _find_week_end(today: dt.date, number: int) -> dt.date:
    """Return the Sunday of a calendar week, this year's or, where that is past, the next one's.

    Raises:
        ValueError: neither year has such a week.
    """
    end = dt.date.fromisocalendar(today.year, number, _SUNDAY)
    return end if end >= today else dt.date.fromisocalendar(today.year + 1, number, _SUNDAY)
