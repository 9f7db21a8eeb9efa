"""Asked questions: the line that a tool's questions and the user's answers are kept in, written and read (B.17).

A question or an answer may hold anything, so both stand in it as JSON strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

PREFIX: Final = "Asked: "

_ARROW: Final = " -> "
_BETWEEN: Final = "; "

MAX_QUESTION_CHARS: Final = 240
"""Of a question, which says what an answer is about."""

MAX_ANSWER_CHARS: Final = 700
"""Of an answer, the user's own words: four of both, the most that are asked at once, fit into what a line may hold
before secrets are taken out (`tool_use.MAX_RAW_CHARS`)."""

_DECODER: Final = json.JSONDecoder()


def format_answers(answers: Mapping[Any, Any]) -> str:
    """Return the line of questions with their answers."""
    pairs = (
        f"{_quote(str(question), MAX_QUESTION_CHARS)}{_ARROW}{_quote(str(answer), MAX_ANSWER_CHARS)}"
        for question, answer in answers.items()
    )
    return PREFIX + _BETWEEN.join(pairs)


def format_questions(questions: Iterable[str]) -> str:
    """Return the line of questions that nobody answered."""
    return PREFIX + _BETWEEN.join(_quote(question, MAX_QUESTION_CHARS) for question in questions)


def read_answers(line: str) -> Iterator[tuple[str, str]]:
    """Yield the questions of a line with their answers, as far as it is whole."""
    at = len(PREFIX) if line.startswith(PREFIX) else len(line)
    while line.startswith('"', at):
        try:
            question, at = _DECODER.raw_decode(line, at)
            if not line.startswith(_ARROW, at):
                return
            answer, at = _DECODER.raw_decode(line, at + len(_ARROW))
        except ValueError:
            return
        yield str(question), str(answer)
        at += len(_BETWEEN) if line.startswith(_BETWEEN, at) else 0


def _quote(text: str, most: int) -> str:
    shown = text if len(text) <= most else f"{text[:most].rpartition(' ')[0] or text[:most]} …"
    return json.dumps(shown, ensure_ascii=False)
