"""Routing: which relations a question follows, in which order to answer, how far to go (B.05, B.08, B.14)."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from hyperloci.knowledge.entities.recognition import extract_entities
from hyperloci.retrieval.intent import Intent, estimate_effort
from hyperloci.retrieval.time_bounds import TimeBounds, find_time_bounds
from hyperloci.system.values import dataclass


class GraphStrategy(StrEnum):
    """How the graph helps a search."""

    CAUSAL = "causal"
    TEMPORAL = "temporal"
    ENTITY = "entity"
    HYBRID = "hybrid"


@dataclass(frozen=True, slots=True)
class RelationToFollow:
    """Relations of one label to follow from the best hits; `direction` as `store.memories.traversal` has it."""

    label: str
    direction: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What a search does for a question beyond words and meaning.

    Attributes:
        strategy: how the graph helps.
        direction: of causes: `in` towards what led to it, `out` towards what came of it; of time: `in` is before,
            `out` after; `both` otherwise.
        relation_steps: the relations to walk from the best hits, `depth` steps at most.
        entities: the names in the question that may be entities', most telling first.
        depth: how many steps to walk at most (B.08).
    """

    strategy: GraphStrategy
    direction: str
    relation_steps: tuple[RelationToFollow, ...]
    entities: tuple[str, ...]
    depth: int


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


def plan_route(query: str, intent: Intent, now: int | None = None) -> Route:
    """Return the route of a question. Pure: it depends on its arguments only.

    Args:
        query: the question.
        intent: what it wants to know (`intent.classify_intent`, `intent.IntentClassifier`).
        now: the time in milliseconds, which expressions like `yesterday` are counted from; None looks for none.
    """
    bounds = None if now is None else _drop_future(find_time_bounds(query, now), now)
    strategy = _STRATEGIES[intent]
    dated = strategy is GraphStrategy.HYBRID and bounds is not None
    if dated or (strategy is not GraphStrategy.CAUSAL and _BESIDE.search(query)):
        strategy = GraphStrategy.TEMPORAL
    direction = _choose_direction(query, strategy, bounds)
    return Route(
        strategy=strategy,
        direction=direction,
        relation_steps=_relation_steps(strategy, direction),
        entities=_entity_names(query) if strategy is GraphStrategy.ENTITY else (),
        depth=estimate_effort(query).depth,
    )


def _drop_future(bounds: TimeBounds | None, now: int) -> TimeBounds | None:
    """Return bounds that something can lie in; None for the future, of which nothing is stored."""
    return None if bounds is None or (bounds.after is not None and bounds.after > now) else bounds


_STRATEGIES: Final = {
    Intent.WHY: GraphStrategy.CAUSAL,
    Intent.WHEN: GraphStrategy.TEMPORAL,
    Intent.WHO: GraphStrategy.ENTITY,
    Intent.WHAT: GraphStrategy.ENTITY,
    Intent.GENERAL: GraphStrategy.HYBRID,
}


def _choose_direction(query: str, strategy: GraphStrategy, bounds: TimeBounds | None) -> str:
    if strategy is GraphStrategy.CAUSAL:
        return "out" if _EFFECTS.search(query) else "in"
    if strategy is GraphStrategy.TEMPORAL and bounds is None:
        if _BEFORE.search(query):
            return "in"
        return "out" if _AFTER.search(query) else "both"
    return "both"


def _relation_steps(strategy: GraphStrategy, direction: str) -> tuple[RelationToFollow, ...]:
    if strategy is GraphStrategy.CAUSAL:
        # A cause speaks of its effect, a conclusion of what it was drawn from.
        back = "out" if direction == "in" else "in"
        return (
            RelationToFollow("causes", direction),
            RelationToFollow("derived_from", back),
            RelationToFollow("supersedes", back),
        )
    if strategy is GraphStrategy.TEMPORAL:
        # A turn that follows speaks of the one before it.
        return (RelationToFollow("follows", {"in": "out", "out": "in"}.get(direction, "both")),)
    return ()


def _entity_names(query: str) -> tuple[str, ...]:
    names = [named.name for named in extract_entities(query)]
    asked = _TAIL.search(query)
    return tuple(dict.fromkeys([*names, *([asked[1].strip()] if asked else [])]))
