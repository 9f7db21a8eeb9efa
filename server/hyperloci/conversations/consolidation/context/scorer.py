"""Context scorer: which words said before a statement tell what it is about (B.17).

`make it 50` is understood with the question that it answers, `that one then` with the sentence before it. Every
sentence around a statement that may say so is a candidate; a linear model over what both are made of says how likely
each is needed. It has no words of its own, only what `referents` counts and where a question mark stands; its weights
are data (`data/context_scorer.json`), trained by `python -m bench train_contexts`. Features of a statement begin with
`said`:

- `said words`, `said subject`: how many words it has, and how many that can tell what it is about (`referents`).
- `said leans`, `said lacks`: it points to something that it does not name.
- `said name`, `said figure`: it has a name as code has them, a number.
- `said first`, `said left`: it opens its turn; how many sentences of its turn are left.

Those of a candidate:

- `at`: whose words it is in, and how far from their end; `of`: the same, and of how many sentences.
- `asks`, `tells`: whose words, and whether it is a question.
- `last question`, `earlier question`, `before question`, `after question`: how it stands to the question that its turn
  ends with.
- `shared`, `shares most`, `others share more`: meaningful words that it has in common with the statement.
- `words`, `subject`, `name`, `figure`, `same figure`: what it is made of.
- `listed`, `colon`, `left out`: an item of a list; ends in a colon; code, a log or a table comes next.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.conversations.consolidation.text_similarity import find_numbers, meaningful_words
from hyperloci.conversations.consolidation.turn_view import Sentence, TurnView, find_prompt_before, find_reply_before
from hyperloci.conversations.referents import (
    count_subject_words,
    has_identifier,
    lacks_subject,
    leans_on_context,
)
from hyperloci.knowledge.logistic import weigh_names
from hyperloci.system.values import dataclass

OWN: Final = "own"
REPLY: Final = "reply"
PROMPT: Final = "prompt"
EARLIER: Final = "earlier"

REACH: Final = {OWN: 4, REPLY: 14, PROMPT: 4, EARLIER: 3}
"""Sentences looked at, from the last on: before the statement in its turn, of the assistant's turn before it, of the
user's before that, and of the assistant's before that. Of 1,477 contexts that the labelled sessions have 1,380 are
among these."""

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "context_scorer.json"

_COUNTS: Final = (0, 1, 2, 3, 5, 8, 14, 25)
"""The largest count of each bucket."""

_MOST_SHARED: Final = 4

LISTED: Final = re.compile(r"\s*+(?:[-*•]\s|[#>|]|\(?(?:\d{1,3}|[A-Za-z])[.)]\s)")
"""How an item of a list or a heading begins: one of many."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What was said, and where: which of some turns, and where in its text."""

    turns: Sequence[TurnView]
    at: int
    start: int
    end: int

    @property
    def text(self) -> str:
        """Return its words."""
        return self.turns[self.at].text[self.start : self.end]

    @property
    def number(self) -> int:
        """Return which sentence of its turn it begins with."""
        return sum(sentence.end <= self.start for sentence in self.turns[self.at].sentences)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence that may tell what a statement is about.

    Attributes:
        turn: the turn that it stands in.
        number: which of its sentences.
        place: whose words they are: of the statement's turn, the reply before it, the prompt before it, or earlier.
        distance: 1 for the last of these, 2 for the one before.
    """

    turn: TurnView
    number: int
    place: str
    distance: int

    @property
    def sentence(self) -> Sentence:
        """Return the sentence."""
        return self.turn.sentences[self.number]


def list_candidates(statement: Statement) -> list[Candidate]:
    """Return the sentences that may tell what a statement is about."""
    return list(_find_candidates(statement))


def _find_candidates(statement: Statement) -> Iterator[Candidate]:
    turns, at = statement.turns, statement.at
    yield from _take_last(turns[at], statement.number, OWN)
    yield from _take_all(find_reply_before(turns, at), REPLY)
    prompt = find_prompt_before(turns, at)
    if prompt is not None and not prompt.is_flagged:
        yield from _take_all(prompt, PROMPT)
        place = next(number for number, turn in enumerate(turns) if turn is prompt)
        yield from _take_all(find_reply_before(turns, place), EARLIER)


def _take_all(turn: TurnView | None, place: str) -> Iterator[Candidate]:
    if turn is not None:
        yield from _take_last(turn, len(turn.sentences), place)


def _take_last(turn: TurnView, count: int, place: str) -> Iterator[Candidate]:
    for distance in range(1, min(count, REACH[place]) + 1):
        yield Candidate(turn, count - distance, place, distance)


def read_features(statement: Statement, candidates: Sequence[Candidate]) -> list[frozenset[str]]:
    """Return the features of each candidate, those of the statement among them."""
    said = frozenset(_statement_features(statement))
    words, figures = meaningful_words(statement.text), find_numbers(statement.text)
    shared = [len(words & meaningful_words(candidate.sentence.text)) for candidate in candidates]
    most: dict[str, int] = {}
    for candidate, count in zip(candidates, shared, strict=True):
        most[candidate.place] = max(most.get(candidate.place, 0), count)
    return [
        said.union(
            _candidate_features(candidate),
            _shared_features(count, most[candidate.place]),
            ("same figure",) if figures & find_numbers(candidate.sentence.text) else (),
        )
        for candidate, count in zip(candidates, shared, strict=True)
    ]


def _statement_features(statement: Statement) -> Iterator[str]:
    text, before = statement.text, statement.number
    yield f"said words={_bucket(len(text.split()))}"
    yield f"said subject={_bucket(count_subject_words(text))}"
    yield f"said left={_bucket(len(statement.turns[statement.at].sentences) - before)}"
    signs = {
        "said leans": leans_on_context(text),
        "said lacks": lacks_subject(text),
        "said name": has_identifier(text),
        "said figure": bool(find_numbers(text)),
        "said first": before == 0,
    }
    yield from (name for name, is_there in signs.items() if is_there)


def _candidate_features(candidate: Candidate) -> Iterator[str]:
    sentence, place = candidate.sentence, candidate.place
    sentences = candidate.turn.sentences
    question = next((number for number in reversed(range(len(sentences))) if sentences[number].is_question), None)
    yield f"at={place} {_bucket(candidate.distance)}"
    yield f"of={place} {_bucket(len(sentences))}"
    yield f"{'asks' if sentence.is_question else 'tells'}={place}"
    if question is not None:
        yield f"{_name_order(candidate.number, question, is_question=sentence.is_question)}={place}"
    yield f"words={_bucket(len(sentence.text.split()))}"
    yield f"subject={_bucket(count_subject_words(sentence.text))}"
    signs = {
        "name": has_identifier(sentence.text),
        "figure": bool(find_numbers(sentence.text)),
        "listed": LISTED.match(sentence.text) is not None,
        "colon": sentence.text.endswith(":"),
        "left out": candidate.turn.is_left_out_after(candidate.number),
    }
    yield from (name for name, is_there in signs.items() if is_there)


def _name_order(number: int, last: int, *, is_question: bool) -> str:
    if number == last:
        return "last question"
    if is_question:
        return "earlier question"
    return f"before question {_bucket(last - number)}" if number < last else "after question"


def _shared_features(count: int, most: int) -> Iterator[str]:
    yield f"shared={min(count, _MOST_SHARED)}"
    if count < most:
        yield "others share more"
    elif count:
        yield "shares most"


def _bucket(count: int) -> str:
    return next((str(most) for most in _COUNTS if count <= most), "more")


def score_candidates(statement: Statement, candidates: Sequence[Candidate]) -> list[float]:
    """Return how likely each candidate is needed in order to understand a statement, 0..1."""
    weights = load_weights()
    return [weigh_names(weights, features) for features in read_features(statement, candidates)]


@functools.cache
def load_weights() -> Mapping[str, float]:
    """Return the trained weights."""
    weights: dict[str, float] = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return weights
