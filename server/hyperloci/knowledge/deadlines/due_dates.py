"""Due dates: the day that a deadline names, and the last one of what holds for a time, seen from when it was said."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from hyperloci.clock import read_day
from hyperloci.knowledge.deadlines.day_names import drop_day_names
from hyperloci.knowledge.deadlines.loose_days import read_loose_days
from hyperloci.knowledge.deadlines.near_days import (
    DAY,
    choose_year,
    find_day_of_month,
    is_day_number,
    make_day,
)
from hyperloci.text.language.dates import DateExpression, DateText, Form, date_words
from hyperloci.text.language.negation import count_negations
from hyperloci.text.language.ordinal_months import ORDINAL_MONTHS
from hyperloci.text.language.sentences import sentence_spans

_EPOCH = dt.date(1970, 1, 1)

_AHEAD: Final = frozenset(
    {"by", "until", "till", "before", "due", "of", "on", "eod", "eob", "cob", "до", "к", "ко", "на"}
)
"""After these a weekday, month or year by itself is a day that is meant."""

_BEHIND: Final = frozenset({"since", "starting", "after", "from", "с", "со", "после"})
"""After these a time begins, and nothing is due."""

_STARTS: Final = frozenset({"from", "starting"})

_UNTIL: Final = re.compile(
    r"\b(?:until|till|til|jusqu|hasta|(?P<by>до))\b(?! (?:now|ahora|сих пор)\b|['’](?:ici|à présent)\b)", re.IGNORECASE
)
"""In Russian it is also the word for "by": so only where something is denied. German, where it is too, is left out.

