"""Where a memory came from, what it replaced, what replaced it and what happened to it (B.15)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hyperloci.clock import to_iso
from hyperloci.model.answers import Explanation, LogLine
from hyperloci.model.kinds import Role
from hyperloci.model.node import Node
from hyperloci.model.search import Hit
from hyperloci.store import Store

Present = Callable[[Sequence[Node]], list[Hit]]
"""Makes hits of nodes."""


def explanation(store: Store, node: Node, present: Present) -> Explanation:
    """Return a memory's history."""
    return Explanation(
        node=present([node])[0],
        sources=tuple(present(_linked(store, node, "derived_from", Role.SUBJECT))),
        supersedes=tuple(present(_chain(store, node))),
        superseded_by=next(iter(present(_linked(store, node, "supersedes", Role.OBJECT)[:1])), None),
        entities=tuple(entity.canonical_name for entity in store.entities.of(node.key)),
        log=tuple(
            LogLine(
                time=to_iso(entry.timestamp),
                operation=entry.operation,
                from_tier=entry.from_tier,
                to_tier=entry.to_tier,
                reason=entry.reasoning,
            )
            for entry in store.log.of(node.id)
        ),
    )


def _linked(store: Store, node: Node, label: str, role: Role) -> list[Node]:
    keys = [
        member.node
        for edge in store.edges.of(node.key, label)
        if any(member.node == node.key and member.role == role for member in edge.members)
        for member in edge.members
        if member.node != node.key
    ]
    nodes = store.nodes.by_keys(keys)
    return [nodes[key] for key in keys if key in nodes]


def _chain(store: Store, node: Node) -> list[Node]:
    """Return what a memory superseded, and what that superseded, newest first; ends at a circle."""
    chain: list[Node] = []
    seen = {node.key}
    current: Node | None = node
    while current is not None:
        older = [other for other in _linked(store, current, "supersedes", Role.SUBJECT) if other.key not in seen]
        seen.update(other.key for other in older)
        chain += older[:1]
        current = older[0] if older else None
    return chain
