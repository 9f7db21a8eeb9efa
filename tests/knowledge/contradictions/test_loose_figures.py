"""Loose figures: numbers, spans and points in time as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions import loose_figures
from hyperloci.knowledge.contradictions.figure_features import measure_loose_figures
from hyperloci.knowledge.contradictions.loose_figures import are_equal_figures, read_loose_figures
from tests.support import examples

COVER = {"covered_old": 0.5, "covered_new": 0.5, "covered_most": 0.5, "left_new": 1.0}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("for 14 days", "for two weeks"),
        ("every 15 minutes", "each 900 s"),
        ("at 10 pm", "at 22:00"),
        ("1,200 euros", "€1200"),
        ("half of them", "50 % of them"),
        ("once a day", "daily"),
        ("Mondays", "on Monday"),
        ("version 1.2.3", "version 1.2.3"),
        ("0.05", "5 %"),
        ("0.125 s", "125 ms"),
        ("21,5 %", "21.5 %"),
        ("1 500 ms", "1500 ms"),
        ("1\u202f500 ms", "1.500 ms"),
        ("1.500 rows", "1.5 rows"),
        ("10.000.000 rows", "10,000,000 rows"),
    ],
)
def test_the_same_amount_is_the_same_however_it_is_written(one: str, other: str) -> None:
    (a,), (b,) = read_loose_figures(one), read_loose_figures(other)
    assert are_equal_figures(a, b) and are_equal_figures(b, a)


@pytest.mark.parametrize(("old", "new"), [("after 14 days", "for a month"), ("at 9 am", "at 10 am"), ("19 %", "7 %")])
def test_another_amount_of_one_dimension_clashes(old: str, new: str) -> None:
    found = measure_loose_figures(old, new, COVER)
    assert found["loose_clash_alone"] == 1 and not found["loose_same"]


def test_amounts_of_other_dimensions_do_not_clash() -> None:
    found = measure_loose_figures("it takes 20 minutes", "it has 20 GB", COVER)
    assert not found["loose_clash"] and found["loose_other"] == 1


def test_may_is_a_month_only_where_it_is_written_as_one() -> None:
    assert not read_loose_figures("it may fail")
    assert read_loose_figures("due in May")


@pytest.mark.parametrize(
    "text", ["", "²³", "٣ 5²", "1" * 5_000, "half", "1.2.3.4.5.6.7.8.9", "12:99", "99 pm", "once a"]
)
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    assert isinstance(read_loose_figures(text), tuple)


@settings(max_examples=examples(200))
@given(
    st.lists(
        st.sampled_from(
            "at 10 pm 22:00 a the each every once per Monday May weekly half twelve hundred 5 % € 3.11 Git".split()  # noqa: SIM905
        ),
        max_size=8,
    )
)
def test_no_figure_begins_where_reading_is_left_out(words: list[str]) -> None:
    text = " ".join(words)
    read_loose_figures.cache_clear()
    found = read_loose_figures(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loose_figures, "_may_begin_figure", lambda token: True)
        read_loose_figures.cache_clear()
        assert read_loose_figures(text) == found
    read_loose_figures.cache_clear()