`until now` ends nothing ahead.
"""

_CLAUSE_END: Final = re.compile(
    r"[,;:)]|\((?! ?\d)|\b(?:and|or|but|as of|und|oder|aber|et|ou|mais|y|o|pero|и|или|но)\b", re.IGNORECASE
)

UNTIL_CHARS: Final = 60
"""Between `until` and its day may stand what happens on it: `until the audit on 27 March is through`."""

TIMED_SHARE: Final = 0.5
"""Share of a statement that must hold for a time for all of it to end then: the rest is a reason, or a greeting."""

_MONTHS_A_QUARTER: Final = 3
_QUARTER: Final = re.compile(
    r"\b(?P<start>(?:start|beginning) of )?(?:the )?(?:Q(?P<number>[1-4])|(?P<word>first|second|third|fourth) quarter)"
    r"(?:(?: of)?,? (?P<year>20\d\d))?\b",
    re.IGNORECASE,
)
_QUARTERS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}
_PERIOD_END: Final = re.compile(
    r"\b(?:end of (?:the |this )?(?P<unit>day|week|month|year)|eo(?P<letter>[wmy]))\b", re.IGNORECASE
)
_UNITS: Final = {"w": "week", "m": "month", "y": "year"}
_DAY_OF_MONTH: Final = re.compile(
    r"\b(?:by|on|before|until|till|due) (?:\w+day )?the (?P<day>\d{1,2})(?:st|nd|rd|th)\b"
    rf"(?! of\b)(?! (?:{'|'.join(date_words('en').months)})\b)",
    re.IGNORECASE,
)
_WRITTEN: Final = re.compile(
    rf"\b(?P<day>\d{{1,2}})\. ?(?P<name>{'|'.join(sorted(ORDINAL_MONTHS, key=len, reverse=True))})\b"
    r"(?: (?P<year>20\d\d))?"
    r"|\b(?:bis|am|zum|до|к|by|on|until|till|due|(?:mo|di|mi|do|fr|sa|so),?)"
    r" (?P<day2>\d{1,2})\.(?P<month>\d{1,2})(?:\.(?P<year2>20\d\d))?\b(?!\.\d)",
    re.IGNORECASE,
)
_Expression = tuple[int, str, DateExpression]
"""An expression of a date, its place in the text, and the word before it."""


def read_due_date(text: str, said_at: int) -> str | None:
    """Return the first day ahead that a deadline names, as ISO 8601; None if it names none.

    Args:
        text: the deadline.
        said_at: when it was said, in milliseconds.
    """
    return next(iter(_list_days_ahead(text, said_at)), None)


def is_mostly_dated(text: str) -> bool:
    """Tell whether the sentences that name a day in full are half of a text, or more."""
    spans = sentence_spans(text)
    return sum(end - start for start, end in spans if _find_days(text[start:end], _EPOCH)) >= len(text) / 2


def read_last_due_date(text: str, said_at: int) -> str | None:
    """Return the last day ahead that a deadline names, as ISO 8601; None if it names none.

    `Draft due 20 November, camera ready 15 December`: on 21 November the second is still ahead.

    Args:
        text: the deadline.
        said_at: when it was said, in milliseconds.
    """
    return max(_list_days_ahead(text, said_at), default=None)


def _list_days_ahead(text: str, said_at: int) -> list[str]:
    today, text = read_day(said_at), drop_day_names(text)
    days = _find_days(text, today) or sorted([*_read_starts(text, today), *read_loose_days(text, today)])
    return [day.isoformat() for day in days if day >= today]


def read_until(text: str, said_at: int, *, due: str | None) -> str | None:
    """Return the last day on which a statement holds, as ISO 8601: the last that is named where one is due."""
    return read_last_day(text, said_at) if due is None else read_last_due_date(text, said_at)


def note_days(text: str, said_at: int, *, due: str | None) -> dict[str, str]:
    """Return the days that are noted beside a statement: when it is due (`due`), and its last (`until`)."""
    days = {"due": due, "until": read_until(text, said_at, due=due)}
    return {name: day for name, day in days.items() if day is not None}


def read_last_day(text: str, said_at: int) -> str | None:
    """Return the last day on which a statement holds by its own words, as ISO 8601; None if it sets itself no end.

    `No deploys until 15 January`: afterwards nobody need say that it is over. Of several sentences, most must end so.

    Args:
        text: the statement.
        said_at: when it was said, in milliseconds.
    """
    today = read_day(said_at)
    last: dt.date | None = None
    timed = 0
    for start, end in sentence_spans(text):
        sentence = text[start:end]
        found = max(_find_ends(sentence, today), default=None)
        if found is not None or (last is not None and _UNTIL.search(sentence)):  # `till then`, `until he is gone`
            timed += end - start
            last = max(filter(None, (last, found)))
    return None if last is None or last < today or timed < TIMED_SHARE * len(text) else last.isoformat()


def _find_ends(sentence: str, today: dt.date) -> Iterator[dt.date]:
    """Yield the day of the calendar that stands behind each `until` of a sentence, in its clause.

    Not a weekday or the end of a week: `Monday till Thursday`, `until the end of the month` are said of every one.
    """
    days = sorted(_read_calendar_days(sentence, today)) if _UNTIL.search(sentence) else []
    for until in _UNTIL.finditer(sentence):
        if until["by"] and not count_negations(sentence):
            continue
        stop = _CLAUSE_END.search(sentence, until.end())
        last = min(until.end() + UNTIL_CHARS, len(sentence) if stop is None else stop.start())
        near = (day for place, day in days if until.start() <= place < last)
        if (day := next(near, None)) is not None:
            yield day


def _read_calendar_days(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield the days that are named with their month, or by their number, each with its place in the text."""
    for place, before, found in _iter_expressions(text):
        whole_month = before == "end" or found.year is not None
        if found.iso is not None or (found.month is not None and (found.day is not None or whole_month)):
            with contextlib.suppress(ValueError, OverflowError):
                yield place, _last_day(found, today)
    yield from _read_written_days(_drop_told(text, _iter_expressions(text)), today)


def names_past_day(text: str, said_at: int) -> bool:
    """Return whether a text names days of the calendar, all of which are past."""
    today = read_day(said_at)
    days = _find_days(drop_day_names(text), today)
    return bool(days) and all(day < today for day in days)


def read_day_features(text: str) -> Iterator[str]:
    """Yield how a text names days: one, several, the word before each, or only in words that elsewhere are none."""
    found = list(_iter_expressions(text))
    number = sum(1 for _ in (*_keep_days(found, _EPOCH), *_read_forms(_drop_told(text, found), _EPOCH)))
    if number:
        yield "day"
    elif any(read_loose_days(text, _EPOCH)):
        yield "loose day"
    if number > 1:
        yield "days"
    yield from (f"day after:{before}" for _, before, _ in found)


