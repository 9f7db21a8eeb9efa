"""Statement reading: a model reads a sentence with what was said around it: is it worth keeping (B.17)?

The scorer knows words and how they stand (`statement_scorer`); a cross-encoder (`embedder.models`) knows what they mean
together: that `always use uv in this repo, never pip` is a rule. It runs where vectors are made. Where it can't be
asked, or not in time, the scorer judges alone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Protocol

from hyperloci.conversations.consolidation.turn_view import TurnView, find_reply_after, find_reply_before
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.knowledge.cross_reading import READ_SECONDS, PairScorer, join_readings

_log = logging.getLogger(__name__)

BEFORE_CHARS: Final = 240
NEIGHBOUR_CHARS: Final = 100
AFTER_CHARS: Final = 160
"""What is read of the assistant's words before a turn, their end; of the sentence before it; of the answer to it."""

READ_FROM: Final = 0.01
READ_MOST: Final = 32
"""Sentences of a turn that are read: the likeliest by their words, some milliseconds each. From .05 on it would be a
seventh fewer, but what belongs to a statement beside it is told worse: of F and I 404 instead of 407 are kept."""

READ_SHARE: Final = 0.23
"""How much the reading counts beside the words. Of 7,391 sentences of five writers, from whom neither learned, average
precision is .860 by words, .804 by the reading, .879 with this share and .877 with a third
(docs/benchmarks/extraction.md, "Read with what was said around")."""

READ_BASE: Final = 0.2
"""Added to the log-odds of both: as many sentences pass each gate then as by words alone, and as many of them are to
be kept."""


class StatementReader(Protocol):
    """A model that reads a sentence with what was said around it."""

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float) -> Sequence[float]:
        """Return for each pair (what was said before, a sentence and its answer) how likely it is to be kept, 0..1.

        Raises:
            NotReadyError, EmbedderError, BadRequestError: it can't be asked now, or has none.
        """
        ...


class TextReader(PairScorer, StatementReader, Protocol):
    """A model that reads two statements together, and a sentence with what was said around it."""


def read_statements(
    reader: StatementReader | None, turns: Sequence[TurnView], at: int, scores: Sequence[float]
) -> list[float]:
    """Return the scores of a turn's sentences, those of the likeliest joined with what a model says that reads them.

    Args:
        reader: the model; without one, and where it can't be asked, the scores stay.
        turns, at: the turns, and which of them.
        scores: how likely each of its sentences is to be kept by its words.
    """
    joined = list(scores)
    likeliest = sorted((n for n, score in enumerate(scores) if score >= READ_FROM), key=lambda n: (-scores[n], n))
    wanted = sorted(likeliest[:READ_MOST])
    if reader is None or not wanted:
        return joined
    try:
        readings = reader.score_statements([describe_sentence(turns, at, n) for n in wanted], READ_SECONDS)
    except (NotReadyError, EmbedderError, BadRequestError) as error:
        _log.info("judging sentences by their words alone: %s", error)
        return joined
    for number, reading in zip(wanted, readings, strict=True):
        joined[number] = join_readings(scores[number], reading, READ_SHARE, READ_BASE)
    return joined


def describe_sentence(turns: Sequence[TurnView], at: int, number: int) -> tuple[str, str]:
    """Return what was said before a sentence of a turn, and the sentence with the beginning of the answer to it."""
    before, after = find_reply_before(turns, at), find_reply_after(turns, at)
    sentences = turns[at].sentences
    neighbour = sentences[number - 1].text[-NEIGHBOUR_CHARS:] if number else ""
    return join_parts(before.text if before else "", neighbour, sentences[number].text, after.text if after else "")


def join_parts(before: str, neighbour: str, sentence: str, after: str) -> tuple[str, str]:
    """Return the two texts that the model reads, of what was said before, the sentence and what was said to it."""
    told = f"{sentence} → {after[:AFTER_CHARS]}" if after else sentence
    return f"{before[-BEFORE_CHARS:]} ‖ {neighbour[-NEIGHBOUR_CHARS:]}", told
