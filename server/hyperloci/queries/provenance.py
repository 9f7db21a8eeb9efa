"""Provenance: where a memory came from, what it replaced, what replaced it and what happened to it (B.15)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from hyperloci.clock import to_iso
from hyperloci.model.answers import Explanation, LogLine, RestoredMemory
from hyperloci.model.kinds import NodeKey, Role
from hyperloci.model.node import Node
from hyperloci.model.search import Hit, Present
from hyperloci.queries.provenance_text import describe_end, describe_provenance
from hyperloci.store import Store


def explain_provenance(
    store: Store, node: Node, present: Present, *, scopes: Collection[str], now: int, threshold: float
) -> Explanation:
    """Return a memory's history, and an account of it in sentences.

    Args:
        store: where it is.
        node: the memory.
        present: makes hits of nodes.
        scopes: whose memories may be quoted beside it.
        now: the time.
        threshold: the confidence below which a memory is forgotten.
    """
    sources = _select_quotable(store, _linked_nodes(store, node, "derived_from", Role.SUBJECT), scopes)
    replaced = _select_quotable(store, _list_superseded(store, node), scopes)
    successor = _find_successor(store, node, scopes)
    log = tuple(
        LogLine(
            time=to_iso(entry.timestamp),
            operation=entry.operation,
            from_tier=entry.from_tier,
            to_tier=entry.to_tier,
            reason=entry.reasoning,
        )
        for entry in store.log.list_of_node(node.id)
    )
    told = describe_provenance(
        node,
        sources=sources,
        supersedes=replaced,
        superseded_by=successor,
        scopes=scopes,
        log=log,
        now=now,
        threshold=threshold,
    )
    return Explanation(
        node=present([node])[0],
        account=told,
        sources=tuple(present(sources)),
        supersedes=tuple(present(replaced)),
        superseded_by=_present_quotable(store, successor, scopes, present),
        entities=tuple(entity.canonical_name for entity in store.entities.list_of_node(node.key)),
        log=log,
    )


def describe_restored(store: Store, node: Node, present: Present, *, scopes: Collection[str]) -> RestoredMemory:
    """Return a memory that was brought back, and what replaced it where it no longer holds.

    Args:
        store: where it is.
        node: the memory.
        present: makes hits of nodes.
        scopes: whose memories may be quoted beside it.
    """
    successor = _find_successor(store, node, scopes)
    is_over = successor is not None or node.valid_until is not None
    return RestoredMemory(
        memory=present([node])[0],
        ended=describe_end(node, successor, scopes) if is_over else None,
        replaced_by=_present_quotable(store, successor, scopes, present),
    )


def _find_successor(store: Store, node: Node, scopes: Collection[str]) -> Node | None:
    """Return what replaced a memory that holds no longer; of several one that may be quoted."""
    if node.valid_until is None:
        # A document that says what supersedes another, or a person who relates two, ends neither.
        return None
    found = _linked_nodes(store, node, "supersedes", Role.OBJECT)
    own = [node for node in found if node.scope in scopes]
    return next(iter(_select_quotable(store, own, scopes) or own or found), None)


def _select_quotable(store: Store, nodes: Sequence[Node], scopes: Collection[str]) -> list[Node]:
    """Return the memories whose words may be shown beside another: not another project's, nor what is withheld."""
    withheld = store.withheld.select_withheld(node.key for node in nodes)
    return [node for node in nodes if node.scope in scopes and node.key not in withheld]


def _present_quotable(store: Store, node: Node | None, scopes: Collection[str], present: Present) -> Hit | None:
    """Return a memory as it is shown; None where its words may not be."""
    return None if node is None or not _select_quotable(store, [node], scopes) else present([node])[0]


def _linked_nodes(store: Store, node: Node, label: str, role: Role) -> list[Node]:
    keys = [
        member.node
        for edge in store.edges.list_of_node(node.key, label)
        if any(member.node == node.key and member.role == role for member in edge.members)
        for member in edge.members
        if member.node != node.key
    ]
    nodes = store.nodes.get_by_keys(keys)
    return [nodes[key] for key in keys if key in nodes]


def _list_superseded(store: Store, node: Node) -> list[Node]:
    """Return all that a memory superseded, the latest first, then what those superseded; ends at a circle."""
    found: dict[NodeKey, Node] = {}
    waiting = [node]
    for current in waiting:
        older = _linked_nodes(store, current, "supersedes", Role.SUBJECT)
        over = (other for other in reversed(older) if other.valid_until is not None and other.key != node.key)
        fresh = {other.key: other for other in over if other.key not in found}
        found |= fresh
        waiting += fresh.values()
    return list(found.values())
