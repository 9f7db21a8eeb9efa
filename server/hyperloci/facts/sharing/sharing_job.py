"""Sharing job: what a reading of the shared folder left, and what ended while nobody was asked, as maintenance."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from hyperloci.errors import StoreError
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.facts.sharing.comparison import compare_shared
from hyperloci.facts.sharing.publication import Publication
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.node import Node

_log = logging.getLogger(__name__)

BATCH: Final = 20
"""Memories compared in a transaction: some tenths of a second."""


def keep_up_sharing(context: MaintenanceContext) -> int:
    """Compare the teammates' memories that wait, and tell others which of one's own shared memories are over."""
    compared, _ = compare_waiting(context)
    return compared + (0 if context.dry_run else _publish_changes(context))


def compare_waiting(context: MaintenanceContext, limit: int | None = None) -> tuple[int, int]:
    """Compare the memories of others that wait for it; return how many were, and how many contradictions that found.

    Args:
        context: of the round.
        limit: how many are compared before it ends, rounded up to a batch; without one, all.
    """
    shared, compared, disputes = context.store.shared, 0, 0
    while (limit is None or compared < limit) and (waiting := shared.list_uncompared(BATCH)):
        for node in waiting:
            disputes += _compare_one(context, node)
            compared += 1
        context.yield_to_others()
    return compared, disputes


def _compare_one(context: MaintenanceContext, node: Node) -> int:
    store, disputes = context.store, 0
    with context.isolate_failure(node, "compare"):
        if node.holds:
            steps = store.traversal.find_steps([node.key], label="supersedes", direction="out")
            replaced = {old.id for old in store.nodes.get_by_keys({step.target for step in steps}).values()}
            disputes = compare_shared(store, node, MemoryWriter(store), context.clock, replaced=replaced)
    # One that failed is set aside, and not tried for ever.
    with store.transaction():
        store.shared.finish_comparison(node.key)
    return disputes


def _publish_changes(context: MaintenanceContext) -> int:
    """Write what is over into the trees that the shared folder was read in; one that can't be written waits."""
    store, told = context.store, 0
    for scope in context.list_scopes():
        key = store.scopes.find_key(scope)
        for folder in [] if key is None else store.shared.list_folders(key):
            try:
                told += Publication(store, scope, Path(folder), context.clock).publish_changes()
            except StoreError as error:
                _log.info("what is over can't be told in %s: %s", folder, error)
    return told
