"""Statement reading: a model reads a sentence with what was said around it: is it worth keeping (B.17)?

The scorer knows words and how they stand (`statement_scorer`); a cross-encoder (`embedder.models`) knows what they mean
together: that `always use uv in this repo, never pip` is a rule. It runs where vectors are made. Where it can't be
asked, the scorer judges alone; where it is only late, a turn may wait for it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from hyperloci.conversations.consolidation.context.answer_lists import find_answered_questions
from hyperloci.conversations.consolidation.context.assents import is_brief_answer, names_nothing
from hyperloci.conversations.consolidation.context.options import find_choice
from hyperloci.conversations.consolidation.turn_view import TurnView, find_reply_after, find_reply_before
from hyperloci.conversations.referents import count_subject_words
from hyperloci.errors import HyperlociError
from hyperloci.knowledge.cross_reading import PairScorer, join_readings, may_answer_soon

_log = logging.getLogger(__name__)

BEFORE_CHARS: Final = 240
NEIGHBOUR_CHARS: Final = 100
AFTER_CHARS: Final = 160
"""What is read of the assistant's words before a turn, their end; of the sentence before it; of the answer to it."""

READ_FROM: Final = 0.01
READ_MOST: Final = 32
"""Sentences of a turn that are read: the likeliest by their words. From .05 on it would be a seventh fewer, but what
belongs to a statement beside it is told worse: of F and I 404 instead of 407 are kept."""

READ_TOGETHER: Final = 6
"""Sentences of one request: some hundredths of a second, after which a question comes first."""

READ_SECONDS: Final = 0.8
"""How long a hook waits for all the sentences it has read."""

REQUEST_SECONDS: Final = 0.8
"""How long one request may take. A longer one that fails would count as an embedder's silence, and searches would do
without vectors (`embedder.circuit_breaker`), though it may only be loading this model."""

PATIENT_SECONDS: Final = 20.0
RETRY_SECONDS: Final = 0.2
"""How long upkeep and imports, which nobody waits for, ask again for what is late: until a model is loaded."""

READ_SHARE: Final = 0.33
"""How much the reading counts beside the words. Of 7,391 sentences of five writers, from whom neither learned, average
precision is .860 by words, .804 by the reading, .877 with this share and .879 with .23; of two published projects,
left out, .305 and .604 with this, .295 and .583 with .23 (docs/benchmarks/extraction.md, "Published sessions"). With
.45 more noise passes."""

CHOSEN_READING: Final = 0.2
"""From where on the choice of an option is kept by the reading of that option, whatever its words say: of 381 choices
by three writers, nearly half of them of the moment (`which file first?`), 194 of 211 that last and 79 of 170 others; by
words 139 and 94. From .4 on it would be 165 and 51, but nearly all choices of labelled sessions last, and two of those
lie between (docs/benchmarks/extraction.md, "Options")."""

OWN_WORDS_FROM: Final = 0.5
"""From where on what begins like a choice is kept by its own words, if two of them tell something: `2 reviewers for
each PR from now on`, `first of all: never push to main`. Of the 381 choices one that lasts and three others more."""

SURE_READING: Final = 0.6
"""From where on a brief answer (`context.assents`) is kept by its reading, whatever its words say. From .5 on half as
many again are kept of a writer left out, and twice as many that must not be (docs/benchmarks/extraction.md, "Brief
answers")."""

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


class LateReadingError(Exception):
    """What a turn says can't be read now, but soon; `seq` is its number."""

    def __init__(self, seq: int) -> None:
        super().__init__(f"turn {seq} waits until it can be read")
        self.seq = seq


