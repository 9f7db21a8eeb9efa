"""Exceptions: what one project decides otherwise than what holds in all of them (edge `excepts`), and its wording.

Elsewhere the memory holds, and nothing is said. Search results, what comes with a prompt and what a session begins with
say it alike, in that project.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.memories.traversal import INWARD

EXCEPTION_LABEL: Final = "excepts"
"""A project's statement with the one that holds in all projects and that it says otherwise."""

SURE_EXCEPTION: Final = 0.5
"""Confidence from which on it is told as decided: so sure a statement of the same project would be ended by meaning."""


def is_exception(new: Node, old: Node) -> bool:
    """Tell whether a statement, where it says otherwise than an older one, does so for its project alone."""
    return old.scope == GLOBAL_SCOPE != new.scope


def describe_exceptions(
    store: Store, keys: Iterable[NodeKey], scopes: Collection[str], *, chars: int | None = None
) -> dict[NodeKey, str]:
    """Return, of those memories that a project decided otherwise, a note that names its living statements that say so.

    Args:
        store: where they are.
        keys: the memories.
        scopes: the project; others, and what is global, add nothing.
        chars: of their ids so many characters; None for all.
    """
    if not store.traversal.has_label(EXCEPTION_LABEL):
        return {}
    find = store.traversal.find_steps
    steps = [step for key in keys for step in find([key], label=EXCEPTION_LABEL, direction=INWARD)]
    targets = {step.target for step in steps}
    others = store.nodes.get_by_keys(targets - store.withheld.select_withheld(targets))
    found: dict[NodeKey, dict[str, float]] = {}
    for step in steps:
        other = others.get(step.target)
        if other is not None and other.holds and other.scope in scopes and not other.metadata.get("flags"):
            found.setdefault(step.source, {})[other.id[:chars]] = step.confidence
    return {key: _describe(ids) for key, ids in found.items()}


def _describe(confidences: Mapping[str, float]) -> str:
    """Return the note that names what a project says otherwise, by its ids and how sure that is."""
    doubt = "" if max(confidences.values()) >= SURE_EXCEPTION else "may have "
    return f"this project {doubt}decided otherwise: {', '.join(confidences)}"
