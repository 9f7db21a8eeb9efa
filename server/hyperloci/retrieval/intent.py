"""What a question wants to know: why, when, who, what, or anything (B.04, B.05, B.08)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Intent(StrEnum):
    """What kind of answer a query asks for."""

    WHY = "why"
    WHEN = "when"
    WHO = "who"
    WHAT = "what"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Effort:
    """How far to go for a query: graph depth, results, tokens of context."""

    depth: int
    limit: int
    tokens: int


SIMPLE: Final = Effort(depth=2, limit=5, tokens=1_000)
COMPLEX: Final = Effort(depth=4, limit=20, tokens=3_000)
"""The two levels of B.08."""

COMPLEX_WORDS: Final = 12
"""Questions this long ask for several things at once."""

_RULES: Final[tuple[tuple[Intent, re.Pattern[str]], ...]] = tuple(
    (intent, re.compile(pattern, re.IGNORECASE))
    for intent, pattern in (
        (
            Intent.WHY,
            r"\b(why|what caused|reason(s)? (for|why|behind)|how come|because of what|почему|зачем|причин\w*)\b",
        ),
        (
            Intent.WHEN,
            r"\b(when|since when|how long ago|what (date|day|time|year|month)|когда|как давно|какого числа)\b",
        ),
        (Intent.WHO, r"\b(who|whom|whose|кто|кого|кому|чей)\b"),
        (Intent.WHAT, r"\b(what (is|are|was|were)|tell me about|describe|define|что такое|расскажи (о|про))\b"),
    )
)
_MANY: Final = re.compile(
    r"\b(compare|versus|vs\.?|all|every|summari[sz]e|overview|история|сравни|все)\b", re.IGNORECASE
)


def classify(query: str) -> Intent:
    """Return a query's intent by rules over its words, in English and Russian."""
    return next((intent for intent, pattern in _RULES if pattern.search(query)), Intent.GENERAL)


def effort(query: str) -> Effort:
    """Return how far to go for a query."""
    several = len(query.split()) >= COMPLEX_WORDS or query.count("?") > 1 or bool(_MANY.search(query))
    return COMPLEX if several else SIMPLE
