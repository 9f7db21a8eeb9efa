"""Job list: the maintenance jobs, when each is due, and running them (B.16, B.18).

To add a job: write `def my_job(context: MaintenanceContext) -> int` in the module it belongs to (its contract is at
`jobs.MaintenanceJob.run`), and add one line to `JOBS` below, which run in that order. Import names only from `jobs`,
never from here, and import heavy modules inside the function: every server loads this module. Between two transactions
call `context.yield_to_others()`.

The last run of each job is kept in the database (`meta`, `upkeep.NAME`), so it counts for all processes. Servers run
jobs while they are idle (`services.MaintenanceService`), one process at a time by a lock of the operating system;
`hyperloci upkeep` runs them by hand, and `--dry-run` runs them on a copy and reports what they did there.
"""

from __future__ import annotations

import contextlib
import json
import logging
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import to_iso
from hyperloci.conversations.pyramid import pyramid_jobs as pyramid
from hyperloci.errors import HyperlociError
from hyperloci.jobs import (
    ALWAYS,
    DAILY,
    HOURLY,
    WEEKLY,
    MaintenanceContext,
    MaintenanceJob,
    MaintenanceStoppedError,
)
from hyperloci.maintenance import backups, decay
from hyperloci.store import Store
from hyperloci.store.database.error_translation import describe_error
from hyperloci.system.values import dataclass

_log = logging.getLogger(__name__)

RETRY_MS: Final = HOURLY
"""A failed job is tried again after this time, if it isn't due sooner: a full disk is not fixed in a minute."""


def _close_abandoned_sessions(context: MaintenanceContext) -> int:
    from hyperloci.conversations.capture.sessions import close_abandoned

    ended = 0
    for scope in context.list_scopes():
        with context.store.transaction():
            ended += len(close_abandoned(context.store, scope, now=context.clock()))
        context.yield_to_others()
    return ended


def _store_late_turns(context: MaintenanceContext) -> int:
    from hyperloci.conversations.consolidation.consolidator import store_late_turns

    return store_late_turns(context)


def _consolidate_sessions(context: MaintenanceContext) -> int:
    from hyperloci.conversations.consolidation.consolidator import consolidate_sessions

    return consolidate_sessions(context)


def _prepare_openings(context: MaintenanceContext) -> int:
    from hyperloci.conversations.capture.session_events import prepare_openings

    return prepare_openings(context)


def _infer_causes(context: MaintenanceContext) -> int:
    from hyperloci.conversations.consolidation.causes.causal_links import infer_session_causes

    return infer_session_causes(context)


