"""Session outcomes: which of an assistant's sentences tell what a session did, what it found out, and what it left.

A multinomial regression over a sentence's words, how it is put, and what was done before it was said. Its weights are
data (`data/outcome_weights.txt`), trained by `python -m bench train_outcomes` on ends of sessions in ten languages that
were written for it (docs/benchmarks/sessions.md, "The last session"). That something was done since the user spoke
tells more than any word, in every language: what is said without it mostly explains, offers or agrees.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Final

from hyperloci.knowledge.weight_table import WeightTable
from hyperloci.model.turn import Speaker
from hyperloci.store.keywords.analysis import FIRST_WIDE
from hyperloci.system.values import dataclass
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.word_tables import phrase_pattern

WEIGHTS: Final = Path(__file__).parent / "data" / "outcome_weights.txt"

MAX_CHARS: Final = 20_000
"""Of one answer: the rest was pasted."""

READ_MOST: Final = 300
"""Sentences that are read, the last ones: some forty milliseconds, while a session starts."""

READ_OF_ANSWER: Final = 60
"""Of them, of one answer, the first ones: a longer one is a document."""

QUARTERS: Final = 4
"""Parts of a session: the first is often undone by the last."""

MANY_SENTENCES: Final = 5
LONG_CHARS: Final = 200
BRIEF_WORDS: Final = 4
"""A sentence with fewer words says that something was done, not what: `6 new tests pass`."""

STEM_CHARS: Final = 4
ENDING_CHARS: Final = 3
"""Of a longer word: what its forms share, and what tells a tense."""

SAID_LEFT: Final = 0.25
"""What words for what is left (`still missing`, `next steps:`) add: of seven such sentences with a share of .1 or more
six tell it, but the share knows best where in a session they stand."""

INTERIM_SHARE: Final = 0.6
"""What counts of a sentence after which the assistant goes on by itself. It comments on each step, and says what came
of them at the end: of the best sentences one in twenty stands in such a turn."""

GOES_ON: Final = "goes on"
"""The sign of such a turn."""

NONE: Final = "none"
"""What tells nothing of the session: plans, offers, explanations, questions."""

RECORDED: Final = "recorded "
UNRECORDED: Final = "unrecorded "
"""How columns of weights begin. Not all clients tell what was done; where nothing is known of it, words alone decide,
and weigh otherwise: in one model for both a twentieth of what was done is told less well."""

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+|[^\w\s]")
_INLINE_CODE: Final = re.compile(r"`[^`\n]+`")
_TICKS: Final = frozenset("✅✓✔☑")
_ASKS: Final = ("?", "？")


class OutcomeKind(StrEnum):
    """What a sentence tells of a session."""

    DONE = "done"
    FOUND = "found"
    LEFT = "left"


@dataclass(frozen=True, slots=True)
class SessionTurn:
    """A turn as it is read here: what somebody said, or the line of an action, which nobody (None) says."""

    speaker: Speaker | None
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What an assistant said, in sentences.

    Attributes:
        at: its number among the turns.
        sentences: its sentences in order, without code and list marks.
        signs: what was done around it, and where in the session it stands.
    """

    at: int
    sentences: tuple[str, ...]
    signs: frozenset[str]


@dataclass(frozen=True, slots=True)
class ToldOutcome:
    """A sentence with how likely it is of each kind, 0..1.

    Attributes:
        at: the number of its turn.
        place: where in its turn it stands.
        text: the sentence.
        shares: by kind.
        is_interim: whether the assistant goes on after its turn, before the user speaks.
    """

    at: int
    place: int
    text: str
    shares: Mapping[OutcomeKind, float]
    is_interim: bool = False

    @property
    def told(self) -> float:
        """How much speaks for it as one that tells what was done or found out, 0..1."""
        return self._discount(self.shares[OutcomeKind.DONE] + self.shares[OutcomeKind.FOUND])

    @property
    def left(self) -> float:
        """The same for what is left: more where it has words for it."""
        said = SAID_LEFT if phrase_pattern("session.left").search(self.text) else 0.0
        return self._discount(self.shares[OutcomeKind.LEFT] + said)

    def _discount(self, share: float) -> float:
        return share * INTERIM_SHARE if self.is_interim else share

    @property
    def kind(self) -> OutcomeKind:
        """Whether it rather tells what was done, or what was found out."""
        return max((OutcomeKind.DONE, OutcomeKind.FOUND), key=lambda kind: self.shares[kind])


