"""Question shape: how a question about a project is asked: for a place, a reason, a setting, tests, or anything.

Rules over its words, in English and Russian, are data (`data/question_shapes.toml`); a reason is asked for by intent.
"""

from __future__ import annotations

import functools
import re
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hyperloci.retrieval.intent import Intent, classify_intent

_FILE: Final = Path(__file__).parent / "data" / "question_shapes.toml"


class QuestionShape(StrEnum):
    """How a question about a project is asked."""

    PLACE = "place"
    REASON = "reason"
    SETUP = "setup"
    TESTS = "tests"
    OPEN = "open"


@functools.cache
def _compile_rules() -> dict[QuestionShape, tuple[re.Pattern[str], ...]]:
    shapes: dict[str, dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        QuestionShape(name): tuple(re.compile(rule, re.IGNORECASE) for rule in shape["rules"])
        for name, shape in shapes.items()
    }


@functools.lru_cache(maxsize=64)
def find_shape(query: str) -> QuestionShape:
    """Return how a question is asked, by rules over its words; a search asks for it four times."""
    if classify_intent(query) is Intent.WHY:
        return QuestionShape.REASON
    rules = _compile_rules()
    return next((shape for shape in rules if any(rule.search(query) for rule in rules[shape])), QuestionShape.OPEN)
