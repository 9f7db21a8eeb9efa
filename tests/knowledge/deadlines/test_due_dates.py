"""The day that a deadline names, seen from the day it was said on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.knowledge.deadlines.due_dates import names_past_day, read_due_date, read_last_day
from tests.support import examples

FRIDAY = dt.datetime(2027, 1, 15, 13, 30, tzinfo=dt.UTC)


def due(text: str, said: dt.datetime = FRIDAY) -> str | None:
    return read_due_date(text, int(said.timestamp() * 1_000))


DAYS = [
    ("The deadline for the release is April 5, 2027.", "2027-04-05"),
    ("The release is on 2027-02-28, not earlier.", "2027-02-28"),
    ("The deadline is April 20.", "2027-04-20"),
    ("The audit was done by January 3, the next is on July 3.", "2027-07-03"),
    ("by January 5, 2028", "2028-01-05"),
    ("The figures are due on September 30.", "2027-09-30"),
    ("It has to be there by Friday.", "2027-01-15"),
    ("Die Prüfung ist in 3 Tagen.", "2027-01-18"),
    ("Nächsten Freitag ist Abgabe.", "2027-01-22"),
    ("Nächste Woche ist das Release.", "2027-01-24"),
    ("Ab 1. Februar wird der alte Server abgeschaltet.", "2027-02-01"),
    ("La version doit être prête avant vendredi.", "2027-01-15"),
    ("Tout doit être testé avant le 12 mars.", "2027-03-12"),
    ("Il me faut le devis au plus tard le 20 février.", "2027-02-20"),
    ("Le client le veut d'ici la fin de la semaine.", "2027-01-17"),
    ("Le lancement est le lundi 1er février.", "2027-02-01"),
    ("Necesito el presupuesto a más tardar el 3 de mayo.", "2027-05-03"),
    ("Hay que entregar pasado mañana.", "2027-01-17"),
    ("La presentación es el próximo jueves.", "2027-01-21"),
    ("La fecha límite es el 12/10/2027.", "2027-10-12"),
    ("Feature freeze on Wednesday.", "2027-01-20"),
    ("The contract runs out at the end of Q1.", "2027-03-31"),
    ("They cut it off in the third quarter of 2028", "2028-09-30"),
    ("not before the beginning of Q2", "2027-04-01"),
    ("by the end of the month", "2027-01-31"),
    ("by end of March", "2027-03-31"),
    ("everything by the 20th", "2027-01-20"),
    ("everything by the 3rd", "2027-02-03"),
    ("Abgabe am 3. Juli, keine Verlängerung", "2027-07-03"),
    ("bis 17.5. muss es stehen", "2027-05-17"),
    ("by the 20th we need the figures", "2027-01-20"),
    ("due the 20th, instead of the 2nd attempt", "2027-01-20"),
    ("on the 23rd instead, with Ines", "2027-01-23"),
    ("on the 20th Ines signs", "2027-01-20"),
    ("by the 20th morning", "2027-01-20"),
    ("The old API is switched off in the spring.", "2027-05-31"),
    ("It has to be there by winter.", "2027-02-28"),
    ("The launch is in autumn 2027", "2027-11-30"),
    ("It has to be there by tomorrow.", "2027-01-16"),
    ("das muss bis Mittwoch raus", "2027-01-20"),
    ("spätestens am kommenden Montag brauchen wir die Zahlen", "2027-01-18"),
    ("bis zum Ende der Woche", "2027-01-17"),
    ("bis Ende des Monats", "2027-01-31"),
    ("bis Ende April, nicht später", "2027-04-30"),
    ("bis übermorgen", "2027-01-17"),
    ("Abgabe ist Do, 12.03.", "2027-03-12"),
    ("The release is due on Friday the 22nd", "2027-01-22"),
    ("due by Friday 22 January", "2027-01-22"),
    ("due next Friday, January 22nd, at noon", "2027-01-22"),
    ("due Friday (22 Jan)", "2027-01-22"),
    ("due by Friday 1/22", "2027-01-22"),
    ("bis Freitag, den 22. Januar", "2027-01-22"),
    ("bis Freitag, 22.1. muss es stehen", "2027-01-22"),
    ("bis Fr, 22.1. brauche ich das", "2027-01-22"),
    ("bis Mi brauche ich das", "2027-01-20"),
    ("до пятницы, 22 января, сдать отчёт", "2027-01-22"),
    ("by Friday 3/4 of the team must be done", "2027-01-15"),
    ("The pager must be staffed 24/7 before launch", None),
    ("seit Montag ist das kaputt", None),
    ("montags wird nichts ausgeliefert", None),
    ("It has to be there today.", "2027-01-15"),
    ("They go live on the first of June, that is our hard date.", "2027-06-01"),
    ("due on June first", "2027-06-01"),
    ("by the twenty-seventh of March, 2028", "2028-03-27"),
    ("before June the 5th", "2027-06-05"),
    ("к двадцать седьмому марта всё готово", "2027-03-27"),
    ("you may first check that", None),
]


@pytest.mark.parametrize(("text", "day"), DAYS)
def test_a_deadline_that_names_a_day_is_due_on_the_next_one(text: str, day: str) -> None:
    assert due(text) == day


PAST = [
    "We submitted it on January 12.",
    "Sent on December 20, nothing came back.",
    "Am 6. Januar ging der Server in Betrieb.",
    "It was promised for March 1, 2026.",
]


@pytest.mark.parametrize("text", PAST)
def test_a_day_that_was_lately_is_past_and_not_next_years(text: str) -> None:
    assert due(text) is None
    assert names_past_day(text, int(FRIDAY.timestamp() * 1_000))


@pytest.mark.parametrize("text", ["The release is due when the tests pass.", "by January 20", "since March it's slow"])
def test_what_names_no_day_or_one_ahead_names_no_past_day(text: str) -> None:
    assert not names_past_day(text, int(FRIDAY.timestamp() * 1_000))


def test_a_day_of_which_the_year_is_past_is_no_deadline() -> None:
    assert due("It was promised for March 1, 2026.") is None
    assert due("It was promised for March 1, 2026, and comes on March 1, 2028.") == "2028-03-01"


def test_a_month_is_due_on_its_last_day() -> None:
    assert due("The migration is to be over in March 2027.") == "2027-03-31"


@pytest.mark.parametrize(
    "text",
    [
        "The release is due when the tests pass.",
        "",
        "The limit is 20 requests.",
        "It has to work by the 2nd attempt.",
        "It must pass by the 3rd try at the latest, before the 4th retry.",
        "The release is on the 1st Sunday of each month.",
        "The review is due the 3rd business day after it",
        "not before the 21st century",
    ],
)
def test_what_names_no_day_is_due_on_none(text: str) -> None:
    assert due(text) is None


@pytest.mark.parametrize(
    ("text", "month", "day", "expected"),
    [
        ("We ship by the 31st.", 2, 5, "2027-03-31"),
        ("We ship by the 30th.", 1, 31, "2027-03-30"),
        ("We ship by the 31st.", 1, 31, "2027-01-31"),
        ("We ship by the 20th.", 12, 24, "2028-01-20"),
    ],
)
def test_a_day_that_a_month_lacks_is_that_of_the_next_one(text: str, month: int, day: int, expected: str) -> None:
    assert due(text, dt.datetime(2027, month, day, tzinfo=dt.UTC)) == expected


def test_a_leap_day_without_a_year_that_has_none_is_passed_over() -> None:
    assert due("The deadline is February 29.", dt.datetime(2027, 1, 15, tzinfo=dt.UTC)) is None
    assert due("The deadline is February 29.", dt.datetime(2028, 1, 15, tzinfo=dt.UTC)) == "2028-02-29"


@given(st.text(max_size=200), st.integers(0, 4_000_000_000_000))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_said_a_due_day_is_ahead(text: str, said_at: int) -> None:
    day = read_due_date(f"{text} April 5", said_at)
    said_on = dt.date(1970, 1, 1) + dt.timedelta(days=said_at // 86_400_000)
    assert day is None or dt.date.fromisoformat(day) >= said_on


TIMED = [
    ("No deploys until April 5, the auditors are in the house.", "2027-04-05"),
    ("nothing goes to production until the audit on 27 March is through", "2027-03-27"),
    (
        "Until the votes for the harbour board are counted on 22 March, no candidate appears on the front page",
        "2027-03-22",
    ),
    ("until 20 March we only run it with one list, as a pilot; the others stay on paper", "2027-03-20"),
    ("I'm off until 10 April, knee. Till then Mirela signs off what goes into db/migration.", "2027-04-10"),
    ("No deploys until the 20th March, the auditors are in the house.", "2027-03-20"),
    ("hands off billing until the 20th", "2027-01-20"),
    ("no prod deploys till the firmware is out (20 feb prob), they flash 900 boxes then", "2027-02-20"),
    ("no prod deploys till the firmware is out (they flash 900 boxes by 20 feb)", None),
    ("until the end of february i may only have 8 jobs at once", "2027-02-28"),
    ("We support Python 3.9 until October 2027.", "2027-10-31"),
    ("до 25 января ничего не выкатываем", "2027-01-25"),
    ("btw change freeze from tomorrow. nothing into prod until thu 21 jan 18:00", "2027-01-21"),
    ("Pas de déploiement jusqu'au 20 février.", "2027-02-20"),
    ("Nada de despliegues hasta el 20 de febrero.", "2027-02-20"),
    ("Pas de déploiement jusqu'à nouvel ordre et le lancement est le 20 février.", None),
    ("No se despliega hasta nuevo aviso y el lanzamiento es el 20 de febrero.", None),
    ("La cola aguanta hasta 3/4 de la capacidad.", None),
    ("Until now the delivery was on 20 February.", None),
    ("Hasta ahora la entrega era el 20 de febrero.", None),
    ("Jusqu'à présent on livrait le 20 février.", None),
    ("до сих пор не выкатили отчёт 20 февраля", None),
    ("retry until it works, five times", None),
    ("wait until 10 s have passed", None),
    ("we kept the logs until March 2025", None),
    ("The deadline is April 20.", None),
    ("We never delete data, the law wants ten years of it. The export is off until 5 February.", None),
    ("I work Monday till Thursday, on Fridays I'm with the kids.", None),
    ("Invoices always stay in draft until the end of the month, then they are locked.", None),
    ("Our support is staffed from 9 until 17 on Friday, otherwise until 20.", None),
    ("Мы решили перейти на PostgreSQL до 31 марта.", None),
    ("Wir migrieren bis Ende März von MySQL auf PostgreSQL.", None),
    ("Don't use the feature flags until Ana approves them; she asked for that on 18 January.", None),
    ("Never merge until CI is green, and never on 24 December.", None),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("text", "day"), TIMED)
def test_what_says_until_when_it_holds_ends_with_that_day(text: str, day: str | None) -> None:
    assert read_last_day(text, int(FRIDAY.timestamp() * 1_000)) == day


@pytest.mark.parametrize(
    ("zone", "said", "day"),
    [
        ("PST8", dt.datetime(2026, 11, 19, 7, 40, tzinfo=dt.UTC), "2026-11-19"),
        ("JST-9", dt.datetime(2026, 11, 18, 22, 40, tzinfo=dt.UTC), "2026-11-20"),
    ],
    ids=["late on Wednesday", "early on Thursday"],
)
def test_tomorrow_is_the_day_after_the_users_today(
    stand_in_zone: Callable[[str], None], zone: str, said: dt.datetime, day: str
) -> None:
    stand_in_zone(zone)
    assert due("The tax export is due tomorrow by noon.", said) == day
