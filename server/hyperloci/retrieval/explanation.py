"""Explanations: why a memory was found, with its scores by category and what E1 alone missed (E.08, E.15)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from hyperloci.retrieval.scoring import Scores
from hyperloci.retrieval.space_weights import AUTO
from hyperloci.spaces.space import SPACES, SpaceCategory

FOUND: Final = 0.5
"""E.08: a space that scores so much has found the memory."""

MISSED: Final = 0.3
"""E.08: E1 below this has missed it."""

_HINTS: Final[tuple[tuple[str, float, str, str], ...]] = (
    ("e7", 0.2, "code", "code"),
    ("e11", 0.2, "entities", "entity"),
    ("e5", 0.15, "causes", "causal"),
    ("e8", 0.15, "references", "graph"),
    ("e10", 0.15, "goals", "intent"),
)
"""E.08: by how much a space must exceed E1, what it sees, and the profile to suggest then."""


def explain_scores(scores: Scores, terms: Sequence[str], profile: str = AUTO) -> dict[str, Any]:
    """Return the account of one hit, with the document's fields in snake case (E.15).

    `parts` says what each space added to the score by the rule, `factor` what their sum was multiplied by: for what the
    memory is, who said it, and the place that `learned` gave it (None where nothing was added). `learned` says what
    each feature added to the log-odds that gave the hit its place among those of its kind, empty where the rule alone
    did.

    Args:
        scores: of the hit.
        terms: of the question.
        profile: the perspective that it was found from.
    """
    found = {space: round(value, 4) for space, value in scores.spaces.items()}
    added = sum(scores.parts.values())
    return {
        "dominant_space": scores.dominant(),
        "e1_score": found.get("e1"),
        "embedder_scores": group_by_category(found),
        "parts": {space: round(value, 4) for space, value in scores.parts.items()},
        "factor": round(scores.total / added, 4) if added > 0 else None,
        "learned": {name: round(value, 4) for name, value in scores.learned.items() if value},
        "agreement_count": sum(value >= FOUND for space, value in found.items() if _explains_score(space)),
        "blind_spots": find_blind_spots(found),
        "navigation_hints": suggest_spaces(found, profile),
        "terms": list(terms),
    }


def group_by_category(scores: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return scores by space by category; a category that saw nothing is left out."""
    answer: dict[str, dict[str, float]] = {}
    for name in SPACES:
        if name in scores:
            answer.setdefault(SPACES[name].category, {})[name] = scores[name]
    return answer


def find_blind_spots(scores: Mapping[str, float]) -> list[dict[str, Any]]:
    """Return the spaces that found what E1 missed; none where E1 was not asked, or has not seen the memory yet."""
    meaning = scores.get("e1")
    if meaning is None or meaning >= MISSED:
        return []
    return [
        {
            "space": name,
            "score": value,
            "e1_score": meaning,
            "finding": f"{name.upper()} ({SPACES[name].title}) found it, E1 missed it",
        }
        for name, value in scores.items()
        if name != "e1" and _explains_score(name) and value >= FOUND
    ]


def suggest_spaces(scores: Mapping[str, float], profile: str = AUTO) -> list[str]:
    """Return suggestions: the spaces that score this memory higher than E1 does, but for the one asked already."""
    meaning = scores.get("e1")
    if meaning is None:
        return []
    return [
        f"{space.upper()} ({sees}) found more than E1: try profile={other}"
        for space, margin, sees, other in _HINTS
        if other != profile and scores.get(space, 0.0) > meaning + margin
    ]


def _explains_score(space: str) -> bool:
    # Recency and rhythm say nothing about the content of a memory.
    return SPACES[space].category is not SpaceCategory.TEMPORAL
