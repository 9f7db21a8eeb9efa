"""A linear model's weights become a probability in one place."""

from __future__ import annotations

import math

import pytest

from hyperloci.knowledge.logistic import to_probability, weigh_names, weigh_values

WEIGHTS = {"": -1.0, "long": 2.0, "asked": -0.5}


@pytest.mark.parametrize("log_odds", [-3.0, -1e-9, 0.0, 0.4, 12.0])
def test_a_probability_has_its_log_odds(log_odds: float) -> None:
    probability = to_probability(log_odds)
    assert math.log(probability / (1 - probability)) == pytest.approx(log_odds)


def test_odds_of_any_size_are_a_probability() -> None:
    assert (to_probability(-1_000.0), to_probability(1_000.0)) == (0.0, 1.0)


def test_what_has_no_weight_says_nothing_and_the_intercept_is_always_there() -> None:
    assert weigh_names(WEIGHTS, ["long", "unknown"]) == to_probability(1.0)
    assert weigh_values(WEIGHTS, {"long": 0.5, "asked": 2.0, "unknown": 9.0}) == to_probability(-1.0)
    assert weigh_names(WEIGHTS, []) == weigh_values(WEIGHTS, {}) == to_probability(-1.0)