def score_outcomes(turns: Sequence[SessionTurn]) -> Iterator[ToldOutcome]:
    """Yield the last sentences that the assistant says in some turns, in order."""
    is_recorded = any(turn.speaker is None for turn in turns)
    spoken, answers, unread = _list_spoken(turns), list[Answer](), -READ_MOST
    for number in range(len(spoken), 0, -1):
        if unread >= 0:
            break  # What is not read is not parted either: that costs the most.
        answers.append(_read_answer(turns, spoken, number))
        unread += min(len(answers[-1].sentences), READ_OF_ANSWER)
    for answer in reversed(answers):
        for place, text in enumerate(answer.sentences[:READ_OF_ANSWER]):
            unread -= 1
            if unread >= 0:
                continue
            features = read_outcome_features(answer, place)
            shares = weigh_outcome(load_outcome_weights(), features, is_recorded)
            yield ToldOutcome(answer.at, place, text, shares, GOES_ON in answer.signs)


def weigh_outcome(weights: WeightTable, features: Iterable[str], is_recorded: bool) -> dict[OutcomeKind, float]:
    """Return how likely a sentence with some features is of each kind, 0..1.

    Args:
        weights: a column for each kind and for `none`, for sessions of which actions are known and for others.
        features: its features.
        is_recorded: whether it is known what was done in its session.
    """
    begin = RECORDED if is_recorded else UNRECORDED
    sums = zip(weights.columns, weights.add_weights(("", *features)), strict=True)
    odds = {name.removeprefix(begin): math.exp(value) for name, value in sums if name.startswith(begin)}
    total = math.fsum(odds.values())
    return {kind: odds[kind] / total for kind in OutcomeKind}


@functools.cache
def load_outcome_weights() -> WeightTable:
    """Return the trained weights."""
    return WeightTable(WEIGHTS.read_bytes())


def read_answers(turns: Sequence[SessionTurn]) -> Iterator[Answer]:
    """Return what the assistant says in some turns of one session."""
    spoken = _list_spoken(turns)
    return (_read_answer(turns, spoken, number) for number in range(1, len(spoken) + 1))


def _list_spoken(turns: Sequence[SessionTurn]) -> list[int]:
    return [at for at, turn in enumerate(turns) if turn.speaker is Speaker.ASSISTANT]


def _read_answer(turns: Sequence[SessionTurn], spoken: Sequence[int], number: int) -> Answer:
    """Return an answer by its number, from 1; `spoken` are the places of all."""
    at = spoken[number - 1]
    quarter = math.ceil(QUARTERS * number / len(spoken))
    signs = {f"quarter {quarter}", *_read_actions(turns, at)}
    if number == len(spoken):
        signs.add("last answer")
    return Answer(at, tuple(split_sentences(turns[at].text[:MAX_CHARS])), frozenset(signs))


def _read_actions(turns: Sequence[SessionTurn], at: int) -> Iterator[str]:
    """Yield what was done between the user's last words and an answer, and whether the assistant goes on after it."""
    since = itertools.takewhile(lambda turn: turn.speaker is not Speaker.USER, reversed(turns[:at]))
    lines = [read_action_line(turn.text) for turn in since if turn.speaker is None]
    if lines:
        yield "acted"
        if any(line.is_edit for line in lines):
            yield "edited"
        if lines[0].has_ended_badly:
            yield "failed"
    if at + 1 < len(turns) and turns[at + 1].speaker is not Speaker.USER:
        yield GOES_ON
    elif lines:
        yield "closes"


def read_outcome_features(answer: Answer, place: int) -> set[str]:
    """Return the features of a sentence of an answer."""
    text, count = answer.sentences[place], len(answer.sentences)
    words = _split_words(text)
    found = {*answer.signs, *_read_words(words), *(f"^{' '.join(words[:size])}" for size in (1, 2))}
    signs = {
        "says done": phrase_pattern("session.done").search(text) is not None,
        "says left": phrase_pattern("session.left").search(text) is not None,
        "first": place == 0,
        "last": place == count - 1,
        "alone": count == 1,
        "of many": count > MANY_SENTENCES,
        "asks": text.rstrip("\"'”’»)*_").endswith(_ASKS),
        "code": "`" in text,
        "digit": any(map(str.isdigit, text)),
        "ticked": not _TICKS.isdisjoint(text),
        "colon": text.endswith((":", "：")),
        "brief": sum(word.isalpha() for word in words) < BRIEF_WORDS,
        "long": len(text) > LONG_CHARS,
    }
    return found | {name for name, is_there in signs.items() if is_there}


def _split_words(text: str) -> list[str]:
    """Return the words and signs of a sentence, in lower case: `#` for a number, `code` for inline code."""
    found = _TOKEN.findall(_INLINE_CODE.sub(" ` ", text).lower())
    return ["#" if word[0].isdigit() else "code" if word == "`" else word for word in found]


def _read_words(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        if max(word) >= FIRST_WIDE:  # Each wide letter is read by itself and with the next.
            yield from (f"w:{char}" for char in word)
            yield from (f"w:{one}{other}" for one, other in pairwise(word))
            yield f"-{word[-2:]}"
        else:
            yield f"w:{word}"
            if len(word) > STEM_CHARS:
                yield f"{word[:STEM_CHARS]}-"
                yield f"-{word[-ENDING_CHARS:]}"
