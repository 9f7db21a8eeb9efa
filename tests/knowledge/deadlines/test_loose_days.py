"""Days that only a deadline names."""

from __future__ import annotations

import datetime as dt

import pytest

from hyperloci.knowledge.deadlines.due_dates import read_due_date, read_last_due_date
from hyperloci.knowledge.deadlines.loose_days import read_loose_days

TODAY = dt.date(2026, 3, 11)
"""A Wednesday."""

SAID_AT = int(dt.datetime(2026, 3, 11, 9, tzinfo=dt.UTC).timestamp()) * 1_000


@pytest.mark.parametrize(
    ("deadline", "first", "last"),
    [
        ("code freeze starts Thursday 5pm sharp", "2026-03-12", "2026-03-12"),
        ("heads up, the judges look at the repo Sunday noon", "2026-03-15", "2026-03-15"),
        ("the grant reviewers get access Wednesday week", "2026-03-18", "2026-03-18"),
        ("Thursday's the dry run, Saturday's the real thing", "2026-03-12", "2026-03-14"),
        ("new semester, new moodle: starts Monday the 23rd", "2026-03-23", "2026-03-23"),
        ("moved to the 23rd, the director has a wedding", "2026-03-23", "2026-03-23"),
        ("the festival moved, it's the 23rd now not the 16th", "2026-03-23", "2026-03-23"),
        ("the pen test is booked for the 12th through the 13th", "2026-03-12", "2026-03-13"),
        ("the catalogue gets switched on right after, Monday 23rd", "2026-03-23", "2026-03-23"),
        ("demo for the board is Friday", "2026-03-13", "2026-03-13"),
        ("our intern's last day is the 9th", "2026-04-09", "2026-04-09"),
        ("wir gehen am 16. live", "2026-03-16", "2026-03-16"),
        ("last day of the old payroll provider is 31/12", "2026-12-31", "2026-12-31"),
        ("we freeze translations on 6/14", "2026-06-14", "2026-06-14"),
        ("entrega final: 4/12, lo dice el cliente", "2026-12-04", "2026-12-04"),
        ("entrega final: 6/14, lo dice el cliente", "2026-06-14", "2026-06-14"),
        ("our hosting contract ends 31.08. and that is that", "2026-08-31", "2026-08-31"),
        ("CE-Prüfung ist in KW 22 angesetzt", "2026-05-31", "2026-05-31"),
        ("the archive closes in calendar week 2", "2027-01-17", "2027-01-17"),
        ("Mid-June the city flips its open data portal", "2026-06-20", "2026-06-20"),
        ("Ende Juni läuft der Vertrag aus", "2026-06-30", "2026-06-30"),
        ("the API is switched off from 13 Dec onwards", "2026-12-13", "2026-12-13"),
        ("pen test retest: 6 weeks from today", "2026-04-26", "2026-04-26"),
    ],
)
def test_a_deadline_names_its_day_in_words_that_are_none_elsewhere(deadline: str, first: str, last: str) -> None:
    assert (read_due_date(deadline, SAID_AT), read_last_due_date(deadline, SAID_AT)) == (first, last)


@pytest.mark.parametrize(
    "text",
    [
        "the 3rd attempt went through",
        "the demo is not the 16th",
        "every Friday somebody shows the build",
        "the works council met Thursday, they want chats gone after 18 months",
        "the dress rehearsal is 12/3",
        "90/10 split, 3/4 of it",
        "release 1.2. is out",
        "the 40th. of them",
        "calendar week 60",
        "1/31/2026 in the file's name",
    ],
)
def test_what_may_mean_something_else_is_no_day(text: str) -> None:
    assert list(read_loose_days(text, TODAY)) == []


def test_a_day_that_is_named_in_full_is_the_day_whatever_else_stands_there() -> None:
    assert read_due_date("the launch on 2 April, the press comes Friday", SAID_AT) == "2026-04-02"
