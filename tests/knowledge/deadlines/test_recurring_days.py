"""Which words say that a day comes again, and is no deadline."""

from __future__ import annotations

import pytest

from hyperloci.knowledge.deadlines.recurring_days import names_recurring_day

AGAIN = [
    "Reports must be in by Friday 17:00 each week.",
    "The invoices have to be out by the 5th of every month.",
    "Every other Thursday the release is cut.",
    "On Mondays the numbers are due.",
    "Farms can change their lists till Tuesday 12:00.",
    "So the cut-off: customers may cancel until Thursday.",
    "Kunden können ihre Bestellung bis Dienstag 12 Uhr ändern.",
    "Jeden Freitag müssen die Zahlen da sein.",
    "freitags müssen die Zahlen da sein",
    "Каждую пятницу сдаём отчёт.",
]
ONCE = [
    "The report must be in by Friday 17:00.",
    "The demo is in a week.",
    "You can send me changes until Tuesday.",
    "The farms can change their lists till Tuesday.",
    "This can wait until Friday.",
    "Tobias can change it till Tuesday.",
    "James can take it until Friday.",
    "By Friday every endpoint needs a test.",
    "Die Abgabe ist am Freitag.",
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(
    ("text", "comes_again"), [*((text, True) for text in AGAIN), *((text, False) for text in ONCE)]
)
def test_a_day_of_each_week_or_month_comes_again(text: str, comes_again: bool) -> None:
    assert names_recurring_day(text) is comes_again
