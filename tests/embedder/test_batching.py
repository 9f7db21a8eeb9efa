"""Batches of like length."""

from __future__ import annotations

from itertools import chain, pairwise

from hypothesis import given
from hypothesis import strategies as st

from hyperloci.embedder.batching import estimate_tokens, plan_batches, runs_of_like_length

LENGTHS = st.lists(st.integers(1, 300), max_size=60)


@given(LENGTHS, st.integers(1, 1_000))
def test_every_text_is_in_exactly_one_batch(lengths: list[int], budget: int) -> None:
    assert sorted(chain.from_iterable(plan_batches(lengths, budget))) == list(range(len(lengths)))


@given(LENGTHS, st.integers(1, 1_000))
def test_a_batch_keeps_to_the_budget_unless_one_text_is_larger(lengths: list[int], budget: int) -> None:
    for batch in plan_batches(lengths, budget):
        assert len(batch) == 1 or sum(lengths[index] for index in batch) <= budget


@given(LENGTHS, st.integers(1, 1_000))
def test_lengths_fall_from_batch_to_batch(lengths: list[int], budget: int) -> None:
    in_order = [lengths[index] for index in chain.from_iterable(plan_batches(lengths, budget))]
    assert in_order == sorted(lengths, reverse=True)


def test_equal_lengths_keep_their_order() -> None:
    assert plan_batches([5, 5, 5], 100) == [[0, 1, 2]]


@given(LENGTHS, st.integers(0, 50))
def test_runs_cover_the_list_without_a_gap_and_keep_to_the_spread(lengths: list[int], spread: int) -> None:
    falling = sorted(lengths, reverse=True)
    runs = runs_of_like_length(falling, spread)
    assert [start for start, _ in runs[:1]] == [0] * bool(falling)
    assert all(end == start for (_, end), (start, _) in pairwise(runs))
    assert not falling or runs[-1][1] == len(falling)
    assert all(falling[start] - falling[end - 1] <= spread for start, end in runs)


def test_the_estimate_never_exceeds_what_the_model_reads() -> None:
    assert [estimate_tokens("x" * chars, 256) for chars in (0, 40, 100_000)] == [2, 12, 256]
