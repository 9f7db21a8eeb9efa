"""Review: what a person may settle: disputes, memories of changed code, and what looked like an instruction."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from hyperloci.knowledge.graph.anchors import describe_code_changes
from hyperloci.model.edge import Hyperedge
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.model.search import Hit, Present
from hyperloci.queries.browsing import check_page
from hyperloci.store import Store
from hyperloci.system.values import dataclass

DISPUTES: Final = ("contradicts", "updates")
"""Relations of memories that cannot all hold: what contradicts, and what may have replaced another."""

CHECKED_AT_ONCE: Final = 100
"""Anchored memories whose code is compared for one page: 0.15 ms each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """Memories that cannot all hold; all of them still do.

    Attributes:
        id: of the relation.
        label: `contradicts`, or `updates`: the first may have replaced the rest.
        reason: why, as it was found; None if that was not stored.
        confidence: how sure that is, 0..1.
        memories: the newer statement first.
    """

    id: str
    label: str
    reason: str | None
    confidence: float
    memories: tuple[Hit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputePage:
    """A page of disputes, newest first; `older` is where the next one begins, None on the last."""

    disputes: tuple[Dispute, ...]
    older: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewPage:
    """A page of memories to look at; `more` is where the next one begins, None on the last."""

    memories: tuple[Hit, ...]
    more: int | None


def list_disputes(
    store: Store, label: str, scopes: Sequence[str], limit: int, *, before: int | None, present: Present
) -> DisputePage:
    """Return what is to be settled of one label."""
    check_page(limit)
    edges = store.edges.list_unsettled(label, scopes, limit + 1, before=before)
    return DisputePage(
        disputes=tuple(_describe_disputes(store, edges[:limit], present)),
        older=edges[limit - 1].key if len(edges) > limit else None,
    )


def list_disputes_of(store: Store, node: Node, scopes: Collection[str], present: Present) -> tuple[Dispute, ...]:
    """Return what is to be settled about one memory among those of some scopes."""
    if not node.holds:
        return ()
    edges = [edge for label in DISPUTES for edge in store.edges.list_of_node(node.key, label)]
    others = store.nodes.get_by_keys({member.node for edge in edges for member in edge.members})
    elsewhere = {key for key, other in others.items() if other.scope not in scopes}
    here = [edge for edge in edges if elsewhere.isdisjoint(member.node for member in edge.members)]
    return tuple(one for one in _describe_disputes(store, here, present) if len(one.memories) > 1)


def list_outdated(store: Store, scopes: Sequence[str], *, after: int, present: Present) -> ReviewPage:
    """Return the memories about code that has changed since, of the next hundred that are tied to code."""
    keys = store.positions.list_tied(scopes, CHECKED_AT_ONCE, after=after)
    changed = describe_code_changes(store, keys)
    nodes = store.nodes.get_by_keys(changed)
    return ReviewPage(
        memories=tuple(present([nodes[key] for key in sorted(changed) if key in nodes])),
        more=keys[-1] if len(keys) == CHECKED_AT_ONCE else None,
    )


def list_suspicious(
    store: Store, scopes: Sequence[str], limit: int, *, before: int | None, present: Present
) -> ReviewPage:
    """Return the memories that looked like an instruction when they were stored, newest first."""
    check_page(limit)
    nodes = store.node_lists.list_flagged(scopes, limit + 1, before=before)
    return ReviewPage(memories=tuple(present(nodes[:limit])), more=nodes[limit - 1].key if len(nodes) > limit else None)


def _describe_disputes(store: Store, edges: Iterable[Hyperedge], present: Present) -> list[Dispute]:
    listed = list(edges)
    nodes = store.nodes.get_by_keys({member.node for edge in listed for member in edge.members})
    return [
        Dispute(
            id=edge.id,
            label=edge.label,
            reason=edge.evidence,
            confidence=edge.confidence,
            memories=tuple(present(_list_holding(edge, nodes))),
        )
        for edge in listed
    ]


def _list_holding(edge: Hyperedge, nodes: dict[NodeKey, Node]) -> list[Node]:
    members = (nodes[member.node] for member in edge.members if member.node in nodes)
    return [node for node in members if node.deleted_at is None and node.valid_until is None]
