"""Days that are spoken of without their date, resolved against the day they were spoken of."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import from_iso
from hyperloci.text.language.relative_dates import MAX_TIMES, find_relative_dates
from tests.support import examples

SAID = from_iso("2023-07-19T13:56:00")
"""A Wednesday."""

EXAMPLES = {
    "I went there yesterday.": "yesterday: 2023-07-18",
    "It broke the day before yesterday": "the day before yesterday: 2023-07-17",
    "see you tomorrow": "tomorrow: 2023-07-20",
    "the day after tomorrow we ship": "the day after tomorrow: 2023-07-21",
    "I slept badly last night": "last night: 2023-07-18",
    "Last Friday I took my kids": "Last Friday: 2023-07-14",
    "last Wednesday": "last Wednesday: 2023-07-12",
    "last Tues": "last Tues: 2023-07-18",
    "this Friday": "this Friday: 2023-07-21",
    "next Monday": "next Monday: 2023-07-24",
    "last week": "last week: 2023-07-10 to 2023-07-16",
    "next week": "next week: 2023-07-24 to 2023-07-30",
    "the week before last": "the week before last: 2023-07-03 to 2023-07-09",
    "last weekend": "last weekend: 2023-07-15 to 2023-07-16",
    "this weekend": "this weekend: 2023-07-22 to 2023-07-23",
    "last month": "last month: 2023-06",
    "next month": "next month: 2023-08",
    "last year": "last year: 2022",
    "last August": "last August: 2022-08",
    "last March": "last March: 2023-03",
    "next May": "next May: 2024-05",
    "three days ago": "three days ago: 2023-07-16",
    "a couple of days ago": "a couple of days ago: 2023-07-17",
    "10 years ago": "10 years ago: 2013",
    "two weeks ago": "two weeks ago: 2023-07-03 to 2023-07-09",
    "two\n weeks back": "two weeks back: 2023-07-03 to 2023-07-09",
    "8 months ago": "8 months ago: 2022-11",
    "in two weeks": "in two weeks: 2023-07-31 to 2023-08-06",
    "in 3 days": "in 3 days: 2023-07-22",
    "in six months' time": "in six months' time: 2024-01",
    "вчера мы ходили": "вчера: 2023-07-18",
    "позавчера": "позавчера: 2023-07-17",
    "две недели назад": "две недели назад: 2023-07-03 to 2023-07-09",
    "неделю назад была встреча": "неделю назад: 2023-07-10 to 2023-07-16",
    "в прошлую пятницу": "прошлую пятницу: 2023-07-14",
    "на следующей неделе": "следующей неделе: 2023-07-24 to 2023-07-30",
    "в прошлом месяце": "прошлом месяце: 2023-06",
    "в прошлом году": "прошлом году: 2022",
    "через 3 дня": "через 3 дня: 2023-07-22",
    "пять лет назад": "пять лет назад: 2018",
}

SILENT = (
    "The last test failed; the next step is this function.",
    "We may march on, as we sat in the sun.",
    "It took years; years ago nobody knew.",
    "today, this month, this week, this year",
    "the other day, soon, recently, some time ago",
    "go back to the first week, back in days of old",
    "```\nlast_week = yesterday - 7  # last week\n```",
    "in a 5 minute walk",
    "999999 years ago 5000 years ago",
    "in 9000 years",
)


@pytest.mark.req("B.05", "B.07")
@pytest.mark.parametrize(("text", "meant"), EXAMPLES.items())
def test_a_day_is_what_it_was_when_it_was_said(text: str, meant: str) -> None:
    assert [str(time) for time in find_relative_dates(text, SAID)] == [meant]


@pytest.mark.parametrize("text", SILENT)
def test_what_is_no_date_or_a_vague_one_is_left_alone(text: str) -> None:
    assert find_relative_dates(text, SAID) == ()


def test_several_days_are_told_in_order_and_each_once() -> None:
    found = find_relative_dates("Yesterday, last Friday, yesterday again; and next month.", SAID)
    assert [time.phrase for time in found] == ["Yesterday", "last Friday", "next month"]
    many = " ".join(f"{days} days ago" for days in range(1, 99))
    assert len(find_relative_dates(many, SAID)) == MAX_TIMES


@given(st.sampled_from([*EXAMPLES]), st.dates())
@settings(max_examples=examples(100))
def test_any_day_has_its_yesterday_and_no_day_raises(text: str, day: dt.date) -> None:
    at = (day - dt.date(1970, 1, 1)).days * 86_400_000 + 1
    for time in find_relative_dates(text, at):
        assert time.since < time.until
        assert time.since % 86_400_000 == time.until % 86_400_000 == 0
    back = find_relative_dates("yesterday", at)
    assert [time.until for time in back] == ([at - 1] if day > dt.date.min else [])


@given(st.text(max_size=300), st.integers(-(10**13), 10**14))
@settings(max_examples=examples(100))
def test_any_text_at_any_time_is_taken(text: str, at: int) -> None:
    assert all(
        time.since < time.until for time in find_relative_dates(text + " yesterday next week", at % (2 * 10**14))
    )
