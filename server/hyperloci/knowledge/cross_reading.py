"""Cross reading: what a model that reads two statements together says of them, beside those that compare their parts.

Features of words tell what two statements share and where they differ; a cross-encoder (`embedder.models`) also knows
what words mean beside each other: that what is open from any café no longer needs the VPN. It runs where vectors are
made. Where it can't be asked, or not in time, the others judge alone.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Final, Protocol

from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.knowledge.logistic import to_probability

logger = logging.getLogger(__name__)

READ_SECONDS: Final = 1.0
"""How long pairs may take. A few take some hundredths; the first ones of a process wait for the model's weights."""

LEAST: Final = 1e-6
"""Probabilities nearer to 0 or 1 are as sure as this one."""


class PairScorer(Protocol):
    """A model that reads an older and a newer statement together."""

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        """Return for each pair (older, newer) the probability that the older one no longer holds, 0..1.

        Raises:
            NotReadyError, EmbedderError, BadRequestError: it can't be asked now, or has none.
        """
        ...


def read_together(scorer: PairScorer | None, pairs: Sequence[tuple[str, str]]) -> Sequence[float] | None:
    """Return for each pair (older, newer) how likely the older one no longer holds; None where nobody can say."""
    if scorer is None or not pairs:
        return None
    try:
        return scorer.score_pairs(pairs, READ_SECONDS)
    except (NotReadyError, EmbedderError, BadRequestError) as error:
        logger.info("judging statements without reading them together: %s", error)
        return None


def to_odds(probability: float) -> float:
    """Return the log-odds of a probability; one of 0 or 1 is taken for almost that."""
    kept = min(max(probability, LEAST), 1.0 - LEAST)
    return math.log(kept / (1.0 - kept))


def join_readings(first: float, second: float, share: float, base: float = 0.0) -> float:
    """Return what two probabilities say together: by the mean of their log-odds, in which the second has a share of 1.

    `base` is added to the log-odds, for a gate that stays what it was for the first alone.
    """
    return to_probability((1.0 - share) * to_odds(first) + share * to_odds(second) + base)