def _link_waiting(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.relation_jobs import link_waiting_relations

    return link_waiting_relations(context)


def _review_relations(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.relation_jobs import relink_all

    return relink_all(context)


def _prune_edges(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.relation_jobs import prune_relations

    return prune_relations(context)


def _annotate_old_memories(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.annotation_job import annotate_old_memories

    return annotate_old_memories(context)


def _index_old_texts(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.keyword_job import index_old_texts

    return index_old_texts(context)


def _summarise_entities(context: MaintenanceContext) -> int:
    from hyperloci.knowledge.entities.entity_service import summarise_entities

    return summarise_entities(context)


def _merge_entities(context: MaintenanceContext) -> int:
    from hyperloci.knowledge.entities.merge import merge_alike_entities

    return merge_alike_entities(context)


def _forget_calls(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.decay import expire_calls

    return expire_calls(context)


def _embed_exemplars(context: MaintenanceContext) -> int:
    from hyperloci.maintenance.exemplar_job import embed_exemplars

    return embed_exemplars(context)


def _sync_with_team(context: MaintenanceContext) -> int:
    from hyperloci.team.sync_job import sync_with_team

    return sync_with_team(context)


def _keep_up_sharing(context: MaintenanceContext) -> int:
    from hyperloci.facts.sharing.sharing_job import keep_up_sharing

    return keep_up_sharing(context)


JOBS: Final[tuple[MaintenanceJob, ...]] = (
    MaintenanceJob("abandon_sessions", ALWAYS, _close_abandoned_sessions),
    MaintenanceJob("catch_up", HOURLY, _store_late_turns),
    MaintenanceJob("consolidate", ALWAYS, _consolidate_sessions),
    MaintenanceJob("causes", HOURLY, _infer_causes),
    MaintenanceJob("annotate", ALWAYS, _annotate_old_memories),
    MaintenanceJob("keywords", ALWAYS, _index_old_texts),
    MaintenanceJob("enrich_entities", HOURLY, _summarise_entities),
    MaintenanceJob("merge_entities", DAILY, _merge_entities),
    MaintenanceJob("tiers", DAILY, decay.promote_recalled),
    MaintenanceJob("backup", DAILY, backups.back_up),
    # Before what was forgotten is deleted: others may have restored it.
    MaintenanceJob("team", ALWAYS, _sync_with_team),
    MaintenanceJob("prune", DAILY, decay.run_pruning),
    MaintenanceJob("expire", DAILY, decay.expire_forgotten),
    MaintenanceJob("pyramid", ALWAYS, pyramid.build_pyramids),
    MaintenanceJob("exemplars", ALWAYS, _embed_exemplars),
    MaintenanceJob("archive_retention", DAILY, pyramid.expire_archives),
    MaintenanceJob("access_log", DAILY, _forget_calls),
    MaintenanceJob("link", HOURLY, _link_waiting),
    MaintenanceJob("review_relations", WEEKLY, _review_relations),
    MaintenanceJob("prune_edges", DAILY, _prune_edges),
    MaintenanceJob("sharing", ALWAYS, _keep_up_sharing),
    # The last: the others change what it is made of.
    MaintenanceJob("openings", ALWAYS, _prepare_openings),
)
"""Every job, in the order in which they run. The names are kept in databases: never rename one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobReport:
    """What one run of a job did; `error` says why it failed."""

    name: str
    changed: int
    seconds: float
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceReport:
    """What one round of maintenance did; `stopped` is set if it was interrupted."""

    steps: tuple[JobReport, ...]
    dry_run: bool = False
    stopped: bool = False

    @property
    def changed(self) -> int:
        """How many things were changed in all."""
        return sum(step.changed for step in self.steps)


def list_due_jobs(store: Store, now: int, steps: Sequence[MaintenanceJob] = JOBS) -> list[MaintenanceJob]:
    """Return the jobs that are due, in their order."""
    return [step for step in steps if _is_due(store, step, now)]


def run_maintenance(
    context: MaintenanceContext, steps: Sequence[MaintenanceJob] = JOBS, *, force: bool = False
) -> MaintenanceReport:
    """Run the jobs that are due, one after another; a failure is noted in the report, and the others run all the same.

    Args:
        context: what the jobs work with.
        steps: those to choose from.
        force: run all of them, due or not.

    Raises:
        StoreError: the run could not be recorded.
    """
    reports: list[JobReport] = []
    context.note_time()
    for step in steps if force else list_due_jobs(context.store, context.clock(), steps):
        try:
            reports.append(_run_job(context, step))
            context.yield_to_others()
        except MaintenanceStoppedError:
            return MaintenanceReport(steps=tuple(reports), dry_run=context.dry_run, stopped=True)
    return MaintenanceReport(steps=tuple(reports), dry_run=context.dry_run)


def rehearse_maintenance(
    context: MaintenanceContext, steps: Sequence[MaintenanceJob] = JOBS, *, force: bool = False
) -> MaintenanceReport:
    """Run the jobs on a temporary copy of the database, and return what they did there.

    Raises:
        StoreError: there is no room for the copy.
    """
    with tempfile.TemporaryDirectory(prefix="hyperloci-rehearsal-", ignore_cleanup_errors=True) as folder:
        copy = context.store.back_up(Path(folder) / "copy.db")
        _copy_archive(context.store.path, copy)
        with Store.open(copy, clock=context.clock) as store:
            return run_maintenance(replace(context, store=store, dry_run=True), steps, force=force)


def _copy_archive(database: Path, copy: Path) -> None:
    """Copy the archive beside a database: without it, jobs would say that it is gone."""
    import shutil

    from hyperloci.store.archive.chunk_archive import Archive

    # A live server may take a file away meanwhile, or none may be there.
    with contextlib.suppress(OSError):
        shutil.copytree(Archive.for_database(database).folder, Archive.for_database(copy).folder)


def _run_job(context: MaintenanceContext, step: MaintenanceJob) -> JobReport:
    started = time.perf_counter()
    changed, error = 0, None
    try:
        changed = step.run(context)
    except MaintenanceStoppedError:
        raise
    except (HyperlociError, OSError) as fault:
        error = str(fault) or type(fault).__name__
        _log.warning("maintenance: job %s failed: %s", step.name, error)
    except Exception as fault:  # One job's defect must not keep the others from running.
        error = describe_error(fault)
        _log.exception("maintenance: job %s failed", step.name)
    report = JobReport(name=step.name, changed=changed, seconds=time.perf_counter() - started, error=error)
    if step.every_ms or changed or error:
        _note_run(context, report)
    return report


def _note_run(context: MaintenanceContext, report: JobReport) -> None:
    now = context.clock()
    note = {"at": now, "changed": report.changed, "error": report.error}
    with context.store.transaction():
        context.store.meta.set(_meta_key(report.name), json.dumps(note))
        context.store.meta.set("last_upkeep", to_iso(now))


def _is_due(store: Store, step: MaintenanceJob, now: int) -> bool:
    noted = store.meta.get(_meta_key(step.name))
    if noted is None:
        return True
    last = json.loads(noted)
    wait = step.every_ms
    if last["error"]:
        # A job that is due every time also waits after a failure.
        wait = min(wait, RETRY_MS) or RETRY_MS
    # A clock that was set back must not put a job off for years.
    return bool(not 0 <= now - last["at"] < wait)


def _meta_key(step: str) -> str:
    return f"upkeep.{step}"
