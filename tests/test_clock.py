"""Times as people write them, and as they are stored."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY, from_iso, parse_when, system_clock, to_iso
from hyperloci.errors import BadRequestError
from tests.support import NOW, FakeClock, examples

YEAR_1, YEAR_9999 = -62_135_596_800_000, 253_402_300_799_999


def test_the_systems_clock_counts_milliseconds_of_utc() -> None:
    before = dt.datetime.now(dt.UTC).timestamp() * 1_000
    assert before - 1 <= system_clock() <= dt.datetime.now(dt.UTC).timestamp() * 1_000 + 1


def test_a_clock_of_a_test_stands_still_until_it_is_moved(clock: FakeClock) -> None:
    assert clock() == clock() == NOW
    assert clock.advance(5) == clock() == NOW + 5


@hypothesis_settings(max_examples=examples(200))
@given(st.integers(YEAR_1, YEAR_9999))
def test_a_time_comes_back_to_the_millisecond(ms: int) -> None:
    assert from_iso(to_iso(ms)) == ms


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000+00:00"),
        (-1, "1969-12-31T23:59:59.999+00:00"),
        (NOW + 7, "2027-01-15T08:00:00.007+00:00"),
        (YEAR_9999, "9999-12-31T23:59:59.999+00:00"),
    ],
)
def test_a_time_is_written_as_iso_8601_with_its_offset(ms: int, text: str) -> None:
    assert to_iso(ms) == text


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-02", MS_PER_DAY),
        ("1970-01-01T00:00:01", 1_000),
        ("1970-01-01T00:00:01Z", 1_000),
        ("1970-01-01 02:00:00+02:00", 0),
        ("1970-01-01T00:00:00.0015", 2),
    ],
)
def test_a_time_without_an_offset_is_utc(text: str, ms: int) -> None:
    assert from_iso(text) == ms


@pytest.mark.req("B.07")
@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("now", NOW),
        ("today", NOW - 8 * 3_600_000),
        ("yesterday", NOW - 8 * 3_600_000 - MS_PER_DAY),
        ("last_week", NOW - 7 * MS_PER_DAY),
        ("Last Week", NOW - 7 * MS_PER_DAY),
        ("  last_month ", NOW - 30 * MS_PER_DAY),
        ("last year", NOW - 365 * MS_PER_DAY),
        ("1 day ago", NOW - MS_PER_DAY),
        ("3 days ago", NOW - 3 * MS_PER_DAY),
        ("3_days_ago", NOW - 3 * MS_PER_DAY),
        ("12 hours  ago", NOW - 12 * 3_600_000),
        ("90 minutes ago", NOW - 90 * 60_000),
        ("2 weeks ago", NOW - 14 * MS_PER_DAY),
        ("1 month ago", NOW - 30 * MS_PER_DAY),
        ("0 days ago", NOW),
        ("2027-01-15", NOW - 8 * 3_600_000),
        ("2027-01-15T08:00:00Z", NOW),
        (" 2027-01-15T09:00:00+01:00 ", NOW),
    ],
)
def test_a_bound_is_understood_as_people_write_it(text: str, ms: int) -> None:
    assert parse_when(text, NOW) == ms


@pytest.mark.req("B.07")
@pytest.mark.parametrize(
    "text", ["", "soon", "3 fortnights ago", "-3 days ago", "ago", "2027-13-01", "2027-02-30", "9999999 days ago", "\0"]
)
def test_what_is_no_time_is_refused_with_what_would_be_one(text: str) -> None:
    with pytest.raises(BadRequestError, match=r"^before=.*last_week.*YYYY-MM-DD"):
        parse_when(text, NOW, argument="before")


@hypothesis_settings(max_examples=examples(200))
@given(st.text())
def test_any_text_is_a_time_or_a_bad_request(text: str) -> None:
    try:
        assert isinstance(parse_when(text, NOW), int)
    except BadRequestError as error:
        assert repr(text) in str(error)
