"""Background work on the memory: what it is, when it is due, and running it (B.16, B.18).

To add a part that needs background work: write `def my_part(context: UpkeepContext) -> int` in the module that knows
(its contract stands at `step.Step.run`), and add one line to `STEPS` below, which run in that order. Import names
only from `lifecycle.step`, never from here, and import what is heavy inside the function: this module is loaded by
every server. Between two transactions call `context.breathe()`.

When each step ran last is kept in the database (`meta`, `upkeep.NAME`), so that it counts for all processes. Servers
run upkeep while nobody asks them anything (`hyperloci.companions.UpkeepCompanion`), one process at a time by a lock of
the operating system; `hyperloci upkeep` runs it by hand, and `--dry-run` runs it on a copy and tells what it did there.
"""

from __future__ import annotations

import json
import logging
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.errors import HyperlociError
from hyperloci.lifecycle import backups, decay
from hyperloci.lifecycle.pyramid import steps as pyramid
from hyperloci.lifecycle.step import ALWAYS, DAILY, HOURLY, WEEKLY, MaintenanceJob, MaintenanceContext, MaintenanceStoppedError
from hyperloci.store import Store
from hyperloci.store.faults import describe_error

_log = logging.getLogger(__name__)

RETRY_MS: Final = HOURLY
"""After a failure a step is tried again this soon, if it isn't due sooner: a full disk is not mended in a minute."""


def _abandon_sessions(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.sessions import abandon_idle

    ended = 0
    for scope in context.list_scopes():
        with context.store.transaction():
            ended += len(abandon_idle(context.store, scope, now=context.clock()))
        context.yield_to_others()
    return ended


def _catch_up(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.consolidate import catch_up_step

    return catch_up_step(context)


def _consolidate(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.consolidate import consolidate_step

    return consolidate_step(context)


def _causes(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.causes import causes_step

    return causes_step(context)


def _link(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.relations import link_step

    return link_step(context)


def _review_relations(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.relations import review_step

    return review_step(context)


def _prune_edges(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.relations import prune_step

    return prune_step(context)


def _annotate(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.annotating import annotate_step

    return annotate_step(context)


def _enrich(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.entities import enrich

    return enrich(context)


def _merge_entities(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.merging import merge_step

    return merge_step(context)


def _exemplars(context: MaintenanceContext) -> int:
    from hyperloci.lifecycle.exemplars import exemplars_step

    return exemplars_step(context)


STEPS: Final[tuple[MaintenanceJob, ...]] = (
    MaintenanceJob("abandon_sessions", ALWAYS, _abandon_sessions),
    MaintenanceJob("catch_up", HOURLY, _catch_up),
    MaintenanceJob("consolidate", ALWAYS, _consolidate),
    MaintenanceJob("causes", HOURLY, _causes),
    MaintenanceJob("annotate", ALWAYS, _annotate),
    MaintenanceJob("enrich_entities", HOURLY, _enrich),
    MaintenanceJob("merge_entities", DAILY, _merge_entities),
    MaintenanceJob("tiers", DAILY, decay.tiers_step),
    MaintenanceJob("backup", DAILY, backups.backup_step),
    MaintenanceJob("prune", DAILY, decay.prune_step),
    MaintenanceJob("expire", DAILY, decay.expire_step),
    MaintenanceJob("pyramid", ALWAYS, pyramid.pyramid_step),
    MaintenanceJob("exemplars", ALWAYS, _exemplars),
    MaintenanceJob("archive_retention", DAILY, pyramid.retention_step),
    MaintenanceJob("link", HOURLY, _link),
    MaintenanceJob("review_relations", WEEKLY, _review_relations),
    MaintenanceJob("prune_edges", DAILY, _prune_edges),
)
"""Every step, in the order in which they run. The names are kept in databases: never rename one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepReport:
    """What one run of a step did. `error` says in words why it could not."""

    name: str
    changed: int
    seconds: float
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What one round of upkeep did; `stopped` tells that it was cut short."""

    steps: tuple[StepReport, ...]
    dry_run: bool = False
    stopped: bool = False

    @property
    def changed(self) -> int:
        """How many things were changed in all."""
        return sum(step.changed for step in self.steps)


def due_steps(store: Store, now: int, steps: Sequence[MaintenanceJob] = STEPS) -> list[MaintenanceJob]:
    """Return the steps that are due, in their order."""
    return [step for step in steps if _is_due(store, step, now)]


def run_maintenance(context: MaintenanceContext, steps: Sequence[MaintenanceJob] = STEPS, *, force: bool = False) -> MaintenanceReport:
    """Run what is due, one step after another; one that fails is told in the report and keeps no other from running.

    Args:
        context: what the steps work with.
        steps: those to choose from.
        force: run all of them, due or not.

    Raises:
        StoreError: it could not be noted what ran.
    """
    reports: list[StepReport] = []
    for step in steps if force else due_steps(context.store, context.clock(), steps):
        try:
            reports.append(_run(context, step))
            context.yield_to_others()
        except MaintenanceStoppedError:
            return MaintenanceReport(steps=tuple(reports), dry_run=context.dry_run, stopped=True)
    return MaintenanceReport(steps=tuple(reports), dry_run=context.dry_run)


def rehearse(context: MaintenanceContext, steps: Sequence[MaintenanceJob] = STEPS, *, force: bool = False) -> MaintenanceReport:
    """Run upkeep on a throw-away copy of the database, and return what it did there.

    Raises:
        StoreError: there is no room for the copy.
    """
    with tempfile.TemporaryDirectory(prefix="hyperloci-rehearsal-", ignore_cleanup_errors=True) as folder:
        copy = context.store.back_up(Path(folder) / "copy.db")
        with Store.open(copy, clock=context.clock) as store:
            return run_maintenance(replace(context, store=store, dry_run=True), steps, force=force)


def _run(context: MaintenanceContext, step: MaintenanceJob) -> StepReport:
    started = time.perf_counter()
    changed, error = 0, None
    try:
        changed = step.run(context)
    except MaintenanceStoppedError:
        raise
    except (HyperlociError, OSError) as fault:
        error = str(fault) or type(fault).__name__
        _log.warning("upkeep: %s failed: %s", step.name, error)
    except Exception as fault:  # One part's defect must not keep the others from running.
        error = describe_error(fault)
        _log.exception("upkeep: %s failed", step.name)
    report = StepReport(name=step.name, changed=changed, seconds=time.perf_counter() - started, error=error)
    if step.every_ms or changed or error:
        _note(context, report)
    return report


def _note(context: MaintenanceContext, report: StepReport) -> None:
    now = context.clock()
    note = {"at": now, "changed": report.changed, "error": report.error}
    with context.store.transaction():
        context.store.meta.set(_meta_name(report.name), json.dumps(note))
        context.store.meta.set("last_upkeep", to_iso(now))


def _is_due(store: Store, step: MaintenanceJob, now: int) -> bool:
    noted = store.meta.get(_meta_name(step.name))
    if noted is None:
        return True
    last = json.loads(noted)
    wait = step.every_ms
    if last["error"]:
        # A step for each time rests too when it has failed.
        wait = min(wait, RETRY_MS) or RETRY_MS
    # A clock that was set back must not put a step off for years.
    return bool(not 0 <= now - last["at"] < wait)


def _meta_name(step: str) -> str:
    return f"upkeep.{step}"
