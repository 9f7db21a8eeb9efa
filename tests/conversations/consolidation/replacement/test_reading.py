"""What a model that reads two statements together changes of what words and meaning say."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hyperloci.conversations.consolidation.replacement.reading import READ_MOST, read_likeliest
from hyperloci.errors import NotReadyError
from hyperloci.knowledge.successors import POSSIBLE_SUCCESSOR

pytestmark = pytest.mark.req("B.17")


class Reader:
    """Reads what it is told to, or raises; notes what it was asked."""

    def __init__(self, answer: float | Exception) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        self.asked += pairs
        if isinstance(self.answer, Exception):
            raise self.answer
        return [self.answer] * len(pairs)


def test_a_reading_that_holds_it_likely_raises_each_score() -> None:
    scores = [0.2, 0.45, 0.6]
    joined = read_likeliest(Reader(0.99), "new", ["a", "b", "c"], scores, range(3))
    assert all(after > before for before, after in zip(scores, joined, strict=True))


def test_a_reading_that_doubts_ends_nothing_and_takes_no_mark_away() -> None:
    joined = read_likeliest(Reader(0.0001), "new", ["a", "b", "c"], [0.2, 0.45, 0.6], range(3))
    assert joined == [0.2, POSSIBLE_SUCCESSOR, POSSIBLE_SUCCESSOR]


def test_the_likeliest_that_may_be_read_are() -> None:
    scores = [number / 20 for number in range(12)]
    reader = Reader(0.99)
    joined = read_likeliest(reader, "new", [str(number) for number in range(12)], scores, range(11))
    assert {old for old, _ in reader.asked} == {str(number) for number in range(11 - READ_MOST, 11)}
    assert joined[11] == scores[11]


def test_where_nobody_reads_scores_stay() -> None:
    assert read_likeliest(None, "new", ["a"], [0.4], [0]) == [0.4]
    assert read_likeliest(Reader(NotReadyError("it loads")), "new", ["a"], [0.4], [0]) == [0.4]
