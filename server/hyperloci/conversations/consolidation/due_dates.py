"""Due dates: the day that a deadline names, and the last one of what holds for a time, seen from when it was said."""

from __future__ import annotations

import contextlib
import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.text.language.dates import DateExpression, DateText, Form, date_words, month_of
from hyperloci.text.language.negation import count_negations
from hyperloci.text.language.ordinal_months import ORDINAL_MONTHS
from hyperloci.text.language.sentences import sentence_spans

_EPOCH = dt.date(1970, 1, 1)
_DAY: Final = dt.timedelta(days=1)
_YEAR: Final = dt.timedelta(days=366)

LATELY: Final = dt.timedelta(days=60)
"""A day without a year that is no longer ago is past: `submitted on 12 July`, said in August. One that is longer ago is
the next one: who says `by 5 January` in December means ahead."""

_AHEAD: Final = frozenset(
    {"by", "until", "till", "before", "due", "of", "on", "eod", "eob", "cob", "до", "к", "ко", "на"}
)
"""After these a weekday, month or year by itself is a day that is meant."""

_BEHIND: Final = frozenset({"since", "after", "from", "с", "со", "после"})
"""After these a time begins, and nothing is due."""

_UNTIL: Final = re.compile(r"\b(?:until|till|til|(?P<by>до))\b", re.IGNORECASE)
"""In Russian it is also the word for "by": so only where something is denied. German, where it is too, is left out."""

_CLAUSE_END: Final = re.compile(r"[,;:)]|\((?! ?\d)|\b(?:and|or|but|as of|und|oder|aber|и|или|но)\b", re.IGNORECASE)

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
_GERMAN_WEEKDAYS: Final = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")
_GERMAN: Final = re.compile(
    r"(?<!seit )(?<!nach )(?<!ab )\b(?:"
    rf"(?:(?:bis|spätestens|am|zum|vor|diesen|kommenden|nächsten|ist)\s){{1,3}}(?P<weekday>{'|'.join(_GERMAN_WEEKDAYS)})"
    r"|bis\s(?:(?P<morrow>morgen|übermorgen)"
    r"|(?:zum\s)?ende\s(?:(?:der|des|dieser|dieses)\s(?P<unit>woche|monats|jahres)"
    rf"|(?P<month>{'|'.join(sorted(ORDINAL_MONTHS, key=len, reverse=True))}))))\b",
    re.IGNORECASE,
)
"""Days as German deadlines name them, and the ends of times."""

_GERMAN_UNITS: Final = {"woche": "week", "monats": "month", "jahres": "year"}


def read_due_date(text: str, said_at: int) -> str | None:
    """Return the first day ahead that a deadline names, as ISO 8601; None if it names none.

    Args:
        text: the deadline.
        said_at: when it was said, in milliseconds.
    """
    return next(iter(_list_days_ahead(text, said_at)), None)


def read_last_due_date(text: str, said_at: int) -> str | None:
    """Return the last day ahead that a deadline names, as ISO 8601; None if it names none.

    `Draft due 20 November, camera ready 15 December`: on 21 November the second is still ahead.

    Args:
        text: the deadline.
        said_at: when it was said, in milliseconds.
    """
    return max(_list_days_ahead(text, said_at), default=None)


def _list_days_ahead(text: str, said_at: int) -> list[str]:
    today = _read_today(said_at)
    return [day.isoformat() for day in _find_days(text, today) if day >= today]


def read_last_day(text: str, said_at: int) -> str | None:
    """Return the last day on which a statement holds by its own words, as ISO 8601; None if it sets itself no end.

    `No deploys until 15 January`: afterwards nobody need say that it is over. Of several sentences, most must end so.

    Args:
        text: the statement.
        said_at: when it was said, in milliseconds.
    """
    today = _read_today(said_at)
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
    yield from _read_written_days(text, today)


def names_past_day(text: str, said_at: int) -> bool:
    """Return whether a text names days of the calendar, all of which are past."""
    today = _read_today(said_at)
    days = _find_days(text, today)
    return bool(days) and all(day < today for day in days)


