"""Decay: how confidence falls, when a memory is forgotten, and what is kept (B.11 to B.13).

A confidence is stored as of the last access; its present value is derived from the time since. So decay writes
nothing, and reading a memory twice can't make it fade twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.backups import ensure_backup
from hyperloci.model.decay import DECAY_EXPONENT, decay_factor
from hyperloci.model.kinds import BINDING_SUBTYPES, NodeId, Tier
from hyperloci.model.node import RESTORE_DAYS, Node
from hyperloci.model.search import Hit, Present
from hyperloci.store import Store
from hyperloci.store.memories.decay import BINDING_DAYS, FadingMemory
from hyperloci.store.purge import delete_expired
from hyperloci.system.values import dataclass

WEAK_CONFIDENCE: Final = 0.5
"""Below this a memory has low confidence: worth asking the user about."""

PRUNE_BATCH: Final = 50
"""Memories changed in one transaction: a few milliseconds, so that other writes hardly wait."""

PRUNE_WINDOW_MS: Final = MS_PER_DAY
"""The cap counts what was pruned in this time, so it holds no matter how often maintenance runs."""

CALL_DAYS: Final = 365
"""How long it is known who called what over HTTP: over a yearly review."""


@dataclass(frozen=True, slots=True)
class WeakHit:
    """A memory that may be wrong or will be forgotten.

    Attributes:
        hit: the memory as callers see it.
        confidence_now: its confidence, faded until now.
        days_to_prune: until it is forgotten unless recalled or confirmed; None where it doesn't fade.
    """

    hit: Hit
    confidence_now: float
    days_to_prune: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneReport:
    """What pruning did, or would do.

    Attributes:
        ids: what was forgotten, the faintest first; restorable for 30 days.
        left: what has faded too and waits for the next day, because of the cap.
        threshold, cap: the settings that held.
        dry_run: nothing was changed.
    """

    ids: tuple[str, ...]
    left: int
    threshold: float
    cap: int
    dry_run: bool = False


def days_until(confidence: float, rate: float, threshold: float) -> float | None:
    """Return after how many days without access a confidence falls below a threshold; None for never."""
    if rate <= 0.0 or threshold <= 0.0:
        return None
    if confidence <= threshold:
        return 0.0
    return float((math.log(confidence / threshold) / rate) ** (1 / DECAY_EXPONENT))


def days_until_pruned(node: Node, threshold: float) -> float | None:
    """Return after how many days without access a memory is forgotten; None for never."""
    days = days_until(node.confidence, node.decay_rate, threshold)
    return max(days, BINDING_DAYS) if days is not None and node.subtype in BINDING_SUBTYPES else days


def list_weak_facts(
    store: Store,
    scopes: Sequence[str],
    present: Present,
    *,
    now: int,
    threshold: float,
    limit: int,
) -> tuple[WeakHit, ...]:
    """Return the facts and decisions that are as likely wrong as right, the least sure first (B.15)."""
    keys = store.decay.find_weak(now, WEAK_CONFIDENCE, scopes, limit)
    found = store.nodes.get_by_keys(keys)
    nodes = [found[key] for key in keys if key in found]
    return tuple(_make_weak_hit(node, hit, now, threshold) for node, hit in zip(nodes, present(nodes), strict=True))


def _make_weak_hit(node: Node, hit: Hit, now: int, threshold: float) -> WeakHit:
    age = now - node.last_accessed
    days = days_until_pruned(node, threshold)
    left = None if days is None else max(0.0, days - max(0, age) / MS_PER_DAY)
    return WeakHit(hit, node.confidence * decay_factor(node.decay_rate, age), left)


def prune_faded(
    context: MaintenanceContext, *, limit: int | None = None, dry_run: bool = False, as_of: int | None = None
) -> PruneReport:
    """Forget what has faded below the threshold, as a tombstone that `restore` lifts for 30 days.

    At most `prune_cap` memories in 24 hours go, the faintest first.

    Args:
        context: store, settings and time.
        limit: forget no more than so many now.
        dry_run: change nothing.
        as_of: the time until which they have faded, where that is not now.
    """
    settings, now, aged = context.settings, context.clock(), context.store.decay
    faded_until = now if as_of is None else as_of
    allowed = max(0, settings.prune_cap - aged.count_pruned_since(now - PRUNE_WINDOW_MS))
    if limit is not None:
        allowed = min(allowed, limit)
    faded = aged.find_faded(faded_until, settings.decay_threshold, allowed)
    total = aged.count_faded(faded_until, settings.decay_threshold)
    pruned = [item.id for item in faded] if dry_run else _prune_all(context, faded, faded_until)
    return PruneReport(
        ids=tuple(pruned),
        left=total - len(faded),
        threshold=settings.decay_threshold,
        cap=settings.prune_cap,
        dry_run=dry_run,
    )


def _prune_all(context: MaintenanceContext, faded: Sequence[FadingMemory], until: int) -> list[NodeId]:
    aged, now = context.store.decay, context.clock()
    if faded and not context.dry_run:
        ensure_backup(context.store, context.settings, context.clock)
    pruned: list[NodeId] = []
    for start in range(0, len(faded), PRUNE_BATCH):
        context.yield_to_others()
        with context.store.transaction():
            for item in faded[start : start + PRUNE_BATCH]:
                if aged.prune_memory(item, now=now, reason=_format_reason(item, until, context.settings)):
                    context.store.entities.drop_summaries_from(item.key)
                    pruned.append(item.id)
    return pruned


def _format_reason(item: FadingMemory, until: int, settings: Settings) -> str:
    days = max(0, until - item.last_accessed) // MS_PER_DAY
    return (
        f"faded from {item.confidence:.2f} to {item.confidence_now:.3f}, below {settings.decay_threshold:g}, "
        f"in {days} days without recall; restorable for {RESTORE_DAYS} days"
    )


def run_pruning(context: MaintenanceContext) -> int:
    """Prune, as a maintenance job."""
    return len(prune_faded(context, as_of=context.believed_time()).ids)


def expire_forgotten(context: MaintenanceContext) -> int:
    """Delete for good what was forgotten over 30 days ago (SPEC-02.23)."""
    aged, store = context.store.decay, context.store
    before = context.believed_time() - RESTORE_DAYS * MS_PER_DAY
    gone = 0
    while node_ids := aged.find_expired(before, PRUNE_BATCH):
        if not gone and not context.dry_run:
            ensure_backup(store, context.settings, context.clock)
        with store.transaction():
            for node_id in node_ids:
                delete_expired(store, node_id, now=context.clock())
        gone += len(node_ids)
        context.yield_to_others()
    return gone


def expire_calls(context: MaintenanceContext) -> int:
    """Delete the notes of calls over HTTP that are over a year old."""
    with context.store.transaction():
        return context.store.access_log.delete_before(context.believed_time() - CALL_DAYS * MS_PER_DAY)


def promote_recalled(context: MaintenanceContext) -> int:
    """Move what was recalled in a later session to the long term (requirements, F)."""
    aged, store = context.store.decay, context.store
    moved = 0
    while found := aged.find_recalled_later(PRUNE_BATCH):
        now = context.clock()
        with store.transaction():
            for tier in (Tier.TASK, Tier.SESSION):
                if ids := [node_id for node_id, before in found if before is tier]:
                    aged.move_to_tier(ids, Tier.LONGTERM, now=now)
                    store.log.add_entry(
                        "tier",
                        ids,
                        now=now,
                        from_tier=tier,
                        to_tier=Tier.LONGTERM,
                        reasoning="recalled in a later session",
                    )
        moved += len(found)
        context.yield_to_others()
    return moved
