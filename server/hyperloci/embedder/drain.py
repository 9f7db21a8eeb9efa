"""Working off the durable queue: nodes without a fingerprint get one, a small batch at a time (B.03).

Nothing is lost when the process dies: a node leaves the queue in the transaction that stores its fingerprint. A text
that the model can't take is tried again alone, and after MAX_ATTEMPTS left out with the reason beside it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from hyperloci.clock import system_clock
from hyperloci.model.node import Node
from hyperloci.spaces.encoder import Encoder
from hyperloci.spaces.fingerprint import fingerprints
from hyperloci.store import Store
from hyperloci.store.vectors import PendingNode

logger = logging.getLogger(__name__)

BATCH: Final = 32
"""Nodes embedded at once: a query that arrives meanwhile waits for one batch at most (0.3 s on two slow cores)."""

MAX_ATTEMPTS: Final = 3


def drain(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
    """Give fingerprints to queued nodes until none is left or `should_yield` says so; return how many got one.

    Raises:
        StoreError: the database can't be opened.
    """
    done = 0
    with Store.open(database) as store:
        with store.transaction():
            model = store.vectors.model_key(encoder.model_id, encoder.dimensions, now=system_clock())
            store.vectors.requeue_other_models(model, now=system_clock())
        while not should_yield():
            pending = [item for item in store.vectors.take_pending(BATCH) if item.attempts < MAX_ATTEMPTS]
            if not pending:
                break
            done += _batch(store, encoder, model, pending)
    return done


def _batch(store: Store, encoder: Encoder, model: int, pending: Sequence[PendingNode]) -> int:
    found = store.nodes.by_keys([item.key for item in pending])
    nodes = [found[item.key] for item in pending if item.key in found]
    try:
        made = fingerprints(nodes, encoder)
    except (ValueError, RuntimeError) as error:
        return _one_by_one(store, encoder, model, nodes, error)
    _write(store, model, nodes, made)
    return len(nodes)


def _write(store: Store, model: int, nodes: Sequence[Node], made: Sequence[dict[str, bytes]]) -> None:
    now = system_clock()
    with store.transaction():
        present = store.nodes.by_keys([node.key for node in nodes])
        for node, spaces in zip(nodes, made, strict=True):
            current = present.get(node.key)
            # Changed meanwhile: it is in the queue again, and the next batch sees the new text.
            if current is not None and (current.content, current.title) == (node.content, node.title):
                store.vectors.put(node.key, model, spaces, now=now)


def _one_by_one(store: Store, encoder: Encoder, model: int, nodes: Sequence[Node], error: Exception) -> int:
    logger.warning("a batch of %d could not be embedded (%s); trying one at a time", len(nodes), error)
    done = 0
    for node in nodes:
        try:
            _write(store, model, [node], fingerprints([node], encoder))
            done += 1
        except (ValueError, RuntimeError) as reason:
            logger.warning("node %s could not be embedded: %s", node.id, reason)
            with store.transaction():
                store.vectors.fail([node.key], str(reason))
    return done
