"""Reverts: which commits were taken back by others that still stand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.memories.traversal import INWARD

REVERTS_LABEL: Final = "reverts"
"""A commit with those that it takes back."""

MAX_TURNS: Final = 20
"""Times that a change was taken back and made again; who does so more often has yet to make up their mind."""


def find_reverting(store: Store, keys: Iterable[NodeKey]) -> dict[NodeKey, list[Node]]:
    """Return, of those memories that are commits taken back, the commits that did and were not taken back themselves.

    One that no branch leads to any more takes nothing back.
    """
    if not store.traversal.has_label(REVERTS_LABEL):
        return {}
    by_reverted: dict[NodeKey, list[NodeKey]] = {}
    asked = frontier = set(keys)
    for _ in range(MAX_TURNS):
        steps = (
            store.traversal.find_steps(sorted(frontier), label=REVERTS_LABEL, direction=INWARD, from_each=True)
            if frontier
            else []
        )
        for step in steps:
            by_reverted.setdefault(step.source, []).append(step.target)
        frontier = {step.target for step in steps} - by_reverted.keys()
    nodes = store.nodes.get_by_keys({key for reverting in by_reverted.values() for key in reverting})
    standing: dict[NodeKey, list[Node]] = {}
    # What reverts is younger than what it reverts, so that this ends.
    for key in sorted(by_reverted, key=lambda key: _turns_behind(by_reverted, key)):
        standing[key] = [
            node
            for one in by_reverted[key]
            if (node := nodes.get(one)) is not None and node.holds and not standing.get(one)
        ]
    return {key: found for key, found in standing.items() if found and key in asked}


def _turns_behind(by_reverted: dict[NodeKey, list[NodeKey]], key: NodeKey) -> int:
    """Return how many reverts lie behind one another from a commit on."""
    depth, frontier = 0, {key}
    while depth < MAX_TURNS and (frontier := {one for other in frontier for one in by_reverted.get(other, ())}):
        depth += 1
    return depth


def describe_reverts(reverting: Iterable[Node], *, chars: int | None = None) -> str:
    """Return in words by which commits one was taken back; of their ids the first `chars` characters."""
    return f"reverted by {', '.join(node.id[:chars] for node in reverting)}"
