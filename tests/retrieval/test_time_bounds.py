"""Expressions of time in a question."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY, from_iso
from hyperloci.errors import BadRequestError
from hyperloci.retrieval.time_bounds import find_time_bounds, parse_moment, parse_time_bound
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
        ("commits from March 2024", "2024-03-01", "2024-04-01"),
        ("what did we decide for March 2024?", "2024-03-01", "2024-04-01"),
        ("March 2024 decisions", "2024-03-01", "2024-04-01"),
        ("решения за март 2024", "2024-03-01", "2024-04-01"),
        ("commits from March 2024 to May 2024", "2024-03-01", "2024-06-01"),
        ("commits from March to May 2024", "2024-03-01", "2024-06-01"),
        ("commits from November 2023 until February", "2023-11-01", "2024-03-01"),
        ("November to February 2024", "2023-11-01", "2024-03-01"),
        ("what changed in March and April 2024", "2024-03-01", "2024-05-01"),
        ("between November and February 2024", "2023-11-01", "2024-03-01"),
        ("what broke from Monday to Wednesday", "2027-01-11", "2027-01-14"),
        ("решения с марта по май 2024", "2024-03-01", "2024-06-01"),
        ("was haben wir letzte Woche entschieden", "2027-01-04", "2027-01-11"),
        ("was stand vor dem 3. November fest", None, "2026-11-03"),
        ("was haben wir zwischen Montag und Mittwoch gemacht", "2027-01-11", "2027-01-14"),
        ("was hat sich seit gestern geändert", "2027-01-14", None),
        ("was galt ab März 2026", "2026-03-01", None),
        ("was war vor Mi fertig", None, "2027-01-13"),
        ("qu'est-ce qu'on a décidé hier", "2027-01-14", "2027-01-15"),
        ("de quoi avons-nous parlé la semaine dernière", "2027-01-04", "2027-01-11"),
        ("qu'est-ce qui est venu après le 3 novembre", "2026-11-04", None),
        ("qu'est-ce qu'on a fait le 12/10", "2026-10-12", "2026-10-13"),
        ("¿Qué decidimos la semana pasada?", "2027-01-04", "2027-01-11"),
        ("qué valía antes del 3 de noviembre", None, "2026-11-03"),
        ("qué hicimos hace 3 días", "2027-01-12", "2027-01-13"),
        ("qué decidimos en marzo de 2025", "2025-03-01", "2025-04-01"),
        ("since 2026-01-31 what broke", "2026-01-31", None),
        ("decisions before March", None, "2026-03-01"),
        ("decisions after March", "2026-04-01", None),
        ("between 2026-01-01 and 2026-02-01", "2026-01-01", "2026-02-02"),
        ("the meeting on January 5", "2027-01-05", "2027-01-06"),
        ("the meeting on 20 January", "2026-01-20", "2026-01-21"),
        ("the meeting on March 5, 2026", "2026-03-05", "2026-03-06"),
        ("last friday", "2027-01-08", "2027-01-09"),
        ("what did we decide last week?", "2027-01-04", "2027-01-11"),
        ("what was said last week, on November 6, 2026?", "2026-11-06", "2026-11-07"),
        ("last month's outage", "2026-12-01", "2027-01-01"),
        ("на прошлой неделе", "2027-01-04", "2027-01-11"),
        ("the bug of eight days ago.", "2027-01-07", "2027-01-08"),
        ("what happened in 2025", "2025-01-01", "2026-01-01"),
        ("this month", "2027-01-01", None),
        ("что мы делали вчера", "2027-01-14", "2027-01-15"),
        ("что сломалось 5 дней назад", "2027-01-10", "2027-01-11"),
        ("решения в марте", "2026-03-01", "2026-04-01"),
        ("what broke last Tues?", "2027-01-12", "2027-01-13"),
        ("what did we say last night?", "2027-01-14", "2027-01-15"),
        ("the talk of last weekend", "2027-01-09", "2027-01-11"),
        ("the fix of two weeks back", "2026-12-28T12:00", "2027-01-05T12:00"),
        ("what did we plan for the day after tomorrow?", "2027-01-17", "2027-01-18"),
        ("last January", "2026-01-01", "2026-02-01"),
        ("this Monday", "2027-01-18", "2027-01-19"),
        ("between last Friday and yesterday", "2027-01-08", "2027-01-15"),
        ("since Monday", "2027-01-11", None),
        ("что было две недели назад", "2026-12-28T12:00", "2027-01-05T12:00"),
        ("что было в прошлую пятницу", "2027-01-08", "2027-01-09"),
        ("после 5 марта 2026", "2026-03-06", None),
    ],
)
def test_a_time_in_a_question_becomes_bounds(query: str, after: str | None, before: str | None) -> None:
    bounds = find_time_bounds(query, NOW)
    assert bounds is not None
    assert (bounds.after, bounds.before) == (after and day(after), before and day(before))


@pytest.mark.req("B.07")
@pytest.mark.parametrize("query", ["the past week", "in the last 7 days", "over the last week", "за последние 7 дней"])
def test_the_past_week_is_the_seven_days_up_to_now(query: str) -> None:
    bounds = find_time_bounds(query, NOW)
    assert bounds is not None and (bounds.after, bounds.before) == (NOW - 7 * MS_PER_DAY, None)


@pytest.mark.parametrize(
    "query",
    [
        "may I ask",
        "why did we raise the limit from 2000 to 2048?",
        "commits from March",
        "march on",
        "mayhem",
        "order 66",
        "twenty five days ago",
        "on 2026-13-45",
        "",
        "last_week",
        "last_week_of",
        "what does last_week() return",
        "why is last week() slow",
        "on Monday.com",
        "on monday.com's API",
        "`last week` in the parser",
        "calls to date.last week",
        "#last week",
    ],
)
def test_what_is_no_time_gives_no_bounds(query: str) -> None:
    assert find_time_bounds(query, NOW) is None


def test_the_expression_is_given_as_the_question_has_it() -> None:
    bounds = find_time_bounds("who merged it Last Week?", NOW)
    assert bounds is not None and bounds.expression == "Last Week"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("last week", "2027-01-04..2027-01-10"),
        ("yesterday", "2027-01-14"),
        ("since Monday", "since 2027-01-11"),
        ("before March", "up to 2026-02-28"),
    ],
)
def test_bounds_are_told_by_their_first_and_last_day(query: str, told: str) -> None:
    bounds = find_time_bounds(query, NOW)
    assert bounds is not None and bounds.describe() == told


@settings(max_examples=examples(60))
@given(st.text(max_size=60))
def test_any_text_is_read_without_an_error_and_bounds_are_in_order(query: str) -> None:
    bounds = find_time_bounds(query, NOW)
    assert bounds is None or bounds.after is None or bounds.before is None or bounds.after < bounds.before


@settings(max_examples=examples(60))
@given(st.dates(min_value=dt.date(1990, 1, 1), max_value=dt.date(2090, 1, 1)))
def test_an_iso_date_is_that_day(date: dt.date) -> None:
    bounds = find_time_bounds(f"what happened on {date.isoformat()}?", NOW)
    assert bounds is not None and (bounds.after, bounds.before) == (
        day(date.isoformat()),
        day(date.isoformat()) + MS_PER_DAY,
    )


# -- bounds that callers give -----------------------------------------------------------------------------------------


@pytest.mark.req("B.07")
@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("now", NOW),
        ("today", NOW - 8 * 3_600_000),
        ("yesterday", NOW - 8 * 3_600_000 - MS_PER_DAY),
        ("last_week", from_iso("2027-01-04")),
        ("Last Week", from_iso("2027-01-04")),
        ("  last_month ", from_iso("2026-12-01")),
        ("last year", from_iso("2026-01-01")),
        ("past week", NOW - 7 * MS_PER_DAY),
        ("1 day ago", NOW - MS_PER_DAY),
        ("3 days ago", NOW - 3 * MS_PER_DAY),
        ("3_days_ago", NOW - 3 * MS_PER_DAY),
        ("12 hours  ago", NOW - 12 * 3_600_000),
        ("90 minutes ago", NOW - 90 * 60_000),
        ("2 weeks ago", NOW - 14 * MS_PER_DAY),
        ("1 month ago", NOW - 30 * MS_PER_DAY),
        ("0 days ago", NOW),
        ("2027-01-15", NOW - 8 * 3_600_000),
        ("2026-11", day("2026-11-01")),
        ("2027-01-15T08:00:00Z", NOW),
        (" 2027-01-15T09:00:00+01:00 ", NOW),
    ],
)
def test_a_bound_is_understood_as_people_write_it(text: str, ms: int) -> None:
    assert parse_time_bound(text, NOW) == ms


@pytest.mark.req("B.07")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "3 fortnights ago",
        "-3 days ago",
        "ago",
        "2027-13",
        "2027-13-01",
        "2027-02-30",
        "9999-12",
        "9999999 days ago",
        "\0",
    ],
)
def test_what_is_no_time_is_refused_with_what_would_be_one(text: str) -> None:
    with pytest.raises(BadRequestError, match=r"^before=.*last_week.*YYYY-MM-DD"):
        parse_time_bound(text, NOW, argument="before")


@pytest.mark.req("B.14")
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30", day("2026-12-01") - 1),
        ("20261130", day("2026-12-01") - 1),
        ("2026-11", day("2026-12-01") - 1),
        ("2026-W48", day("2026-11-30") - 1),
        ("2026-W48-3", day("2026-11-26") - 1),
        ("2025", day("2026-01-01") - 1),
        ("yesterday", day("2027-01-15") - 1),
        ("last_week", day("2027-01-11") - 1),
        ("2026-11-30T10:00", day("2026-11-30T10:00")),
        ("3 days ago", NOW - 3 * MS_PER_DAY),
        ("now", NOW),
        ("2027-01-15", NOW),
        ("this week", NOW),
        ("2027", NOW),
        ("2027-02", day("2027-03-01") - 1),
    ],
)
def test_what_held_on_a_day_held_at_its_end_or_holds_now(text: str, moment: int) -> None:
    assert parse_moment(text, NOW, argument="as_of") == moment


@settings(max_examples=examples(200))
@given(st.text())
def test_any_text_is_a_time_or_a_bad_request(text: str) -> None:
    try:
        assert isinstance(parse_time_bound(text, NOW), int)
    except BadRequestError as error:
        assert repr(text) in str(error)


LOS_ANGELES = "PST8PDT,M3.2.0,M11.1.0"


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ("2026-11-04T07:30:00Z", "2026-10-31"),
        ("2026-03-10T07:30:00Z", "2026-03-07"),
        ("2026-03-12T06:30:00Z", "2026-03-08"),
    ],
    ids=["put back since, late", "put on since, early", "a day of 23 hours"],
)
def test_days_ago_are_whole_days_also_where_clocks_were_put_on(
    stand_in_zone: Callable[[str], None], now: str, told: str
) -> None:
    stand_in_zone(LOS_ANGELES)
    bounds = find_time_bounds("what did we decide three days ago?", from_iso(now))
    assert bounds is not None and bounds.describe() == told


def test_the_last_day_of_the_calendar_is_a_day() -> None:
    assert parse_time_bound("9999-12-31", NOW, argument="before") == from_iso("9999-12-31")


@pytest.mark.req("B.07")
@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("2026-11-19T18:00", "2026-11-20T02:00Z"),
        ("2026-11-19 18:00", "2026-11-20T02:00Z"),
        ("2026-11-19T18:00Z", "2026-11-19T18:00Z"),
        ("2026-11-19T18:00+01:00", "2026-11-19T17:00Z"),
    ],
)
def test_a_time_without_an_offset_is_of_the_machines_time_zone(
    stand_in_zone: Callable[[str], None], said: str, meant: str
) -> None:
    stand_in_zone(LOS_ANGELES)
    assert parse_time_bound(said, NOW) == from_iso(meant)
    bounds = find_time_bounds(f"what did we decide since {said}?", NOW)
    assert bounds is not None and bounds.after == from_iso(meant)
