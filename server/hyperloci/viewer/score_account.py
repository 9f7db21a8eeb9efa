"""Score account: why a memory was found, as rows that a page can draw: what each space saw and added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hyperloci.model.search import Hit
from hyperloci.spaces.space import SPACES
from hyperloci.system.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceShare:
    """What one space has to say for a memory: its score 0..1, and what that added to the total."""

    name: str
    title: str
    score: float
    added: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreAccount:
    """How a memory came to its score.

    Attributes:
        shares: what the spaces added, most first; then those that saw it and added nothing.
        total: what they add up to; 0 where nothing did: the question names the memory.
        factor: what that was multiplied by, for what the memory is, who said it and, where `learned`, for the place
            that learned weights gave it among its kind; None where nothing was added.
        learned: whether they gave it one.
        agreeing: how many spaces found it.
        hints: which perspective would find it better.
    """

    shares: tuple[SpaceShare, ...]
    total: float
    factor: float | None
    learned: bool
    agreeing: int
    hints: tuple[str, ...]


def account_for_score(hit: Hit) -> ScoreAccount | None:
    """Return how a hit came to its score; None where that was not told: it was listed, or stands beside another."""
    told: Mapping[str, Any] | None = hit.explain
    if told is None:
        return None
    scores = {name: score for category in told["embedder_scores"].values() for name, score in category.items()}
    shares = [
        SpaceShare(name=name, title=SPACES[name].title, score=float(score), added=float(told["parts"].get(name, 0.0)))
        for name, score in scores.items()
    ]
    total = sum(share.added for share in shares)
    return ScoreAccount(
        shares=tuple(sorted(shares, key=lambda share: (-share.added, -share.score, share.name))),
        total=total,
        factor=hit.score / total if total > 0 else None,
        learned=bool(told["learned"]),
        agreeing=int(told["agreement_count"]),
        hints=tuple(told["navigation_hints"]),
    )
