"""Dates: expressions of dates and times in a text, such as `yesterday`, `last March`, `2026-01-31`, `в пятницу`.

One grammar for every reader (`text.language.relative_dates` for turns, `retrieval.time_bounds` for questions and
arguments, `spaces.temporal` for times of day, `knowledge.contradictions.quantities` for compared values). Its words
(`words`) and forms (`forms`) are data: `[dates]` of a language's file. `DateText` (`reader`) finds what has one of the
forms, a `DateExpression` (`expressions`), which says what days of the calendar it means (`calendar_days`).

All that is used elsewhere is imported from here.
"""

from hyperloci.text.language.dates.calendar_days import UNIT_SECONDS, Days, month_of, unit_days, unit_ms, year_of
from hyperloci.text.language.dates.clock_time import clock_minutes
from hyperloci.text.language.dates.expressions import DateExpression, Form
from hyperloci.text.language.dates.reader import TOLD_BY, DateText, read_question
from hyperloci.text.language.dates.words import DateWords, date_words, languages

__all__ = [
    "TOLD_BY",
    "UNIT_SECONDS",
    "DateExpression",
    "DateText",
    "DateWords",
    "Days",
    "Form",
    "clock_minutes",
    "date_words",
    "languages",
    "month_of",
    "read_question",
    "unit_days",
    "unit_ms",
    "year_of",
]
