"""Reading two statements together, by models that answer, are late, or are none."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from hyperloci.errors import BadRequestError, EmbedderError, HyperlociError, NotReadyError
from hyperloci.knowledge.cross_reading import READ_SECONDS, join_readings, read_together

PAIRS = [("Deploys run on Fridays.", "Nobody deploys on a Friday."), ("Tests run on each push.", "Docs are in German.")]


class Scorer:
    """Says what it is told to, and notes how long it might have taken."""

    def __init__(self, scores: Sequence[float] | HyperlociError) -> None:
        self.scores = scores
        self.timeouts: list[float] = []

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        self.timeouts.append(timeout)
        if isinstance(self.scores, HyperlociError):
            raise self.scores
        return self.scores


def test_each_pair_is_read_within_the_time_allowed() -> None:
    scorer = Scorer([0.9, 0.1])
    assert read_together(scorer, PAIRS) == [0.9, 0.1]
    assert scorer.timeouts == [READ_SECONDS]


@pytest.mark.parametrize("error", [NotReadyError("loading"), EmbedderError("late"), BadRequestError("has none")])
def test_a_model_that_does_not_answer_says_nothing(error: HyperlociError) -> None:
    assert read_together(Scorer(error), PAIRS) is None


def test_nobody_is_asked_about_nothing() -> None:
    scorer = Scorer([])
    assert read_together(scorer, []) is None and read_together(None, PAIRS) is None
    assert scorer.timeouts == []


def test_two_readings_are_joined_by_their_log_odds() -> None:
    assert join_readings(0.2, 0.8, 0.5) == pytest.approx(0.5)
    assert join_readings(0.2, 0.8, 0.0) == pytest.approx(0.2)
    assert join_readings(0.2, 0.8, 1.0) == pytest.approx(0.8)
    assert join_readings(0.2, 0.8, 0.5, base=-1.0) < join_readings(0.2, 0.8, 0.5)
    assert 0.0 < join_readings(0.0, 1.0, 0.5) < 1.0
