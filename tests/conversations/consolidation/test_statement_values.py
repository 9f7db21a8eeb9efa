"""Which values a statement names, by their sort."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.statement_values import find_values

NAMED = [
    ("we ship on 14 March", "day", {"3-14"}),
    ("die Abnahme ist am 11. Mai", "day", {"11. mai"}),
    ("комиссия 25 февраля", "day", {"2-25"}),
    ("it is the 27th now", "day", {"27th"}),
    ("the nightly run starts at 02:30", "clock", {"02:30"}),
    ("wait 30 s", "time", {"30 s"}),
    ("keep them 90 days", "days", {"90 days"}),
    ("we are on Python 3.11", "version", {"3.11"}),
    ("at most 400 characters", "count", {"400"}),
    ("the limit is 2.5 V", "electric", {"2.5 v"}),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("text", "sort", "values"), NAMED)
def test_a_value_is_told_by_its_sort(text: str, sort: str, values: set[str]) -> None:
    assert find_values(text)[sort] == values


def test_what_names_no_value_has_no_sort() -> None:
    assert find_values("tabs, never spaces") == {}
