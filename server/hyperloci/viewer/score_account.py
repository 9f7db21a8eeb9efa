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
        beside: what else was added, by what it came from, most first: its commits, code nearby.
        total: what all of it adds up to; 0 where nothing was added: the question names the memory.
        factor: what that was multiplied by, for what the memory is, who said it and, where `learned`, for the place
            that learned weights gave it among its kind; None where nothing was added.
        learned: whether they gave it one.
        agreeing: how many spaces found it.
        hints: which perspective would find it better.
    """

    shares: tuple[SpaceShare, ...]
    beside: tuple[tuple[str, float], ...]
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
    beside = [(name.replace("_", " "), float(added)) for name, added in told["parts"].items() if name not in scores]
    return ScoreAccount(
        shares=tuple(sorted(shares, key=lambda share: (-share.added, -share.score, share.name))),
        beside=tuple(sorted(beside, key=lambda part: (-part[1], part[0]))),
        total=sum(map(float, told["parts"].values())),
        factor=told["factor"],
        learned=bool(told["learned"]),
        agreeing=int(told["agreement_count"]),
        hints=tuple(told["navigation_hints"]),
    )
