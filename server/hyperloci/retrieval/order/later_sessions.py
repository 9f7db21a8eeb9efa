"""Later sessions: what was kept of the last session on a subject, before what was said on it in an earlier one.

Most changes of mind are told in passing, and no reading of two statements joins all of them. Who asks finds what holds
now sooner if, of hits on one subject, the latest statement comes first. Of mere talk nothing moves: there every subject
comes back, and the later mention is not the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hyperloci.model.kinds import BINDING_SUBTYPES, NodeKey
from hyperloci.model.node import Node
from hyperloci.model.search import Placement
from hyperloci.retrieval.order.newer_first import ArrangedHits
from hyperloci.store import Store

SAME_SUBJECT: Final = 0.4
"""Cosine in E1 from which two hits of one question are taken to be on one subject; chosen on 240 questions of four read
writers and the first eight projects (docs/benchmarks/changed-minds.md, "Later sessions first")."""

_STATEMENTS: Final = BINDING_SUBTYPES | {"insight", "user_info"}


def put_later_sessions_first(store: Store, nodes: Sequence[Node]) -> ArrangedHits:
    """Return hits with each statement before what was said in an earlier session on the same subject.

    Without vectors nothing moves.
    """
    order: list[Node] = []
    placed: dict[NodeKey, Placement] = {}
    for node in nodes:
        place = _find_place(store, order, node) if _is_kept(node) else len(order)
        if place < len(order):
            placed[node.key] = Placement.NEWER
        order.insert(place, node)
    return ArrangedHits(nodes=tuple(order), placed=placed)


def _find_place(store: Store, before: Sequence[Node], node: Node) -> int:
    """Return the place of the first hit of an earlier session on the same subject; the end without one."""
    earlier = {other.key: place for place, other in enumerate(before) if _is_earlier(other, node)}
    like = store.vectors.compare_with(node.key, list(earlier)) if earlier else {}
    return min((earlier[key] for key, cosine in like.items() if cosine >= SAME_SUBJECT), default=len(before))


def _is_earlier(other: Node, node: Node) -> bool:
    was_said = _is_kept(other) or (other.subtype == "episode" and other.session_id is not None)
    return was_said and other.session_id != node.session_id and other.event_time < node.event_time


def _is_kept(node: Node) -> bool:
    """Tell whether this is a statement of a session."""
    return node.subtype in _STATEMENTS and node.session_id is not None
