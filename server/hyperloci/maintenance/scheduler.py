"""Scheduler: runs maintenance jobs in the background while a server is idle, in one process at a time.

The lock is held for one round, not for the life of a process: any idle server may run what is due, `hyperloci upkeep`
may run it by hand, and a server that is busy all day blocks neither.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from hyperloci.clock import Clock, system_clock, to_iso
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.jobs import MaintenanceContext, MaintenanceJob
from hyperloci.store import Store
from hyperloci.store.database.error_translation import describe_error
from hyperloci.system.background import BackgroundThread, StatusBoard
from hyperloci.system.process_lock import Election, lock_path
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.embedder.client import EmbedderClient
    from hyperloci.maintenance.job_list import MaintenanceReport

_log = logging.getLogger(__name__)

ROLE: Final = "upkeep"
"""In the name of the lock file."""

HAND_WAIT_SECONDS: Final = 10.0
"""How long `hyperloci upkeep` waits for a server's round to end; servers rarely have one running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerPace:
    """How long the scheduler waits, in seconds.

    Attributes:
        first: from the start to the first check; a session begins with a burst of requests.
        look: between checks of what is due; a check reads a few rows. An interrupted round waits no longer, but ends.
        idle: without a request before a round begins.
        quiet: without a request before an interrupted round goes on; longer than a server takes to tell of the next one
            (`app.NUDGE_SECONDS`), or the round would go on among the requests of a busy session.
    """

    first: float = 15.0
    look: float = 60.0
    idle: float = 10.0
    quiet: float = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerStatus:
    """The state of maintenance in this process. Times are ISO 8601; `last_changed` counts the last round's changes."""

    running: bool = False
    working: bool = False
    last_round: str | None = None
    last_changed: int = 0
    last_error: str | None = None


class MaintenanceScheduler:
    """Runs the maintenance jobs of one database in one process. Its methods may be called from any thread."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock = system_clock,
        *,
        pace: SchedulerPace | None = None,
        steps: Sequence[MaintenanceJob] | None = None,
    ) -> None:
        """Make it; nothing runs before `start`, and the jobs (all, unless given) are loaded when they are due."""
        self._settings = settings
        self._clock = clock
        self._pace = pace or SchedulerPace()
        self._steps = steps
        self._thread = BackgroundThread("hyperloci-upkeep", self._run)
        self._status = StatusBoard(SchedulerStatus())
        self._last_request = -self._pace.idle

    def start(self) -> None:
        """Start looking for work."""
        self._thread.start()

    def note_request(self) -> None:
        """Note a request: maintenance waits."""
        self._last_request = time.monotonic()

    def stop(self, timeout: float) -> bool:
        """End between two transactions; return whether that was within `timeout` seconds."""
        return self._thread.stop(timeout)

    def status(self) -> dict[str, Any]:
        """Return the status (`SchedulerStatus`) as plain values."""
        return {**asdict(self._status.current), "running": self._thread.is_running}

    def _run(self) -> None:
        wait = self._pace.first
        while not self._thread.stopping.wait(wait):
            wait = self._pace.look
            if self._is_quiet(self._pace.idle):
                self._run_round()
            else:
                wait = min(wait, self._pace.idle)

    def _run_round(self) -> None:
        try:
            report = self._run_due_jobs()
        except Exception as error:  # The thread must go on: any failure is shown in the status and tried again.
            known = isinstance(error, HyperlociError | OSError)
            words = describe_error(error)
            if words != self._status.current.last_error:
                _log.warning("maintenance failed: %s", words, exc_info=not known)
            self._status.update(last_error=words)
            return
        if report is None:
            return
        errors = [f"{step.name}: {step.error}" for step in report.steps if step.error]
        self._status.update(
            last_error="; ".join(errors) or None, last_round=to_iso(self._clock()), last_changed=report.changed
        )

    def _run_due_jobs(self) -> MaintenanceReport | None:
        """Run what is due; None if nothing is, or if another process is running it."""
        from hyperloci.maintenance.job_list import JOBS, list_due_jobs, run_maintenance

        steps = JOBS if self._steps is None else self._steps
        election = Election(lock_path(self._settings.lock_dir, ROLE, str(self._settings.database)))
        with open_for_maintenance(self._settings, self._clock) as store:
            if not list_due_jobs(store, self._clock(), steps) or not election.try_to_win():
                # So that a copy of the file made while the session is idle is complete.
                store.checkpoint_log()
                return None
            try:
                self._status.update(working=True)
                context = make_maintenance_context(
                    store, self._settings, self._clock, should_stop=self._wait_while_busy
                )
                report = run_maintenance(context, steps)
            finally:
                self._status.update(working=False)
                election.resign()
        if report.changed and context.client is not None:
            context.client.notify(self._settings.database)
        return report

    def _wait_while_busy(self) -> bool:
        """Wait while requests come in; return whether to stop: a server that stays busy leaves the rest to others."""
        gives_up_at = time.monotonic() + self._pace.look
        while not self._is_quiet(self._pace.quiet):
            if self._thread.stopping.wait(self._pace.quiet / 2) or time.monotonic() > gives_up_at:
                return True
        return self._thread.stopping.is_set()

    def _is_quiet(self, seconds: float) -> bool:
        return time.monotonic() - self._last_request >= seconds


def run_maintenance_now(
    store: Store,
    settings: Settings,
    clock: Clock,
    *,
    dry_run: bool = False,
    force: bool = True,
    steps: Sequence[MaintenanceJob] | None = None,
) -> MaintenanceReport | None:
    """Run maintenance now, for a dry run on a copy of the database. None: another process is running it.

    Raises:
        StoreError: the database can't be written.
    """
    from hyperloci.maintenance.job_list import JOBS, rehearse_maintenance, run_maintenance

    context, chosen = make_maintenance_context(store, settings, clock), JOBS if steps is None else steps
    if dry_run:
        return rehearse_maintenance(context, chosen, force=force)
    election = Election(lock_path(settings.lock_dir, ROLE, str(settings.database)))
    patience = threading.Timer(HAND_WAIT_SECONDS, (given_up := threading.Event()).set)
    patience.daemon = True
    patience.start()
    try:
        if not election.wait_to_win(given_up, retry_seconds=0.2):
            return None
        return run_maintenance(context, chosen, force=force)
    finally:
        patience.cancel()
        election.resign()


def open_for_maintenance(settings: Settings, clock: Clock) -> Store:
    """Open the database for a round; it is opened anew each time, so that a restored backup is noticed."""
    return Store.open(settings.database, backup_dir=settings.backup_dir, synchronous=settings.synchronous, clock=clock)


def make_maintenance_context(store: Store, settings: Settings, clock: Clock, **fields: Any) -> MaintenanceContext:
    """Return what jobs work with."""
    return MaintenanceContext(store=store, settings=settings, clock=clock, client=_make_client(settings), **fields)


def _make_client(settings: Settings) -> EmbedderClient | None:
    if not settings.embedder:
        return None
    from hyperloci.embedder.client import EmbedderClient

    return EmbedderClient(settings)
