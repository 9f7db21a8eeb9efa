"""The reader of dates: what is one in a text, and what only looks like it."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.clock import from_iso
from hyperloci.errors import BadRequestError
from hyperloci.retrieval.time_bounds import parse_time_bound
from hyperloci.text.language.dates import DateText
from tests.support import NOW, examples
from tests.text.language.dates.written_expressions import EXPRESSIONS


@pytest.mark.parametrize(
    "text",
    [
        "the next day",
        "on Mondays",
        "get_last_week()",
        "twenty five days ago",
        "3.5 days ago",
        "May I?",
        "go back to 2",
        "beans in Spring",
        "из лета",
    ],
)
def test_what_only_looks_like_a_date_is_none(text: str) -> None:
    assert [*DateText(text).find()] == []


def test_a_month_or_year_by_itself_is_a_date_where_one_is_expected() -> None:
    assert DateText("March").read(0) is None and DateText("March").read(0, alone=True) is not None
    assert parse_time_bound("March 2026", NOW) == from_iso("2026-03-01")
    assert parse_time_bound("summer", NOW) == from_iso("2026-06-01")
    assert parse_time_bound("fall 2025", NOW) == from_iso("2025-09-01")
    assert parse_time_bound("last Friday", NOW) == from_iso("2027-01-08")
    with pytest.raises(BadRequestError):
        parse_time_bound("March of the penguins", NOW)


@settings(max_examples=examples(100))
@given(st.lists(st.sampled_from([text for _, text in EXPRESSIONS] + [*"_,.'’ \n", "the", "в", "7"]), max_size=12))
def test_expressions_lie_in_order_and_hold_what_the_text_does(parts: list[str]) -> None:
    text = DateText(" ".join(parts))
    found = [*text.find()]
    for one, other in itertools.pairwise(found):
        assert one.first < one.end <= other.first < other.end
    assert all(each.text in text.text for each in found)
