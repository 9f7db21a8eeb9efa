"""Word order: the runs of stems that two statements share."""

from __future__ import annotations

from difflib import SequenceMatcher

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.knowledge.contradictions.word_order import find_common_runs, measure_longest_run
from tests.support import examples

STEMS = st.lists(st.sampled_from("abcde"), max_size=14).map(tuple)


@settings(max_examples=examples(200))
@given(one=STEMS, other=STEMS)
def test_common_runs_are_the_matching_blocks_of_the_standard_library(
    one: tuple[str, ...], other: tuple[str, ...]
) -> None:
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    assert find_common_runs(one, other) == [tuple(block) for block in matcher.get_matching_blocks()[:-1]]
    assert measure_longest_run(one, other) == matcher.find_longest_match().size