class ReadingSession:
    """Has sentences read, a few at a time, as long as its time lasts; after a failure no more."""

    def __init__(
        self,
        reader: StatementReader | None,
        seconds: float = READ_SECONDS,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        """Create it.

        Args:
            reader: the model; without one nothing is read.
            seconds: how long may be waited for it, in all.
            should_stop: asked before each request.
        """
        self._reader = reader
        self._left = seconds
        self._should_stop = should_stop
        self._is_late = False
        self._may_wait = False
        self._readings: dict[tuple[str, str], float] = {}
        self._cut_short: set[int] = set()

    def begin_part(self, *, may_wait: bool) -> None:
        """Begin with some turns; what was read of others is let go.

        Args:
            may_wait: whether a turn is left (`LateReadingError`) whose sentences can't be read now, but soon.
        """
        self._may_wait = may_wait
        self._readings.clear()
        self._cut_short.clear()

    def read(self, pairs: Sequence[tuple[str, str]], seq: int) -> list[float | None]:
        """Return for each pair how likely its sentence is to be kept, 0..1; None where it was not read.

        The first turn of a part does not wait once the model answers: it would take as long the next time too.

        Args:
            pairs: what was said before a sentence, and the sentence with its answer.
            seq: the number of the turn that they are from.

        Raises:
            LateReadingError: they can't be read now, and the turn may wait for it.
        """
        is_first = not self._readings
        new = list(dict.fromkeys(pair for pair in pairs if pair not in self._readings))
        for start in range(0, len(new), READ_TOGETHER):
            self._ask(new[start : start + READ_TOGETHER])
        if self._may_wait and self._is_late and not all(pair in self._readings for pair in pairs):
            if is_first and self._readings:
                self._cut_short.add(seq)
            if seq not in self._cut_short:
                raise LateReadingError(seq)
        return [self._readings.get(pair) for pair in pairs]

    def _ask(self, pairs: Sequence[tuple[str, str]]) -> None:
        gives_up_at = time.monotonic() + PATIENT_SECONDS
        while self._reader is not None:
            if self._left <= 0.0 or self._should_stop():
                self._is_late = True
                return
            started = time.monotonic()
            try:
                readings = self._reader.score_statements(pairs, min(self._left, REQUEST_SECONDS))
                self._readings.update(zip(pairs, readings, strict=True))
                return
            except HyperlociError as error:
                self._is_late = may_answer_soon(error)
                # Who has time for more than one request waits for a model that loads.
                if not self._is_late or self._left <= REQUEST_SECONDS or started > gives_up_at:
                    _log.info("sentences are not read: %s", error)
                    self._reader = None
                    return
            finally:
                self._left -= time.monotonic() - started
            time.sleep(RETRY_SECONDS)


def read_statements(
    reading: ReadingSession | None, turns: Sequence[TurnView], at: int, scores: Sequence[float]
) -> list[float]:
    """Return the scores of a turn's sentences, those of the likeliest joined with what a model says that reads them.

    Args:
        reading: asks the model; without one the scores stay, as those of what is not read do.
        turns, at: the turns, and which of them.
        scores: how likely each of its sentences is to be kept by its words.

    Raises:
        LateReadingError: the model can't read them now, and the turn may wait for it.
    """
    joined, sentences = list(scores), turns[at].sentences
    if reading is None:
        return joined
    is_chosen = find_choice(turns, at) is not None
    is_brief, is_bare = is_chosen or is_brief_answer(turns, at), is_chosen or names_nothing(turns, at)
    likely = (number for number, score in enumerate(scores) if is_brief or score >= READ_FROM)
    wanted = sorted(likely, key=lambda number: (-scores[number], number))[:READ_MOST]
    readings = reading.read([describe_sentence(turns, at, n) for n in wanted], turns[at].seq)
    for number, told in zip(wanted, readings, strict=True):
        if told is not None:
            # Of few words the words tell little: what was proposed does, and only the reading knows it.
            both = join_readings(scores[number], told, READ_SHARE, READ_BASE)
            joined[number] = told if is_bare else max(both, told) if is_brief and told >= SURE_READING else both
            if is_chosen and scores[number] >= OWN_WORDS_FROM and count_subject_words(sentences[number].text) > 1:
                joined[number] = max(told, scores[number])
    return joined


def describe_sentence(turns: Sequence[TurnView], at: int, number: int) -> tuple[str, str]:
    """Return what was said before a sentence of a turn, and the sentence with the beginning of the answer to it.

    A mark says nothing (`2`): it stands behind the option that it chooses, and what introduces that before it. Before
    an item that answers a numbered question that question stands alone.
    """
    before, after = find_reply_before(turns, at), find_reply_after(turns, at)
    sentences = turns[at].sentences
    neighbour = sentences[number - 1].text[-NEIGHBOUR_CHARS:] if number else ""
    answer = after.text if after is not None and not after.is_flagged else ""
    answered = (each for each in find_answered_questions(turns, at) if each.start <= sentences[number].start < each.end)
    question = next(answered, None)
    if question is not None:
        return join_parts(question.text, neighbour, sentences[number].text, answer)
    option = find_choice(turns, at)
    if option is not None and before is not None:
        return join_parts(before.text[: option.start], neighbour, f"{option.text} ({sentences[number].text})", answer)
    return join_parts(before.text if before else "", neighbour, sentences[number].text, answer)


def join_parts(before: str, neighbour: str, sentence: str, after: str) -> tuple[str, str]:
    """Return the two texts that the model reads, of what was said before, the sentence and what was said to it."""
    told = f"{sentence} → {after[:AFTER_CHARS]}" if after else sentence
    return f"{before[-BEFORE_CHARS:]} ‖ {neighbour[-NEIGHBOUR_CHARS:]}", told
