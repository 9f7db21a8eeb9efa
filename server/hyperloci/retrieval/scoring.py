"""What a memory's score is made of, and how much each space counts.

A score is `w * cosine + (1 - w) * bm25 / ceiling`, where the ceiling is the BM25 of a perfect answer: both parts mean
the same in every search, so a score says how good a hit is and not only that it is the best there was. `w` follows
from the kind and length of what a search found. Against equal-weight reciprocal ranks this is worth 3 to 9 points of
recall@10 on every development set, and unlike them it never loses to its own best list (docs/benchmarks.md, "Fusion").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from hyperloci.model.kinds import NodeKey, NodeType, Origin
from hyperloci.model.node import Node

CODE_WEIGHT: Final = 0.6
"""Code: 0.5 is best on pycode and 0.7 on CoSQA; 0.6 is within a point of the best on both."""

OTHER_WEIGHT: Final = 0.5
"""Documents, abstracts and facts: best on mddocs, within 0.2 points of the best on SciFact."""

SHORT_TURN_WEIGHT: Final = 0.3
LONG_TURN_WEIGHT: Final = 0.7
SHORT_TURN_CHARS: Final = 300
LONG_TURN_CHARS: Final = 1_000
"""Conversation: names and dates decide among short turns (LoCoMo), meaning among long ones (BEAM), where every
word stands somewhere; between the two lengths the weight moves evenly."""

ON_PURPOSE: Final = 1.2
IN_PASSING: Final = 0.8
"""Factors of a score: what somebody asked to be remembered comes before a turn or a document that says as much, and a
line about a tool's use after it. Every evaluation set holds one kind only, so no figure there moves; chosen on the
demonstration, where a decision lost to the page that quotes it."""

PROFILES: Final[Mapping[str, float | None]] = {
    "auto": None,
    "semantic": 0.8,
    "code": 0.6,
    "causal": 0.6,
    "entity": 0.3,
    "intent": 0.7,
    "graph": 0.5,
}
"""The perspectives of E.14; a number replaces the weight by kind."""


MEANING: Final = "meaning"
"""Not a profile that callers choose: strategy `e1_only`, where nothing but the cosine counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """One memory's scores in one search.

    Attributes:
        cosine: of the meanings, -1..1; None without a vector (yet).
        keyword: share of a perfect answer's BM25, 0..1; None where no word of the query stands.
        weight: how much the cosine counted.
        total: what the memory is ranked by, 0..1.
    """

    cosine: float | None
    keyword: float | None
    weight: float
    total: float

    def by_space(self) -> dict[str, float]:
        """Return the score of each space that found the memory."""
        named = {"e1": self.cosine, "e6": self.keyword}
        return {name: round(value, 4) for name, value in named.items() if value is not None}

    def dominant(self) -> str:
        """Return the space that speaks most for this memory."""
        meaning = self.weight * max(0.0, self.cosine or 0.0)
        return "e1" if meaning >= (1 - self.weight) * (self.keyword or 0.0) else "e6"


def combine(
    keyword: Mapping[NodeKey, float],
    ceiling: float,
    dense: Mapping[NodeKey, float] | None,
    nodes: Mapping[NodeKey, Node],
    *,
    profile: str,
) -> dict[NodeKey, Scores]:
    """Return the scores of every candidate.

    Args:
        keyword: BM25 by node.
        ceiling: the BM25 that no document exceeds for this query.
        dense: cosine by node; None without vectors.
        nodes: the candidates.
        profile: a key of PROFILES, or MEANING.
    """
    weight = 0.0 if dense is None else dense_weight(nodes.values(), profile)
    return {
        key: _score(
            None if dense is None else dense.get(key), keyword.get(key, 0.0) / ceiling, weight, factor=_factor(node)
        )
        for key, node in nodes.items()
    }


def _factor(node: Node) -> float:
    if node.subtype == "action":
        return IN_PASSING
    on_purpose = node.origin is Origin.TOOL and node.type is not NodeType.ENTITY
    return ON_PURPOSE if on_purpose else 1.0


def _score(cosine: float | None, share: float, weight: float, *, factor: float) -> Scores:
    # What was stored a moment ago has no vector yet: its words stand in for its meaning, or the newest would come last.
    own = 0.0 if cosine is None else weight
    total = own * max(0.0, cosine or 0.0) + (1 - own) * share
    return Scores(cosine=cosine, keyword=share or None, weight=own, total=min(1.0, factor * total))


def dense_weight(nodes: Iterable[Node], profile: str) -> float:
    """Return how much meaning counts against exact words in a search that found these."""
    fixed = 1.0 if profile == MEANING else PROFILES[profile]
    if fixed is not None:
        return fixed
    wanted = [_weight_of(node) for node in nodes]
    return sum(wanted) / len(wanted) if wanted else OTHER_WEIGHT


def _weight_of(node: Node) -> float:
    if node.subtype == "code":
        return CODE_WEIGHT
    if node.subtype != "episode":
        return OTHER_WEIGHT
    length = (len(node.content) - SHORT_TURN_CHARS) / (LONG_TURN_CHARS - SHORT_TURN_CHARS)
    return SHORT_TURN_WEIGHT + min(1.0, max(0.0, length)) * (LONG_TURN_WEIGHT - SHORT_TURN_WEIGHT)
