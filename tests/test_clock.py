"""Times as people write them, and as they are stored."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.clock import (
    MS_PER_DAY,
    OFFSET_VARIABLE,
    end_of_day,
    format_age,
    format_day,
    format_minute,
    from_iso,
    read_day,
    read_offset,
    start_of_day,
    system_clock,
    to_iso,
)
from tests.support import NOW, FakeClock, examples

YEAR_1, YEAR_9999 = -62_135_596_800_000, 253_402_300_799_999


def test_the_systems_clock_counts_milliseconds_of_utc() -> None:
    before = dt.datetime.now(dt.UTC).timestamp() * 1_000
    assert before - 1 <= system_clock() <= dt.datetime.now(dt.UTC).timestamp() * 1_000 + 1


def test_a_process_told_an_offset_lives_in_another_time() -> None:
    program = "from hyperloci.clock import system_clock; print(system_clock())"
    shifted = os.environ | {OFFSET_VARIABLE: "-86400"}
    said = subprocess.run([sys.executable, "-c", program], env=shifted, capture_output=True, check=True, timeout=60)
    assert abs(int(said.stdout) + MS_PER_DAY - system_clock()) < 60_000


@pytest.mark.parametrize(
    ("given_value", "ms"), [("", 0), ("1.5", 1_500), ("-60", -60_000), ("soon", 0), ("inf", 0), ("nan", 0), ("1e30", 0)]
)
def test_an_offset_is_read_in_seconds(given_value: str, ms: int) -> None:
    assert read_offset({OFFSET_VARIABLE: given_value}) == ms


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


@pytest.mark.parametrize(
    ("elapsed", "told"),
    [
        (-5, "just now"),
        (59_999, "just now"),
        (60_000, "1 minute ago"),
        (3 * 3_600_000, "3 hours ago"),
        (3 * MS_PER_DAY, "3 days ago"),
        (13 * MS_PER_DAY, "1 week ago"),
        (364 * MS_PER_DAY, "12 months ago"),
        (800 * MS_PER_DAY, "2 years ago"),
    ],
)
def test_an_age_is_told_in_its_largest_unit(elapsed: int, told: str) -> None:
    assert format_age(NOW - elapsed, NOW) == told


EVENING_IN_LOS_ANGELES = from_iso("2026-11-19T01:00:00Z")

SUMMER_TIME = "CET-1CEST,M3.5.0,M10.5.0/3"
SKIPS_MIDNIGHT = "<-01>1<+00>,M3.5.0/0,M10.5.0/1"
"""As on the Azores: on 29 March 2026 it is one o'clock after 23:59, on 25 October midnight comes twice."""

REPEATS_MIDNIGHT = "EET-2EEST,M3.5.0,M10.5.0/1"


@pytest.mark.parametrize(("zone", "day"), [("PST8", "2026-11-18"), ("UTC", "2026-11-19"), ("JST-9", "2026-11-19")])
def test_a_day_is_that_of_the_machines_time_zone(stand_in_zone: Callable[[str], None], zone: str, day: str) -> None:
    stand_in_zone(zone)
    assert format_day(EVENING_IN_LOS_ANGELES) == day
    assert format_minute(EVENING_IN_LOS_ANGELES).startswith(day)


@pytest.mark.parametrize("zone", ["PST8", "UTC", "JST-9", SUMMER_TIME, SKIPS_MIDNIGHT, REPEATS_MIDNIGHT])
def test_a_day_begins_at_its_midnight_also_when_clocks_are_put_on(
    stand_in_zone: Callable[[str], None], zone: str
) -> None:
    stand_in_zone(zone)
    for date in (dt.date(2026, 3, 28), dt.date(2026, 3, 29), dt.date(2026, 3, 30), dt.date(2026, 10, 25)):
        begins = start_of_day(date)
        assert (read_day(begins - 1), read_day(begins)) == (date - dt.timedelta(1), date)


@pytest.mark.parametrize("zone", ["PST8", "UTC", "JST-9"])
def test_the_first_and_the_last_day_of_the_calendar_are_days_in_every_zone(
    stand_in_zone: Callable[[str], None], zone: str
) -> None:
    stand_in_zone(zone)
    assert (format_day(YEAR_1), format_day(YEAR_9999)) == ("0001-01-01", "9999-12-31")
    assert format_minute(YEAR_1).startswith("0001-01-01 ")
    assert YEAR_1 <= start_of_day(dt.date.min) < end_of_day(dt.date.max) == YEAR_9999 + 1