def _find_days(text: str, today: dt.date) -> list[dt.date]:
    """Return the last day of each time that a text names, in the order of the text; what is no day is left out."""
    found = list(_iter_expressions(text))
    return [day for _, day in sorted([*_keep_days(found, today), *_read_forms(_drop_told(text, found), today)])]


def _drop_told(text: str, found: Iterable[_Expression]) -> str:
    """Return a text with blanks for the expressions of languages that are told: other forms would read them again."""
    for place, _, expression in found:
        if expression.language:
            text = text[:place] + " " * len(expression.text) + text[place + len(expression.text) :]
    return text


def _keep_days(found: Iterable[_Expression], today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield the days that expressions mean, each with its place in the text; what is no day is left out."""
    for place, before, expression in found:
        with contextlib.suppress(ValueError, OverflowError):
            if before not in _BEHIND:
                yield place, _last_day(expression, today)


def _read_starts(text: str, today: dt.date) -> Iterator[dt.date]:
    """Yield the days from which on something is so: `switched off from 13 December`."""
    for _, before, found in _iter_expressions(text):
        with contextlib.suppress(ValueError, OverflowError):
            if before in _STARTS:
                yield _last_day(found, today)


def _iter_expressions(text: str) -> Iterator[_Expression]:
    """Yield the expressions of dates in a text, each with its place and the word before it."""
    words, at, behind = DateText(text), 0, 0
    while at < len(words.words):
        before = words.lead(at)
        found = words.read(at, alone=before in _AHEAD)
        if found is None:
            at += 1
            continue
        at, place = found.end, text.index(found.text, behind)
        behind = place + len(found.text)
        yield place, before, found


def _last_day(found: DateExpression, today: dt.date) -> dt.date:
    """Return the last day that an expression means; of a weekday, or what has no year, the one that is meant."""
    is_open = found.form in (Form.NAMED, Form.ALONE)
    if is_open and found.weekday is not None:
        return replace(found, form=Form.THIS).days(today)[1] - DAY
    if is_open and found.month is not None and found.year is None:
        return choose_year(today, found.month, found.day)
    if is_open and found.season is not None and found.year is None:
        last = replace(found, form=Form.THIS).days(today)[1] - DAY
        return last if last >= today else replace(found, form=Form.NEXT).days(today)[1] - DAY
    return found.days(today)[1] - DAY


def _read_forms(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield what deadlines are written in besides: quarters, ends of periods, days of this month, `3. Juli`."""
    for match in _QUARTER.finditer(text):
        number = int(match["number"] or _QUARTERS[match["word"].lower()])
        month = _MONTHS_A_QUARTER * number - (_MONTHS_A_QUARTER - 1 if match["start"] else 0)
        day = 1 if match["start"] else None
        with contextlib.suppress(ValueError):
            year = match["year"]
            found = make_day(int(year), month, day) if year else choose_year(today, month, day)
            yield match.start(), found
    for match in _PERIOD_END.finditer(text):
        unit = match["unit"] or _UNITS[match["letter"].lower()]
        form = DateExpression(form=Form.THIS, count=0, unit=unit.lower())
        yield match.start(), form.days(today)[1] - DAY
    yield from _read_written_days(text, today)


def _read_written_days(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield days by their number, `the 20th`, and as other languages write them."""
    for match in _DAY_OF_MONTH.finditer(text):
        with contextlib.suppress(ValueError):
            if is_day_number(text, match.end()):
                yield match.start(), find_day_of_month(today, int(match["day"]))
    for match in _WRITTEN.finditer(text):
        number = ORDINAL_MONTHS[match["name"].lower()] if match["name"] else int(match["month"])
        year = match["year"] or match["year2"]
        with contextlib.suppress(ValueError):
            day_number = int(match["day"] or match["day2"])
            found = make_day(int(year), number, day_number) if year else choose_year(today, number, day_number)
            yield match.start(), found
