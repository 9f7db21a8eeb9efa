"""Which topic of this run is which of the run before."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.topics.topic_identity import churn_share, find_absorbed, match_topics
from tests.support import examples

partitions = st.lists(st.integers(0, 5), min_size=1, max_size=40).map(
    lambda owners: {owner: {i for i, o in enumerate(owners) if o == owner} for owner in set(owners)}
)


@pytest.mark.req("E.09")
@settings(max_examples=examples(80))
@given(partitions)
def test_the_same_members_are_the_same_topics(known: dict[int, set[int]]) -> None:
    keys = sorted(known)
    assert match_topics(known, [known[key] for key in keys]) == dict(enumerate(keys))


@settings(max_examples=examples(80))
@given(partitions, partitions)
def test_a_topic_is_matched_once_at_most(known: dict[int, set[int]], found: dict[int, set[int]]) -> None:
    matched = match_topics(known, list(found.values()))
    assert len(set(matched.values())) == len(matched)
    assert set(matched.values()) <= set(known)


def test_the_larger_overlap_wins() -> None:
    assert match_topics({1: {1, 2, 3, 4, 5, 6}}, [{1, 2}, {3, 4, 5, 6}]) == {1: 1}


def test_a_few_common_members_do_not_make_two_topics_one() -> None:
    assert match_topics({1: set(range(10))}, [{9, *range(20, 30)}]) == {}


@pytest.mark.req("E.09")
def test_a_topic_merges_into_the_one_that_took_half_of_its_members() -> None:
    known = {1: {1, 2, 3, 4, 5, 6, 7, 8}, 2: {11, 12, 13}}
    found = [{1, 2, 3, 4, 5, 6, 7, 8, 11, 12}]
    matched = match_topics(known, found)
    assert matched == {0: 1}
    assert find_absorbed(known, found, matched) == {2: 0}


def test_a_topic_whose_members_went_everywhere_merged_into_none() -> None:
    known = {1: {1, 2, 3, 4, 5}}
    assert find_absorbed(known, [{1, *range(20, 40)}, {2, *range(50, 70)}], {}) == {}


@settings(max_examples=examples(60))
@given(st.sets(st.integers(0, 20)), st.sets(st.integers(0, 20)))
def test_churn_is_a_share_and_does_not_depend_on_direction(before: set[int], now: set[int]) -> None:
    assert 0 <= churn_share(before, now) <= 1
    assert churn_share(before, now) == churn_share(now, before)
    assert churn_share(before, before) == 0
