"""Sentence features: what a sentence of a conversation shows of its worth for a summary, weighed by a linear scorer.

The weights are data (`data/sentence_weights.toml`); the features look at who says it, and at cues of each language.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hyperloci.conversations.pyramid.turn_sentences import TurnSentence
from hyperloci.knowledge.logistic import to_probability
from hyperloci.model.turn import Speaker, TurnKind
from hyperloci.retrieval.relevance import is_smalltalk
from hyperloci.text.action_line import read_action_line
from hyperloci.text.language.questions import first_word, is_question
from hyperloci.text.language.word_tables import phrase_pattern, word_set

_FILE: Final = Path(__file__).parent / "data" / "sentence_weights.toml"

CUES: Final = ("decision", "preference", "constraint", "identity", "outcome", "event")
"""What sentences worth keeping tend to say: tables of each language (`[summary]`)."""

ASSISTANT_CUES: Final = ("advice", "intent", "done")
"""What an assistant's sentences are: advice, what it is about to do, what it did."""

FEW_TERMS: Final = 4
MANY_TERMS: Final = 12

_NUMBER: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"(?<=[^.!?\s]\s)[A-ZА-ЯЁ][\w-]+|\b\w+[_./]\w+|\b[a-z]+[A-Z]\w*|`")
"""A capital within a sentence, a path, an identifier."""


@functools.cache
def load_weights() -> Mapping[str, float]:
    """Return the weight of each feature; `bias` is added to all."""
    weights: Mapping[str, float] = tomllib.loads(_FILE.read_text(encoding="utf-8"))["weights"]
    return weights


def find_cues(text: str) -> list[str]:
    """Return which kinds of cue a sentence holds."""
    return [name for name in CUES if phrase_pattern(f"summary.{name}").search(text)]


def list_features(sentence: TurnSentence) -> Iterator[str]:
    """Yield the features of a sentence."""
    if sentence.kind is TurnKind.ACTION:
        yield "action_failed" if read_action_line(sentence.text).has_failed else "action"
        return
    role = "user" if sentence.role is Speaker.USER else "assistant"
    yield role
    if is_question(sentence.text):
        yield f"{role}_question"
    yield from (f"{role}_{name}" for name in find_cues(sentence.text))
    if sentence.role is Speaker.USER and _asks_for_work(sentence.text):
        yield "user_goal"
    if sentence.role is Speaker.ASSISTANT:
        yield from (
            f"assistant_{name}" for name in ASSISTANT_CUES if phrase_pattern(f"summary.{name}").search(sentence.text)
        )
    yield from _list_forms(sentence)


def _asks_for_work(text: str) -> bool:
    return first_word(text) in word_set("goal.imperatives") or bool(phrase_pattern("goal.wanted").search(text))


def _list_forms(sentence: TurnSentence) -> Iterator[str]:
    if _NUMBER.search(sentence.text):
        yield "number"
    if _NAME.search(sentence.text):
        yield "name"
    if is_smalltalk(sentence.text):
        yield "smalltalk"
    if len(sentence.terms) < FEW_TERMS:
        yield "few_terms"
    if len(sentence.terms) > MANY_TERMS:
        yield "many_terms"


def estimate_worth(sentence: TurnSentence) -> float:
    """Return how likely a sentence is worth keeping by itself, 0..1."""
    weights = load_weights()
    total = weights["bias"] + sum(weights.get(name, 0.0) for name in list_features(sentence))
    return to_probability(total)
