"""Decay: how a confidence falls with time (B.11)."""

from __future__ import annotations

import math
from typing import Final

from hyperloci.clock import MS_PER_DAY

DECAY_EXPONENT: Final = 0.8
"""B.11: confidence decays as exp(-rate * days ** 0.8)."""


def decay_factor(rate: float, age_ms: float) -> float:
    """Return what is left of a confidence after `age_ms` without access (B.11)."""
    days = max(0.0, age_ms) / MS_PER_DAY
    return math.exp(-rate * days**DECAY_EXPONENT)
