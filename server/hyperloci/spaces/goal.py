"""E10: what a memory is good for, as a short phrase: the same goal in other words lies near it.

`Use WAL mode so that readers never block` and `how do I keep reads going during a write?` share a goal and few words.
Rules, in order: what stands after a word of purpose; what somebody wants or has decided to do; for code the first
sentence of its docstring; a sentence that tells somebody what to do; a title.
"""

from __future__ import annotations

import re
from string import whitespace
from typing import Final

from hyperloci.spaces.space import MAX_CHARS
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.tables import alternatives, phrase_pattern, word_set

MAX_GOAL_CHARS: Final = 200
_MIN_GOAL_CHARS: Final = 6
MAX_SENTENCES: Final = 40
"""Sentences looked at: a goal stands near the beginning or not at all."""

_PREFIX: Final = re.compile(
    r"^(?:feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert)(?:\([^)]*\))?!?:\s*", re.IGNORECASE
)
_THIRD_PERSON: Final = re.compile(r"^([a-z]+?)(?:e?s)$")
_END: Final = f"{whitespace}.?!…:;,"


def of_text(text: str, title: str = "") -> str | None:
    """Return the goal that a text states or serves, or None."""
    listed = split_sentences(text[:MAX_CHARS])[:MAX_SENTENCES]
    for rule in (_purpose, _decided, _wanted, _told, _done):
        for sentence in listed:
            goal = rule(sentence)
            if goal is not None:
                return goal
    return _heading(title) if title else None


def of_code(docstring: str) -> str | None:
    """Return the goal of a piece of code: what its docstring says first."""
    listed = split_sentences(docstring[:MAX_CHARS])
    return _cut(listed[0]) if listed else None


def of_question(text: str) -> str:
    """Return the goal of a question; all of it where no rule finds a shorter phrase."""
    listed = split_sentences(text[:MAX_CHARS])[:MAX_SENTENCES]
    for rule in (_purpose, _wanted):
        for sentence in listed:
            goal = rule(sentence)
            if goal is not None:
                return goal
    return _cut(" ".join(text.split())) or text


def _purpose(sentence: str) -> str | None:
    match = phrase_pattern("goal.purpose", r"\b@\s+(?P<goal>[^.;:!?]+)").search(sentence)
    return None if match is None else _cut(match["goal"])


def _wanted(sentence: str) -> str | None:
    match = phrase_pattern("goal.wanted", r"\b@\s+(?P<goal>[^.;!?]+)").search(sentence)
    return None if match is None else _cut(match["goal"])


def _decided(sentence: str) -> str | None:
    match = phrase_pattern("goal.labels", r"^@\s*:\s*(?P<goal>.+)$").match(sentence)
    return None if match is None else _cut(match["goal"])


def _told(sentence: str) -> str | None:
    sentence = _PREFIX.sub("", sentence)
    return _cut(_without_reason(sentence) or sentence) if _is_told(sentence) else None


def _is_told(sentence: str) -> bool:
    first = sentence.split(" ", 1)[0].lower().strip("`'\"")
    if sentence.endswith("?") or " " not in sentence:
        return False
    third = _THIRD_PERSON.match(first)
    # `Returns the headers` in a docstring; `Tests run in parallel` is no such sentence.
    return (
        first in word_set("goal.imperatives")
        or (third is not None and third[1] in word_set("goal.imperatives") and _takes_object(sentence))
        or phrase_pattern("goal.infinitives", "^@").match(sentence) is not None
    )


def _takes_object(sentence: str) -> bool:
    return sentence.split(" ", 2)[1].lower() in word_set("goal.objects")


def _done(sentence: str) -> str | None:
    doers = alternatives("goal.doers")
    match = phrase_pattern("goal.done", rf"^{doers}(?P<goal>@\s+.+)$").match(_PREFIX.sub("", sentence))
    return None if match is None else _cut(_without_reason(match["goal"]))


def _without_reason(goal: str) -> str:
    return phrase_pattern("goal.reasons", r" ?(?:,|\b@\b| - | — ).*$").sub("", goal)


def _heading(title: str) -> str | None:
    last = title.rsplit(" > ", 1)[-1].strip()
    return _cut(last) if _is_told(last) or phrase_pattern("goal.title_openers", "^@ ").match(last) else None


def _cut(goal: str) -> str | None:
    goal = goal.rstrip(_END).strip()[:MAX_GOAL_CHARS]
    return goal if len(goal) >= _MIN_GOAL_CHARS else None