def _read_today(said_at: int) -> dt.date:
    return _EPOCH + dt.timedelta(days=said_at // MS_PER_DAY)


def _find_days(text: str, today: dt.date) -> list[dt.date]:
    """Return the last day of each time that a text names, in the order of the text; what is no day is left out."""
    return [day for _, day in sorted([*_read_expressions(text, today), *_read_forms(text, today)])]


def _read_expressions(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield what the grammar of dates reads, each with its place in the text."""
    for place, before, found in _iter_expressions(text):
        with contextlib.suppress(ValueError, OverflowError):
            if before not in _BEHIND:
                yield place, _last_day(found, today)


def _iter_expressions(text: str) -> Iterator[tuple[int, str, DateExpression]]:
    """Yield the expressions of dates in a text, each with its place and the word before it."""
    words, at, behind = DateText(text), 0, 0
    while at < len(words.words):
        before = words.words[at - 1] if at else ""
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
        return replace(found, form=Form.THIS).days(today)[1] - _DAY
    if is_open and found.month is not None and found.year is None:
        return _choose_year(today, found.month, found.day)
    return found.days(today)[1] - _DAY


def _read_forms(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield what deadlines are written in besides: quarters, ends of periods, days of this month, `3. Juli`."""
    for match in _QUARTER.finditer(text):
        number = int(match["number"] or _QUARTERS[match["word"].lower()])
        month = _MONTHS_A_QUARTER * number - (_MONTHS_A_QUARTER - 1 if match["start"] else 0)
        day = 1 if match["start"] else None
        with contextlib.suppress(ValueError):
            year = match["year"]
            found = _make_day(int(year), month, day) if year else _choose_year(today, month, day)
            yield match.start(), found
    for match in _PERIOD_END.finditer(text):
        unit = match["unit"] or _UNITS[match["letter"].lower()]
        form = DateExpression(form=Form.THIS, count=0, unit=unit.lower())
        yield match.start(), form.days(today)[1] - _DAY
    yield from _read_german(text, today)
    yield from _read_written_days(text, today)


def _read_written_days(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield days by their number, `the 20th`, and as other languages write them."""
    for match in _DAY_OF_MONTH.finditer(text):
        with contextlib.suppress(ValueError):
            yield match.start(), _find_day_of_month(today, int(match["day"]))
    for match in _WRITTEN.finditer(text):
        number = ORDINAL_MONTHS[match["name"].lower()] if match["name"] else int(match["month"])
        year = match["year"] or match["year2"]
        with contextlib.suppress(ValueError):
            day_number = int(match["day"] or match["day2"])
            found = _make_day(int(year), number, day_number) if year else _choose_year(today, number, day_number)
            yield match.start(), found


def _read_german(text: str, today: dt.date) -> Iterator[tuple[int, dt.date]]:
    """Yield the days that `bis Freitag`, `bis Ende der Woche` and `bis Ende April` mean."""
    for match in _GERMAN.finditer(text):
        if match["morrow"]:
            yield match.start(), today + _DAY * (2 if match["morrow"].lower().startswith("ü") else 1)
        elif match["month"]:
            with contextlib.suppress(ValueError):
                yield match.start(), _choose_year(today, ORDINAL_MONTHS[match["month"].lower()], None)
        else:
            unit = _GERMAN_UNITS.get((match["unit"] or "").lower())
            day = _GERMAN_WEEKDAYS.index(match["weekday"].lower()) if match["weekday"] else None
            found = DateExpression(form=Form.THIS, count=0, unit=unit, weekday=day)
            yield match.start(), found.days(today)[1] - _DAY


def _choose_year(today: dt.date, month: int, day: int | None) -> dt.date:
    """Return the first such day, or end of the month, that is ahead within a year or was lately.

    Raises:
        ValueError: there is no such day.
    """
    for year in (today.year - 1, today.year, today.year + 1):
        with contextlib.suppress(ValueError):
            found = _make_day(year, month, day)
            if -LATELY <= found - today <= _YEAR:
                return found
    raise ValueError(f"no day {day} of month {month} near {today}")


def _make_day(year: int, month: int, day: int | None) -> dt.date:
    return month_of(dt.date(year, month, 1))[1] - _DAY if day is None else dt.date(year, month, day)


def _find_day_of_month(today: dt.date, number: int) -> dt.date:
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
