"""Word order: the runs of stems that two statements share."""

from __future__ import annotations

import pytest

from hyperloci.knowledge.contradictions.word_order import Run, find_common_runs, measure_longest_run


@pytest.mark.parametrize(
    ("one", "other", "runs"),
    [
        ("the cache is redis", "the cache is valkey", [(0, 0, 3)]),
        ("keep logs for two weeks", "keep all logs for a week", [(0, 0, 1), (1, 2, 2)]),
        ("a b c", "d e", []),
        ("", "a", []),
    ],
)
def test_common_runs_are_told_with_their_places_in_both_and_their_length(one: str, other: str, runs: list[Run]) -> None:
    stems, others = tuple(one.split()), tuple(other.split())
    assert find_common_runs(stems, others) == runs
    assert measure_longest_run(stems, others) == max((length for _, _, length in runs), default=0)
