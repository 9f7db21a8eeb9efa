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
"""Of a question, which says what an answer is about. An answer is the user's own words, and stays whole."""

MAX_PAIRS_CHARS: Final = 3_000
"""Of all pairs, before secrets are taken out: four questions, the most that are asked at once, with long answers."""

_DECODER: Final = json.JSONDecoder()


def format_answers(answers: Mapping[Any, Any]) -> str:
    """Return the line of questions with their answers; pairs that have no room are left out."""
    pairs, left = list[str](), MAX_PAIRS_CHARS
    for question, answer in answers.items():
        pair = f"{_quote(_cut_question(str(question)))}{_ARROW}{_quote(str(answer))}"
        left -= len(pair)
        if left >= 0:
            pairs.append(pair)
    return PREFIX + _BETWEEN.join(pairs)


def format_questions(questions: Iterable[str]) -> str:
    """Return the line of questions that nobody answered."""
    return PREFIX + _BETWEEN.join(questions)


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


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _cut_question(text: str) -> str:
    return text if len(text) <= MAX_QUESTION_CHARS else text[:MAX_QUESTION_CHARS].rpartition(" ")[0] + " …"
