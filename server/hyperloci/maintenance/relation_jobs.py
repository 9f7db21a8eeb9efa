"""Relation jobs: find queued relations, review all, prune faded ones (D.02, D.03)."""

from __future__ import annotations

from collections.abc import Callable

from hyperloci.indexing.link_queue import due_counter_name, link_queued
from hyperloci.jobs import MaintenanceContext
from hyperloci.store import Store
from hyperloci.store.memories.edge_pruning import PRUNE_BATCH, PrunableEdges

PROSE: tuple[str, ...] = ("markdown", "text")


def link_waiting_relations(context: MaintenanceContext) -> int:
    """Find the relations that wait: of interrupted runs, of imports, and of documents where new symbols appeared."""
    store, changed = context.store, 0
    with store.transaction():
        store.relation_queue.drop_relations_of_lost()
    for scope in context.list_scopes():
        key = store.scopes.find_key(scope)
        if key is None:
            continue
        if store.meta.get(due_counter_name(key)) is not None:
            with store.transaction():
                for kind in PROSE:
                    store.relation_queue.queue_kind(key, kind)
                store.meta.drop(due_counter_name(key))
        changed += _link_scope(context, key)
    return changed


def relink_all(context: MaintenanceContext) -> int:
    """Find all relations anew: what was renamed or removed elsewhere changes what a name means in files that stayed."""
    store, changed = context.store, 0
    for scope in context.list_scopes():
        key = store.scopes.find_key(scope)
        if key is None:
            continue
        with store.transaction():
            for kind in ("code", *PROSE):
                store.relation_queue.queue_kind(key, kind)
        changed += _link_scope(context, key)
    return changed


def prune_relations(context: MaintenanceContext) -> int:
    """Prune the relations that faded or crowd a memory."""
    return prune_edges(context.store, now=context.believed_time(), breathe=context.yield_to_others)


def prune_edges(store: Store, *, now: int, breathe: Callable[[], None] = lambda: None) -> int:
    """Remove the automatic relations that faded or crowd a memory, and return how many; idempotent.

    Args:
        store: the open store; each five hundred removed are one transaction, noted in the log.
        now: the time in milliseconds.
        breathe: called between two transactions.
    """
    removed = 0
    for why, keys in group_by_reason(store.pruning.find_prunable(now)).items():
        for start in range(0, len(keys), PRUNE_BATCH):
            with store.transaction():
                count = store.pruning.remove_edges(keys[start : start + PRUNE_BATCH])
                if count:
                    store.log.add_entry("prune_edges", [], now=now, reasoning=f"{count} automatic relations {why}")
            removed += count
            breathe()
    return removed


def group_by_reason(pruning: PrunableEdges) -> dict[str, tuple[int, ...]]:
    """Return the edges to prune by the reason, in words."""
    return {"faded below the floor": pruning.faded, "beyond the fifty surest of a memory": pruning.crowded}


def _link_scope(context: MaintenanceContext, scope_key: int) -> int:
    def cancelled() -> bool:
        context.yield_to_others()
        return False

    return link_queued(context.store, scope_key, context.clock, cancelled=cancelled)
