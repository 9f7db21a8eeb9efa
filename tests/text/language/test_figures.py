"""Figures: the numbers of a text, in digits and in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.text.language.figures import read_figures, read_said_figures
from tests.support import examples


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("retry 3 times", {"3"}),
        ("`> 8.0`", {"8"}),
        ("1,200 rows, 1_000 of them new", {"1200", "1000"}),
        ("lr 1e-3", {"0.001"}),
        ("10.000.000 Zeilen", {"10000000"}),
        ("between(0,20)", {"0", "20"}),
        ("#define MIN_OFF_S 180U", {"180"}),
        ("at least twenty reads", {"20"}),
        ("twenty five, or thirty-one", {"25", "20", "31"}),
        ("make it eighteen", {"18"}),
        ("half a million then", {"500000"}),
        ("five hundred rows", {"500"}),
        ("двести тысяч", {"200000"}),
        ("five hundred thousand, two and a half million", {"500000", "2500000"}),
        ("two hundred five", {"205"}),
        ("mach den Timeout auf zwölfhundert", {"1200"}),
        ("fünfhundert Kilobit, Fuenfundzwanzig Knoten", {"500", "25"}),
        ("zwei Millionen, eine halbe Million", {"2000000", "500000"}),
        ("zweihundert zwanzig", {"220"}),
        ("ein Problem, eine Lösung", set()),
        ("app.elf is an ELF file", set()),
        ("one more thing", set()),
        ("nothing", set()),
    ],
)
def test_numbers_are_read_in_digits_and_in_words(text: str, figures: set[str]) -> None:
    assert read_figures(text) >= figures
    assert bool(read_figures(text)) == bool(figures)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("20 minutes without activity", "SESSION_SECONDS = 1200"),
        ("five minutes", "MIN_OFF_S 300U"),
        ("everything under one percent", "af: 0.01"),
        ("4Gi for each pod", "limit: 4096"),
        ("keep it a day, one day", "ttl = 86400"),
        ("cap it at 500k", "MaxStates = 500_000"),
        ("two million", "LIMIT = 2000000"),
        ("anderthalb Stunden", "ttl_s = 5400"),
        ("nach dreißig Tagen", "MAX_AGE_HOURS = 720"),
    ],
)
def test_a_figure_is_found_in_the_unit_that_code_has_it_in(said: str, written: str) -> None:
    assert read_figures(said) & read_figures(written)


@pytest.mark.parametrize(
    ("text", "not_said"),
    [
        ("5 thousand", "1000"),
        ("1.5 million", "1000000"),
        ("two hundred five", "105"),
        ("5 Tausend", "1000"),
        ("zweihundert tausend", "1000"),
    ],
)
def test_what_is_counted_in_is_no_figure_of_its_own(text: str, not_said: str) -> None:
    assert not_said not in read_figures(text)


@given(st.text(max_size=300))
@hypothesis_settings(max_examples=examples(100))
def test_whatever_is_read_its_figures_are_numbers(text: str) -> None:
    assert all(float(figure) >= 0 for figure in read_figures(text))


def test_the_address_of_a_machine_at_the_end_of_a_sentence_is_no_number() -> None:
    assert not any("192168" in figure for figure in read_said_figures("The database runs on 192.168.100.200."))
