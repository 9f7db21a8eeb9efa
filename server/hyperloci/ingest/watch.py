"""Keeping memory in step with a project while somebody works in it: files and Git, watched by one process at a time.

One thread, the worker, does everything that touches the database, over a connection of its own (`watch_worker.py`).
Watchdog's threads only leave paths in its inbox. Whichever process wins the project's lock works; the others ask for it
every two seconds. What fails is logged, shown by `status`, and tried again with growing waits.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from hyperloci.clock import Clock, system_clock
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError
from hyperloci.ingest.election import RETRY_SECONDS, Election, lock_path
from hyperloci.ingest.inbox import Inbox
from hyperloci.ingest.project import Project
from hyperloci.ingest.watch_files import FileWatch
from hyperloci.ingest.watch_worker import Pace, WatchWorker
from hyperloci.model.answers import IndexReport
from hyperloci.store import Store
from hyperloci.store.faults import in_words

FIRST_BACK_OFF_SECONDS: Final = 1.0
LONGEST_BACK_OFF_SECONDS: Final = 60.0
"""After a failure the worker waits, each time twice as long: a full disk is not mended in a second."""

SWITCH_SECONDS: Final = 0.0005
"""How long one thread may keep others from running Python. Indexing is such a thread: with the default of 5 ms a tool's
answer takes twice as long while it runs (p95 of a write: 17 ms, with this 9 ms)."""

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


class Watchers:
    """The file and Git watchers of one project in one process."""

    def __init__(
        self,
        settings: Settings,
        project: Project,
        clock: Clock = system_clock,
        on_change: Callable[[IndexReport], None] | None = None,
        *,
        pace: Pace | None = None,
        make_watch: Callable[[Callable[[str], None]], FileWatch] = FileWatch,
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
            make_watch: makes the watch over the file system.
            retry_seconds: how often the lock is asked for.
            back_off_seconds: the first wait after a failure.
        """
        self._settings = settings
        self._project = project
        self._clock = clock
        self._on_change = on_change
        self._pace = pace or Pace()
        self._make_watch = make_watch
        self._retry = retry_seconds
        self._back_off = back_off_seconds
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._status = WatchStatus()
        self._inbox: Inbox | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the worker, unless the settings or the project (the home folder, say) rule watching out."""
        if not self._settings.watch:
            self._tell(last_error="watching is switched off (watch = false)")
        elif self._project.broad:
            self._tell(last_error=f"{self._project.root} is too broad to be watched")
        elif self._thread is None:
            sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_SECONDS))
            self._thread = threading.Thread(target=self._run, name="hyperloci-watch", daemon=True)
            self._tell(running=True)
            self._thread.start()

    def stop(self, timeout: float = STOP_SECONDS) -> bool:
        """End the worker and its watches; return whether they ended within `timeout` seconds."""
        self._stop.set()
        with self._lock:
            if self._inbox is not None:
                self._inbox.close()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def status(self) -> dict[str, Any]:
        """Return how things are (`WatchStatus`), as plain values."""
        with self._lock:
            return asdict(self._status)

    def _tell(self, **changes: Any) -> None:
        with self._lock:
            self._status = replace(self._status, **changes)

    def _run(self) -> None:
        election = Election(lock_path(self._settings.lock_dir, "watch", self._project.id))
        try:
            while not self._stop.is_set():
                try:
                    if election.wait_to_win(self._stop, retry_seconds=self._retry):
                        self._tell(owner=True)
                        self._work(election.lock_path.parent)
                except Exception as error:  # The thread's edge: whatever failed is told, and tried again.
                    self._failed(error)
                finally:
                    election.resign()
                    self._tell(owner=False, indexing=False, polling=None)
                self._stop.wait(self._wait_after_failures())
        finally:
            self._tell(running=False)

    def _work(self, canary: Path) -> None:
        """Own the watchers until stopped, or until something fails."""
        inbox = Inbox(quiet=self._pace.quiet, longest=self._pace.longest)
        with self._lock:
            self._inbox = inbox
        if self._stop.is_set():
            return
        settings = self._settings
        with Store.open(
            settings.database, backup_dir=settings.backup_dir, synchronous=settings.synchronous, clock=self._clock
        ) as store:
            worker = WatchWorker(
                store,
                settings,
                self._project,
                self._clock,
                inbox=inbox,
                stop=self._stop,
                pace=self._pace,
                make_watch=self._make_watch,
                canary=canary,
                tell=self._tell,
                on_change=self._on_change,
            )
            worker.work()

    def _failed(self, error: Exception) -> None:
        with self._lock:
            failures = self._status.failures + 1
        known = isinstance(error, HyperlociError | OSError)
        words = in_words(error)
        _log.warning("watching %s failed (%d in a row): %s", self._project.root, failures, words, exc_info=not known)
        self._tell(last_error=words, failures=failures)

    def _wait_after_failures(self) -> float:
        with self._lock:
            failures = self._status.failures
        return min(self._back_off * 2.0 ** (failures - 1), LONGEST_BACK_OFF_SECONDS) if failures else 0.0
