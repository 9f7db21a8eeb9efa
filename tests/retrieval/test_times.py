"""Expressions of time in a question."""

from __future__ import annotations

import datetime as dt
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY, from_iso
from hyperloci.retrieval.times import _HINT, _readers, find_time
from tests.support import NOW, examples


def day(text: str) -> int:
    return from_iso(text)


@pytest.mark.req("B.05", "B.07")
@pytest.mark.parametrize(
    ("query", "after", "before"),
    [
        ("what did we do yesterday?", "2027-01-14", "2027-01-15"),
        ("the bug from 3 days ago", "2027-01-12", "2027-01-13"),
        ("releases in March", "2026-03-01", "2026-04-01"),
        ("releases in December", "2026-12-01", "2027-01-01"),
        ("releases in January", "2027-01-01", "2027-02-01"),
        ("releases in March 2024", "2024-03-01", "2024-04-01"),
        ("since 2026-01-31 what broke", "2026-01-31", None),
        ("decisions before March", None, "2026-03-01"),
        ("decisions after March", "2026-04-01", None),
        ("between 2026-01-01 and 2026-02-01", "2026-01-01", "2026-02-02"),
        ("the meeting on January 5", "2027-01-05", "2027-01-06"),
        ("the meeting on 20 January", "2026-01-20", "2026-01-21"),
        ("the meeting on March 5, 2026", "2026-03-05", "2026-03-06"),
        ("last friday", "2027-01-08", "2027-01-09"),
        ("what happened in 2025", "2025-01-01", "2026-01-01"),
        ("this month", "2027-01-01", None),
        ("что мы делали вчера", "2027-01-14", "2027-01-15"),
        ("что сломалось 5 дней назад", "2027-01-10", "2027-01-11"),
        ("решения в марте", "2026-03-01", "2026-04-01"),
    ],
)
def test_a_time_in_a_question_becomes_bounds(query: str, after: str | None, before: str | None) -> None:
    bounds = find_time(query, NOW)
    assert bounds is not None
    assert (bounds.after, bounds.before) == (after and day(after), before and day(before))


@pytest.mark.req("B.07")
@pytest.mark.parametrize("query", ["last_week", "in the last 7 days", "за последние 7 дней", "на прошлой неделе"])
def test_the_last_week_is_the_seven_days_up_to_now(query: str) -> None:
    bounds = find_time(query, NOW)
    assert bounds is not None and (bounds.after, bounds.before) == (NOW - 7 * MS_PER_DAY, None)


@pytest.mark.parametrize("query", ["may I ask", "march on", "mayhem", "order 66", "version 2.0", "on 2026-13-45", ""])
def test_what_is_no_time_gives_no_bounds(query: str) -> None:
    assert find_time(query, NOW) is None


@pytest.mark.parametrize("pattern", [pattern for pattern, _ in _readers()], ids=lambda pattern: pattern.pattern[9:40])
def test_no_expression_is_without_what_all_of_them_are_told_by(pattern: re.Pattern[str]) -> None:
    @given(st.from_regex(pattern))
    @settings(max_examples=examples(50), suppress_health_check=list(HealthCheck))
    def holds(text: str) -> None:
        assert _HINT.search(text) is not None

    holds()


def test_the_expression_is_given_as_the_question_has_it() -> None:
    bounds = find_time("who merged it Last Week?", NOW)
    assert bounds is not None and bounds.text == "Last Week"


@settings(max_examples=examples(60))
@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error_and_bounds_are_in_order(query: str) -> None:
    bounds = find_time(query, NOW)
    assert bounds is None or bounds.after is None or bounds.before is None or bounds.after < bounds.before


@settings(max_examples=examples(60))
@given(st.dates(min_value=dt.date(1990, 1, 1), max_value=dt.date(2090, 1, 1)))
def test_an_iso_date_is_that_day(date: dt.date) -> None:
    bounds = find_time(f"what happened on {date.isoformat()}?", NOW)
    assert bounds is not None and (bounds.after, bounds.before) == (
        day(date.isoformat()),
        day(date.isoformat()) + MS_PER_DAY,
    )
