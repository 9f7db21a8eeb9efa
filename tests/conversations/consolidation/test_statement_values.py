"""Which values a statement names, by their sort."""

from __future__ import annotations

import pytest

from hyperloci.conversations.consolidation.statement_values import find_choices, find_cue_places, find_values

NAMED = [
    ("we ship on 14 March", "day", {"3-14"}),
    ("die Abnahme ist am 11. Mai", "day", {"11. mai", "5-11"}),
    ("комиссия 25 февраля", "day", {"2-25"}),
    ("it is the 27th now", "day", {"27th"}),
    ("the nightly run starts at 02:30", "clock", {"02:30"}),
    ("wait 30 s", "time", {"30 s"}),
    ("keep them 90 days", "days", {"90 days"}),
    ("we are on Python 3.11", "version", {"3.11"}),
    ("version 10.0.1 is out", "version", {"10.0.1"}),
    ("at most 400 characters", "count", {"400"}),
    ("höchstens 10.000.000 Zeilen", "count", {"10.000.000"}),
    ("es kostet 10.000.000 €", "money", {"10.000.000 €"}),
    ("the limit is 2.5 V", "electric", {"2.5 v"}),
]


@pytest.mark.req("B.17")
@pytest.mark.parametrize(("text", "sort", "values"), NAMED)
def test_a_value_is_told_by_its_sort(text: str, sort: str, values: set[str]) -> None:
    assert find_values(text)[sort] == values


def test_what_names_no_value_has_no_sort() -> None:
    assert find_values("tabs, never spaces") == {}


def test_a_choice_is_told_by_its_purpose() -> None:
    assert find_choices(["keys", "in", "redis"]) == {"cache": frozenset({"Redis"})}


def test_a_plain_word_is_no_choice() -> None:
    assert find_choices(["the", "rest", "of", "main"]) == {}


def test_an_ending_of_several_words_has_all_their_places() -> None:
    assert find_cue_places(["please", "get", "rid", "of", "it"], "ending") == {1, 2, 3}
    assert find_cue_places(["please", "get", "rid", "of", "it"], "pointing") == {4}
