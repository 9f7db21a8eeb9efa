"""Successors: what may have taken a memory's place (edge `updates`), and the one wording for it.

Search results, what comes with a prompt and what a session begins with say it alike, so that an assistant is told
once what to do with it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.memories.traversal import INWARD

OUTDATED_LABEL: Final = "outdates"
"""A statement with the turns of which nothing was made and that say what it replaced, or may have. Only what is found
is put in order by it: there is nothing to settle."""

POSSIBLE_SUCCESSOR: Final = 0.35
"""Confidence from which on that is worth telling."""


def find_possible_successors(store: Store, keys: Iterable[NodeKey]) -> dict[NodeKey, tuple[str, ...]]:
    """Return, of those memories that a living one may have replaced, the ids of these; withheld ones are none."""
    labels = [label for label in ("updates", OUTDATED_LABEL) if store.traversal.has_label(label)]
    # From each memory by itself: what replaces one may be among them, and be replaced in turn.
    steps = [
        step
        for key in keys
        for label in labels
        for step in store.traversal.find_steps([key], label=label, direction=INWARD)
        if label != OUTDATED_LABEL or step.confidence >= POSSIBLE_SUCCESSOR
    ]
    targets = {step.target for step in steps}
    newer = store.nodes.get_by_keys(targets - store.withheld.select_withheld(targets))
    found: dict[NodeKey, dict[str, None]] = {}
    for step in steps:
        node = newer.get(step.target)
        if node is not None and node.holds:
            found.setdefault(step.source, {})[node.id] = None
    return {key: tuple(ids) for key, ids in found.items()}


def describe_possible_successors(ids: Iterable[str], *, chars: int | None = None) -> str:
    """Return in words that memories may have replaced one; of their ids the first `chars` characters."""
    return f"possibly replaced by {', '.join(id[:chars] for id in ids)}"
