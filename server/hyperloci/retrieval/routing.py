"""Where a question leads: which relations to follow, in which order to answer, how far to go (B.05, B.08, B.14)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from hyperloci.graph.naming import extract_entities
from hyperloci.retrieval.intent import Effort, Intent, effort
from hyperloci.retrieval.times import Bounds, find_time


class Strategy(StrEnum):
    """How the graph helps a search."""

    CAUSAL = "causal"
    TEMPORAL = "temporal"
    ENTITY = "entity"
    HYBRID = "hybrid"


class Order(StrEnum):
    """In which order hits answer best."""

    SCORE = "score"
    TIME = "time"


@dataclass(frozen=True, slots=True)
class Follow:
    """Relations of one label to follow from the best hits; `direction` as `store.traversal` has it."""

    label: str
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a search does for a question besides looking for its words and its meaning.

    Attributes:
        intent: what it wants to know.
        strategy: how the graph helps.
        profile: the perspective to score from where the caller chose none (`retrieval.scoring`): `auto` but for causal.
        direction: of causes: `in` towards what led to it, `out` towards what came of it; of time: `in` is before,
            `out` after; `both` otherwise.
        follow: the relations to walk from the best hits, `depth` steps at most.
        bounds: the time that the question names, None if none. An offer: what the caller gave as `after` or `before`
            comes first, and where nothing lies within, searching without them is better than no answer.
        entities: the names in the question that may be entities', most telling first.
        order: in which order to give the hits.
        depth, limit, tokens: how far to go (B.08).
    """

    intent: Intent
    strategy: Strategy
    profile: str
    direction: str
    relation_steps: tuple[Follow, ...]
    bounds: Bounds | None
    entities: tuple[str, ...]
    order: Order
    depth: int
    limit: int
    tokens: int


_EFFECTS: Final = re.compile(
    r"\b(?:consequences?|(?:as a )?results? of|what (?:came|happened) (?:of|because of)|what did .{1,80} lead to|"
    r"effects? of|impact of|because of (?!what))\b|(?<!\w)(?:последстви\w+|привел\w* к|результат\w* чего|к чему)(?!\w)",
    re.IGNORECASE,
)
_BEFORE: Final = re.compile(
    r"\b(?:before|prior to|previously|until|leading up to)\b|(?<!\w)(?:до того|перед|раньше)(?!\w)", re.IGNORECASE
)
_AFTER: Final = re.compile(
    r"\b(?:after|afterwards|following|next|since|then)\b|(?<!\w)(?:после|затем|дальше|потом)(?!\w)", re.IGNORECASE
)
_BESIDE: Final = re.compile(
    r"\bwhat\b.{0,30}?\b(?:happen(?:s|ed)?|c[ao]mes?|d(?:o|id|one)|say|said|asked|tried|follow(?:s|ed)|next|was)\b.{0,30}?"
    r"\b(?:before|after)\b|(?<!\w)что (?:было|произошло|случилось|делали|сделали|сказали|мы).{0,30}?"
    r"(?<!\w)(?:до того|перед|после|дальше|затем)(?!\w)",
    re.IGNORECASE,
)
"""`what did we do after ...` wants what stands beside its best hit; `when` isn't in it, but the order of time is."""

_TAIL: Final = re.compile(
    r"(?:of|is|are|was|were|about|does|did|know)\s+(?:the\s+|a\s+|an\s+)?([^?.!,]{2,60})[?.!]*$", re.IGNORECASE
)


def route(query: str, intent: Intent, now: int | None = None) -> Route:
    """Return where a question leads. Pure: it reads nothing but its arguments.

    Args:
        query: the question.
        intent: what it wants to know (`intent.classify`, `intent.IntentClassifier`).
        now: the time in milliseconds, which expressions like `yesterday` are counted from; None looks for none.
    """
    level = effort(query)
    bounds = None if now is None else _past(find_time(query, now), now)
    strategy = _STRATEGIES[intent]
    dated = strategy is Strategy.HYBRID and bounds is not None
    if dated or (strategy is not Strategy.CAUSAL and _BESIDE.search(query)):
        strategy = Strategy.TEMPORAL
    direction = _direction(query, strategy, bounds)
    return Route(
        intent=intent,
        strategy=strategy,
        profile="causal" if strategy is Strategy.CAUSAL else "auto",
        direction=direction,
        relation_steps=_relation_steps(strategy, direction),
        bounds=bounds,
        entities=_names(query) if strategy is Strategy.ENTITY else (),
        order=Order.TIME if intent is Intent.WHEN else Order.SCORE,
        **_sizes(level),
    )


def _past(bounds: Bounds | None, now: int) -> Bounds | None:
    """Return bounds that something can lie in; None for the future, of which nothing is stored."""
    return None if bounds is None or (bounds.after is not None and bounds.after > now) else bounds


_STRATEGIES: Final = {
    Intent.WHY: Strategy.CAUSAL,
    Intent.WHEN: Strategy.TEMPORAL,
    Intent.WHO: Strategy.ENTITY,
    Intent.WHAT: Strategy.ENTITY,
    Intent.GENERAL: Strategy.HYBRID,
}


def _sizes(level: Effort) -> dict[str, int]:
    return {"depth": level.depth, "limit": level.limit, "tokens": level.tokens}


def _direction(query: str, strategy: Strategy, bounds: Bounds | None) -> str:
    if strategy is Strategy.CAUSAL:
        return "out" if _EFFECTS.search(query) else "in"
    if strategy is Strategy.TEMPORAL and bounds is None:
        if _BEFORE.search(query):
            return "in"
        return "out" if _AFTER.search(query) else "both"
    return "both"


def _relation_steps(strategy: Strategy, direction: str) -> tuple[Follow, ...]:
    if strategy is Strategy.CAUSAL:
        # A cause speaks of its effect, a conclusion of what it was drawn from.
        back = "out" if direction == "in" else "in"
        return (Follow("causes", direction), Follow("derived_from", back), Follow("supersedes", back))
    if strategy is Strategy.TEMPORAL:
        # A turn that follows speaks of the one before it.
        return (Follow("follows", {"in": "out", "out": "in"}.get(direction, "both")),)
    return ()


def _names(query: str) -> tuple[str, ...]:
    names = [named.name for named in extract_entities(query)]
    asked = _TAIL.search(query)
    return tuple(dict.fromkeys([*names, *([asked[1].strip()] if asked else [])]))
