"""Cross reading: what a model that reads two statements together says of them, beside those that compare their parts.

Features of words tell what two statements share and where they differ; a cross-encoder (`embedder.models`) also knows
what words mean beside each other: that what is open from any café no longer needs the VPN. It runs where vectors are
made. Where it can't be asked, or not in time, the others judge alone.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from hyperloci.errors import HyperlociError, NoEmbedderError, NotReadyError
from hyperloci.knowledge.logistic import to_probability

logger = logging.getLogger(__name__)

READ_SECONDS: Final = 0.8
"""How long pairs may take; a longer request that fails would count as an embedder's silence. A few take some
hundredths; the first ones of a process wait for the model's weights."""

LEAST: Final = 1e-6
"""Probabilities nearer to 0 or 1 are as sure as this one."""


READ_LIKELIEST: Final = 3
READ_NEAREST: Final = 3
"""Memories that are read together with a statement: some milliseconds each."""

READ_BASE: Final = -0.18
"""Added to the log-odds of both, so that the gates of the judge alone do: at the gate 8.3 % of the 240 pairs that hold
are alarmed then, 1.8 % of what holds side by side in one project."""

READ_SHARE: Final = 0.3
"""How much that counts beside the judge. Of 1,000 pairs of unread writers .853 are ordered rightly with .3, .857 with
.5, by the judge alone .796, by the reading alone .836; of the 240 pairs .869, .860, .835 and .818, of SICK .943, .935,
.917 and .873 (docs/benchmarks/contradictions.md, "Read together")."""


class PairScorer(Protocol):
    """A model that reads an older and a newer statement together."""

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        """Return for each pair (older, newer) the probability that the older one no longer holds, 0..1.

        Raises:
            NotReadyError, EmbedderError, BadRequestError: it can't be asked now, or has none.
        """
        ...


def may_answer_soon(error: HyperlociError) -> bool:
    """Tell whether who could not be asked may be soon: it loads, or has too much to do."""
    return isinstance(error, NotReadyError) and not isinstance(error, NoEmbedderError)


class LateScorer:
    """A scorer that is asked no more once it was late, for work that can be done again; satisfies `PairScorer`.

    Attributes:
        is_late: whether it could not answer, but may soon.
    """

    def __init__(self, scorer: PairScorer) -> None:
        self._scorer = scorer
        self.is_late = False

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        """Return what the scorer says of each pair (see `PairScorer`).

        Raises:
            NotReadyError, EmbedderError, BadRequestError: it can't be asked now, was late before, or has none.
        """
        if self.is_late:
            raise NotReadyError("It was late a moment ago.")
        try:
            return self._scorer.score_pairs(pairs, timeout)
        except HyperlociError as error:
            self.is_late = may_answer_soon(error)
            raise


def read_together(scorer: PairScorer | None, pairs: Sequence[tuple[str, str]]) -> Sequence[float] | None:
    """Return for each pair (older, newer) how likely the older one no longer holds; None where nobody can say."""
    if scorer is None or not pairs:
        return None
    try:
        return scorer.score_pairs(pairs, READ_SECONDS)
    except HyperlociError as error:
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


def read_nearest(
    scorer: PairScorer | None,
    statement: str,
    scores: Mapping[str, float],
    similarities: Mapping[str, float | None],
) -> dict[str, float]:
    """Return what a judge and a reading together say of a few texts, the likeliest by the judge and the nearest.

    Args:
        scorer: reads pairs; without one nothing is returned.
        statement: the newer text of each pair.
        scores: the judge's probability of each older text.
        similarities: their cosines with the statement, where vectors are there.
    """
    likeliest = sorted(scores, key=lambda text: -scores[text])[:READ_LIKELIEST]
    nearest = sorted(scores, key=lambda text: -(similarities.get(text) or 0.0))[:READ_NEAREST]
    texts = list(dict.fromkeys((*likeliest, *nearest)))
    readings = read_together(scorer, [(text, statement) for text in texts])
    return {
        text: join_readings(scores[text], reading, READ_SHARE, READ_BASE)
        for text, reading in zip(texts, readings or (), strict=False)
    }
