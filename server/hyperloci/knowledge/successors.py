"""Successors: what may have taken a memory's place (edge `updates`), and the one wording for it.

Search results, what comes with a prompt and what a session begins with say it alike, so that an assistant is told
once what to do with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.memories.traversal import INWARD, RelationStep

OUTDATED_LABEL: Final = "outdates"
"""A statement with the turns of which nothing was made and that say what it replaced, or may have. Only what is found
is put in order by it: there is nothing to settle."""

POSSIBLE_SUCCESSOR: Final = 0.35
"""Confidence from which on that is worth telling."""


def find_possible_successors(store: Store, keys: Iterable[NodeKey], project: str) -> dict[NodeKey, tuple[str, ...]]:
    """Return, of those memories that a living one may have replaced, the ids of these, as a project is told them.

    Withheld ones are none.
    """
    labels = [label for label in ("updates", OUTDATED_LABEL) if store.traversal.has_label(label)]
    # From each memory by itself: what replaces one may be among them, and be replaced in turn.
    steps = [
        step
        for key in keys
        for label in labels
        for step in store.traversal.find_steps([key], label=label, direction=INWARD)
        if label != OUTDATED_LABEL or step.confidence >= POSSIBLE_SUCCESSOR
    ]
    found: dict[NodeKey, dict[str, None]] = {}
    for step, newer in select_told(store, steps, project):
        if newer.holds:
            found.setdefault(step.source, {})[newer.id] = None
    return {key: tuple(ids) for key, ids in found.items()}


def select_told(store: Store, steps: Sequence[RelationStep], project: str) -> list[tuple[RelationStep, Node]]:
    """Return the steps that a project is told of, with what each leads to; not to what is withheld.

    What another project says of what holds in all of them is told there alone.
    """
    if not steps:
        return []
    targets = {step.target for step in steps}
    nodes = store.nodes.get_by_keys(targets.union(step.source for step in steps))
    hidden = store.withheld.select_withheld(targets)
    return [
        (step, other)
        for step in steps
        if (other := nodes.get(step.target)) is not None
        and other.key not in hidden
        and other.scope in (project, GLOBAL_SCOPE, nodes[step.source].scope)
    ]


def describe_possible_successors(ids: Iterable[str], *, chars: int | None = None) -> str:
    """Return in words that memories may have replaced one; of their ids the first `chars` characters."""
    return f"possibly replaced by {', '.join(id[:chars] for id in ids)}"
