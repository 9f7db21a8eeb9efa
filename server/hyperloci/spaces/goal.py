"""Goals (E10): what a memory is good for, as a short phrase; the same goal in other words lies near it.

`Use WAL mode so that readers never block` and `how do I keep reads going during a write?` share a goal and few words.
Rules, in order: what stands after a word of purpose; what somebody wants or has decided to do; for code the first
sentence of its docstring; a sentence that tells somebody what to do; a title.
"""

from __future__ import annotations

import re
from string import whitespace
from typing import Final

from hyperloci.spaces.space import MAX_VIEW_SOURCE_CHARS
from hyperloci.text.language.sentences import split_sentences
from hyperloci.text.language.word_tables import alternatives, phrase_pattern, word_set

MAX_GOAL_CHARS: Final = 200
_MIN_GOAL_CHARS: Final = 6
MAX_SENTENCES: Final = 40
"""Sentences looked at: a goal stands near the beginning or not at all."""

_COMMIT_PREFIX: Final = re.compile(
    r"^(?:feat|fix|chore|docs|refactor|perf|test|build|ci|style|revert)(?:\([^)]*\))?!?:\s*", re.IGNORECASE
)
_THIRD_PERSON: Final = re.compile(r"^([a-z]+?)(?:e?s)$")
_TRAILING: Final = f"{whitespace}.?!…:;,"


def goal_of_text(text: str, title: str = "") -> str | None:
    """Return the goal that a text states or serves, or None."""
    listed = split_sentences(text[:MAX_VIEW_SOURCE_CHARS])[:MAX_SENTENCES]
    for rule in (_find_purpose, _find_decision, _find_wish, _find_instruction, _find_change):
        for sentence in listed:
            goal = rule(sentence)
            if goal is not None:
                return goal
    return _goal_of_heading(title) if title else None


def goal_of_code(docstring: str) -> str | None:
    """Return the goal of a piece of code: what its docstring says first."""
    listed = split_sentences(docstring[:MAX_VIEW_SOURCE_CHARS])
    return _trim_goal(listed[0]) if listed else None


def goal_of_question(text: str) -> str:
    """Return the goal of a question; all of it where no rule finds a shorter phrase."""
    listed = split_sentences(text[:MAX_VIEW_SOURCE_CHARS])[:MAX_SENTENCES]
    for rule in (_find_purpose, _find_wish):
        for sentence in listed:
            goal = rule(sentence)
            if goal is not None:
                return goal
    return _trim_goal(" ".join(text.split())) or text


def _find_purpose(sentence: str) -> str | None:
    match = phrase_pattern("goal.purpose", r"\b@\s+(?P<goal>[^.;:!?]+)").search(sentence)
    return None if match is None else _trim_goal(match["goal"])


def _find_wish(sentence: str) -> str | None:
    match = phrase_pattern("goal.wanted", r"\b@\s+(?P<goal>[^.;!?]+)").search(sentence)
    return None if match is None else _trim_goal(match["goal"])


def _find_decision(sentence: str) -> str | None:
    match = phrase_pattern("goal.labels", r"^@\s*:\s*(?P<goal>.+)$").match(sentence)
    return None if match is None else _trim_goal(match["goal"])


def _find_instruction(sentence: str) -> str | None:
    sentence = _COMMIT_PREFIX.sub("", sentence)
    return _trim_goal(_strip_reason(sentence) or sentence) if _is_instruction(sentence) else None


def _is_instruction(sentence: str) -> bool:
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


def _find_change(sentence: str) -> str | None:
    doers = alternatives("goal.doers")
    match = phrase_pattern("goal.done", rf"^{doers}(?P<goal>@\s+.+)$").match(_COMMIT_PREFIX.sub("", sentence))
    return None if match is None else _trim_goal(_strip_reason(match["goal"]))


def _strip_reason(goal: str) -> str:
    return phrase_pattern("goal.reasons", r" ?(?:,|\b@\b| - | — ).*$").sub("", goal)


def _goal_of_heading(title: str) -> str | None:
    last = title.rsplit(" > ", 1)[-1].strip()
    return (
        _trim_goal(last) if _is_instruction(last) or phrase_pattern("goal.title_openers", "^@ ").match(last) else None
    )


def _trim_goal(goal: str) -> str | None:
    goal = goal.rstrip(_TRAILING).strip()[:MAX_GOAL_CHARS]
    return goal if len(goal) >= _MIN_GOAL_CHARS else None
