"""Background work on one memory: if it fails by the memory's own fault, the step goes on with the next."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from hyperloci.model.node import Node
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.set_aside import Attempt


@contextlib.contextmanager
def costing_only(store: Store, node: Node, step: str, *, now: int) -> Iterator[Attempt]:
    """Run the block for one memory: what fails by its fault is undone, and the memory is set aside for that step.

    Raises:
        StoreError, OSError: the database or the system failed, not the memory.
    """
    scope_key = store.scopes.find(node.scope)
    assert scope_key is not None
    subject = f"{step} {node.id}"
    with store.set_aside.attempt(scope_key, SetAsideKind.MEMORY, subject, now=now, node=node.key) as attempt:
        yield attempt
