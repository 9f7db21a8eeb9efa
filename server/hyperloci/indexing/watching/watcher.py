"""Watcher: keeps the memory up to date while a project is worked on: files and Git, one process at a time.

One thread, the worker, does everything that touches the database, over a connection of its own (`worker`).
Watchdog's threads only put paths in its queue. The process that holds the project's lock works; the others try for it
every two seconds. Failures are logged, shown by `status`, and tried again after growing waits.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.clock import Clock, system_clock
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError, StoreBusyError
from hyperloci.indexing.watching.event_queue import ChangeInbox
from hyperloci.model.answers import IndexReport
from hyperloci.project.identity import Project
from hyperloci.project.project_store import follow_project
from hyperloci.store import Store
from hyperloci.store.database.error_translation import describe_error
from hyperloci.system.background import BackgroundThread, StatusBoard
from hyperloci.system.process_lock import RETRY_SECONDS, Election, lock_path
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.indexing.watching.file_events import FileWatch
    from hyperloci.indexing.watching.watch_worker import WatchPace

FIRST_BACK_OFF_SECONDS: Final = 1.0
LONGEST_BACK_OFF_SECONDS: Final = 60.0
"""After a failure the worker waits, each time twice as long: a full disk is not fixed in a second."""

TRIES: Final = 30
"""A process asks for the lock so often, a minute long, before it looks whether its folder is another project by now."""

STOP_SECONDS: Final = 10.0
"""How long `stop` waits: the worker ends between two files, or between two transactions of one."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStatus:
    """How the watchers of one project are, in this process.

    Attributes:
        running: the worker's thread is alive.
        owner: this process is the one that watches; another one does otherwise, or will within seconds.
        polling: why everything is compared again and again, where there are no events; None where there are.
        indexing: the worker is busy.
        last_event, last_run: when something was seen to change, when the last comparison ended (ISO 8601).
        last_error: what went wrong last; None once all is well again.
        failures: failures in a row.
    """

    running: bool = False
    owner: bool = False
    polling: str | None = None
    indexing: bool = False
    last_event: str | None = None
    last_run: str | None = None
    last_error: str | None = None
    failures: int = 0


class ProjectWatcher:
    """The file and Git watchers of one project in one process."""

    def __init__(
        self,
        settings: Settings,
        project: Project,
        clock: Clock = system_clock,
        on_change: Callable[[IndexReport], None] | None = None,
        *,
        pace: WatchPace | None = None,
        make_watch: Callable[[Callable[[str], None]], FileWatch] | None = None,
        retry_seconds: float = RETRY_SECONDS,
        back_off_seconds: float = FIRST_BACK_OFF_SECONDS,
    ) -> None:
        """Make the watchers; nothing runs before `start`.

        Args:
            settings: where database and locks are, what is indexed.
            project: what is watched.
            clock: tells the time.
            on_change: called in the worker's thread after a run that changed something.
            pace: how often things happen.
            make_watch: makes the watch over the file system; by default a `FileWatch`.
            retry_seconds: how often the lock is asked for.
            back_off_seconds: the first wait after a failure.
        """
        self._settings = settings
        self._project = project
        self._clock = clock
        self._on_change = on_change
        self._pace = pace
        self._make_watch = make_watch
        self._retry = retry_seconds
        self._back_off = back_off_seconds
        self._thread = BackgroundThread("hyperloci-watch", self._run)
        self._status = StatusBoard(WatchStatus())
        self._lock = threading.Lock()
        self._inbox: ChangeInbox | None = None

    def start(self) -> None:
        """Start the worker, unless the settings or the project (the home folder, say) rule watching out."""
        if not self._settings.watch:
            self._status.update(last_error="watching is switched off (watch = false)")
        elif self._project.is_broad:
            self._status.update(last_error=f"{self._project.root} is too broad to be watched")
        else:
            self._thread.start()

    def stop(self, timeout: float = STOP_SECONDS) -> bool:
        """End the worker and its watches; return whether they ended within `timeout` seconds."""
        self._thread.stopping.set()
        with self._lock:
            if self._inbox is not None:
                self._inbox.close()
        return self._thread.stop(timeout)

    def status(self) -> dict[str, Any]:
        """Return how things are (`WatchStatus`), as plain values."""
        return {**asdict(self._status.current), "running": self._thread.is_running}

    def _run(self) -> None:
        stopping = self._thread.stopping
        while not stopping.is_set():
            # A new one each time: a folder that was linked or unlinked is another project, with a lock of its own.
            election = Election(lock_path(self._settings.lock_dir, "watch", self._project.id))
            try:
                if election.wait_to_win(stopping, retry_seconds=self._retry, timeout=self._retry * TRIES):
                    self._status.update(owner=True)
                    self._watch_until_stopped(election.lock_path.parent)
                elif not stopping.is_set():
                    self._follow_project()
            except Exception as error:  # The thread must go on: any failure is shown in the status and tried again.
                self._note_failure(error)
            finally:
                election.resign()
                self._status.update(owner=False, indexing=False, polling=None)
            stopping.wait(self._backoff_seconds())

    def _follow_project(self) -> None:
        """Find out which project the folder is by now, while another process watches the one that it was."""
        with contextlib.suppress(StoreBusyError), self._open_store() as store:  # The next round will do.
            self._project = follow_project(store, self._settings, self._project, self._clock())

    def _watch_until_stopped(self, canary: Path) -> None:
        """Own the watchers until stopped, until something fails, or until the folder is another project."""
        # Of a project's sessions one indexes: the others need not hold what that takes.
        from hyperloci.indexing.watching.file_events import FileWatch
        from hyperloci.indexing.watching.watch_worker import WatchPace, WatchWorker

        pace = self._pace or WatchPace()
        inbox = ChangeInbox(quiet=pace.quiet, longest=pace.longest)
        with self._lock:
            self._inbox = inbox
        if self._thread.stopping.is_set():
            return
        with self._open_store() as store:
            worker = WatchWorker(
                store,
                self._settings,
                self._project,
                self._clock,
                inbox=inbox,
                stop=self._thread.stopping,
                pace=pace,
                make_watch=self._make_watch or FileWatch,
                canary=canary,
                tell=self._status.update,
                on_change=self._on_change,
            )
            self._project = worker.run_until_stopped()

    def _open_store(self) -> Store:
        settings = self._settings
        return Store.open(
            settings.database, backup_dir=settings.backup_dir, synchronous=settings.synchronous, clock=self._clock
        )

    def _note_failure(self, error: Exception) -> None:
        failures = self._status.current.failures + 1
        known = isinstance(error, HyperlociError | OSError)
        words = describe_error(error)
        _log.warning("watching %s failed (%d in a row): %s", self._project.root, failures, words, exc_info=not known)
        self._status.update(last_error=words, failures=failures)

    def _backoff_seconds(self) -> float:
        failures = self._status.current.failures
        return min(self._back_off * 2.0 ** (failures - 1), LONGEST_BACK_OFF_SECONDS) if failures else 0.0
