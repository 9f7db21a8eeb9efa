"""Later sessions: what was kept of the last session on a subject, before what was said on it in an earlier one.

Most changes of mind are told in passing, and no reading of two statements joins all of them. Who asks finds what holds
now sooner if, of hits on one subject, the latest statement comes first. Of mere talk nothing moves: there every subject
comes back, and the later mention is not the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hyperloci.model.kinds import BINDING_SUBTYPES, NodeKey, Origin
from hyperloci.model.node import Node
from hyperloci.model.search import Placement
from hyperloci.retrieval.order.newer_first import ArrangedHits
from hyperloci.spaces.chance_cosine import exceed_chance, measure_chance
from hyperloci.store import Store

SAME_SUBJECT: Final = 0.4
"""Cosine in E1, beyond chance, from which two hits of one question are taken to be on one subject; chosen on 240
questions of four read writers and the first eight projects (docs/benchmarks/changed-minds.md, "Later sessions
first")."""

MEASURED_MODEL: Final = "all-MiniLM-L6-v2@"
"""How the id of the model begins with which that was chosen. Of another nothing moves: of statements on thirty
subjects .7 % of all pairs are as near with this one, and 97 % with bge-small."""

LEAST_SHARE: Final = 0.4
"""Share of a hit's score that a later one must have to stand before it: one that hardly answers would take the only
place of the answer. Down to this, no question of those has another answer."""

AMONG: Final = 15
"""Hits that are looked at: those that ten shown ones and the spare ones make. Only so many were measured."""

_STATEMENTS: Final = BINDING_SUBTYPES | {"insight", "user_info"}


def put_later_sessions_first(store: Store, nodes: Sequence[Node], scores: Mapping[NodeKey, float]) -> ArrangedHits:
    """Return hits with each statement before what was said in an earlier session on the same subject.

    Without vectors, or with those of another model than was measured, nothing moves.

    Args:
        store: where they are.
        nodes: hits, best first.
        scores: of the hits; one without has as much as any.
    """
    order: list[Node] = []
    placed: dict[NodeKey, Placement] = {}
    among = list(nodes[:AMONG])
    model = _find_model(store, among)
    meanings = {} if model is None else store.vectors.get_meanings([node.key for node in among])
    chances = {key: measure_chance(model or "", vector) for key, vector in meanings.items()}

    def measure_beyond_chance(one: NodeKey, other: NodeKey) -> float:
        # Two in Russian are near whatever they are about.
        return exceed_chance(float(meanings[one] @ meanings[other]), min(chances[one], chances[other]))

    def comes_first(node: Node, other: Node) -> bool:
        return (
            _is_earlier(other, node)
            and _is_as_good(node, other, scores)
            and node.key in meanings
            and other.key in meanings
            and measure_beyond_chance(node.key, other.key) >= SAME_SUBJECT
        )

    for node in among:
        place = next((place for place, other in enumerate(order) if comes_first(node, other)), len(order))
        if place < len(order):
            placed[node.key] = Placement.LATER
        order.insert(place, node)
    return ArrangedHits(nodes=(*order, *nodes[AMONG:]), placed=placed)


def _find_model(store: Store, nodes: Sequence[Node]) -> str | None:
    """Return the model by whose vectors hits can be compared; None where it is another one, or nothing can move."""
    sessions = {node.session_id for node in nodes if node.session_id is not None}
    model = store.vectors.get_model_in_use() if len(sessions) > 1 and any(map(_is_statement, nodes)) else None
    return model if model is not None and model.startswith(MEASURED_MODEL) else None


def _is_earlier(other: Node, node: Node) -> bool:
    was_said = _is_statement(other) or (other.subtype == "episode" and other.session_id is not None)
    is_before = other.session_id != node.session_id and other.event_time < node.event_time
    return _is_statement(node) and was_said and is_before


def _is_as_good(node: Node, other: Node, scores: Mapping[NodeKey, float]) -> bool:
    mine, others = scores.get(node.key), scores.get(other.key)
    return mine is None or others is None or mine >= LEAST_SHARE * others


def _is_statement(node: Node) -> bool:
    kept = node.origin is Origin.EXTRACTION and node.subtype in _STATEMENTS
    return kept and node.session_id is not None
