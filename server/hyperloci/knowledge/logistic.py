"""Logistic models: what a linear model's weights say of features, as a probability."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def to_probability(log_odds: float) -> float:
    """Return the probability of log-odds, 0..1."""
    if log_odds < 0:  # The exponential of large numbers has no float.
        return math.exp(log_odds) / (1.0 + math.exp(log_odds))
    return 1.0 / (1.0 + math.exp(-log_odds))


def weigh_values(weights: Mapping[str, float], values: Mapping[str, float]) -> float:
    """Return the probability that a model gives to features with values: a weight each; the intercept has no name."""
    return to_probability(weights[""] + math.fsum(weights.get(name, 0.0) * value for name, value in values.items()))


def weigh_names(weights: Mapping[str, float], names: Iterable[str]) -> float:
    """Return the same for features that are there or not."""
    return to_probability(math.fsum(weights.get(name, 0.0) for name in ("", *names)))
