"""Intent: what a question wants to know: why, when, who, what, or anything (B.04, B.08).

Rules over the question's words decide where one speaks; else the nearest exemplar, where vectors are at hand. Both are
data (`retrieval/data/intents.toml`), in English, Russian and German.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ExemplarVectors = Callable[[str], "NDArray[np.float32] | None"]
"""Gives the unit vectors of all exemplars, a row each, as the model of this id sees them; None while nobody has made
them (`retrieval.intent_exemplars`)."""

_FILE: Final = Path(__file__).parent / "data" / "intents.toml"


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

SIMILARITY: Final = 0.45
"""How near an exemplar a question must be to take its intent, unless the settings say otherwise (B.20)."""

QUESTION_WORDS: Final = 4
"""Fewer name a topic (`cache directory`), and are near the exemplar that speaks of the same topic, whatever it asks."""

_FOREIGN: Final = re.compile(r"[^\W\d_A-Za-zÀ-ɏ]")
"""A letter of another script than Latin: the models that ship read none, and exemplars by meaning cost Russian
questions 6 points where they give English ones 10 (`python -m bench intents`)."""


@functools.cache
def _load_intents() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@functools.cache
def _compile_rules(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rule, re.IGNORECASE) for rule in _load_intents()[name]["rules"])


def list_exemplars() -> list[tuple[str, Intent]]:
    """Return every exemplar with its intent."""
    return [
        (text, intent) for intent in Intent for texts in _load_intents()[intent]["exemplars"].values() for text in texts
    ]


def classify_intent(query: str) -> Intent:
    """Return a query's intent by rules over its words, in English, Russian and German."""
    return next(
        (intent for intent in Intent if any(rule.search(query) for rule in _compile_rules(intent))), Intent.GENERAL
    )


def estimate_effort(query: str) -> Effort:
    """Return how far to go for a query: far for long ones, several at once, and those that compare or list."""
    several = len(query.split()) >= COMPLEX_WORDS or query.count("?") > 1
    return COMPLEX if several or any(rule.search(query) for rule in _compile_rules("complex")) else SIMPLE


class IntentClassifier:
    """Classifies intents by rules and, if none applies, by the nearest exemplar.

    Args:
        known: gives the exemplars' vectors; they are kept here from the first time that there are any.
        threshold: the cosine from which on an exemplar counts (`settings.intent_similarity_threshold`).
    """

    def __init__(self, known: ExemplarVectors, threshold: float = SIMILARITY) -> None:
        self._known = known
        self._threshold = threshold
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def classify_with_vector(self, query: str, model_id: str, vector: NDArray[np.float32]) -> Intent:
        """Return a query's intent.

        Args:
            query: the question.
            model_id: the model that encoded it.
            vector: its unit vector in E1.
        """
        ruled = classify_intent(query)
        if ruled is not Intent.GENERAL or _FOREIGN.search(query) or len(query.split()) < QUESTION_WORDS:
            return ruled
        vectors = self._vectors_of(model_id)
        if vectors is None or vectors.shape[1] != len(vector):
            return ruled
        cosines = vectors @ vector
        best = int(cosines.argmax())
        return list_exemplars()[best][1] if cosines[best] >= self._threshold else Intent.GENERAL

    def _vectors_of(self, model_id: str) -> NDArray[np.float32] | None:
        if model_id not in self._vectors:
            found = self._known(model_id)
            if found is None:
                return None
            self._vectors[model_id] = found
        return self._vectors[model_id]
