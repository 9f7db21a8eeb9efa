"""What a question wants to know: why, when, who, what, or anything (B.04, B.08).

Rules over the question's words decide where one speaks; else the nearest exemplar, where vectors are at hand. Both are
data (`retrieval/data/intents.toml`), in English and Russian.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.errors import EmbedderError, NotReadyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
"""Gives unit vectors of texts, a row each; may raise NotReadyError or EmbedderError."""

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


_FOREIGN: Final = re.compile(r"[^\W\d_A-Za-zÀ-ɏ]")
"""A letter of another script than Latin: the models that ship read none, and exemplars by meaning cost Russian
questions 6 points where they give English ones 10 (`python -m bench intents`)."""


@functools.cache
def _data() -> dict[str, dict[str, Any]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@functools.cache
def _rules(name: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(rule, re.IGNORECASE) for rule in _data()[name]["rules"])


def exemplars() -> list[tuple[str, Intent]]:
    """Return every exemplar with its intent."""
    return [(text, intent) for intent in Intent for texts in _data()[intent]["exemplars"].values() for text in texts]


def classify(query: str) -> Intent:
    """Return a query's intent by rules over its words, in English and Russian."""
    return next((intent for intent in Intent if any(rule.search(query) for rule in _rules(intent))), Intent.GENERAL)


def effort(query: str) -> Effort:
    """Return how far to go for a query: far for long ones, several at once, and those that compare or list."""
    several = len(query.split()) >= COMPLEX_WORDS or query.count("?") > 1
    return COMPLEX if several or any(rule.search(query) for rule in _rules("complex")) else SIMPLE


class IntentClassifier:
    """Tells intents by rules and, where no rule speaks, by the nearest exemplar.

    Args:
        embed: gives vectors; None leaves it to the rules. It is asked once, for all exemplars, and asked again later
            if it could not answer.
        threshold: the cosine from which on an exemplar counts (`settings.intent_similarity_threshold`).
    """

    def __init__(self, embed: Embed | None = None, threshold: float = SIMILARITY) -> None:
        self._embed = embed
        self._threshold = threshold
        self._vectors: NDArray[np.float32] | None = None
        self._intents: list[Intent] = []

    def classify(self, query: str, vector: NDArray[np.float32] | None = None) -> Intent:
        """Return a query's intent.

        Args:
            query: the question.
            vector: its unit vector, where one is at hand: of the model that `embed` speaks for.
        """
        ruled = classify(query)
        if ruled is not Intent.GENERAL or vector is None or _FOREIGN.search(query):
            return ruled
        known = self._known()
        if known is None or known.shape[1] != len(vector):
            return ruled
        cosines = known @ vector
        best = int(cosines.argmax())
        return self._intents[best] if cosines[best] >= self._threshold else Intent.GENERAL

    def _known(self) -> NDArray[np.float32] | None:
        if self._vectors is None and self._embed is not None:
            pairs = exemplars()
            try:
                self._vectors = self._embed([text for text, _ in pairs])
            except (NotReadyError, EmbedderError):
                return None
            self._intents = [intent for _, intent in pairs]
        return self._vectors
