"""Watch worker: takes batches of events and updates the index, for as long as it holds the project's lock."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, to_iso
from hyperloci.config import Settings
from hyperloci.indexing.indexer import Indexer
from hyperloci.indexing.skip_rules import is_folder_mark
from hyperloci.indexing.watching.event_queue import LONGEST_SECONDS, QUIET_SECONDS, ChangeBatch, ChangeInbox
from hyperloci.indexing.watching.file_events import MAX_WATCHES, FileWatch, is_on_network, plan_watches
from hyperloci.indexing.watching.git_events import git_watches, is_exclude_file, is_git_state
from hyperloci.model.answers import IndexReport
from hyperloci.project.git_folder import BrokenRepositoryError, Head, Repository, open_repository, read_head
from hyperloci.project.identity import Project
from hyperloci.project.project_store import follow_project
from hyperloci.store import Store
from hyperloci.system.values import dataclass

RECONCILE_SECONDS: Final = 600.0
"""Everything is compared this often, without regard to events: events can be lost, and watches with them."""

POLL_SECONDS: Final = 5.0
"""How often everything is compared where there are no events."""

HISTORY_SHARE: Final = 1.0
"""A batch of older commits is followed by a rest of so many times its duration: half a core, and events go first."""

POLL_SHARE: Final = 20.0
"""A poll is followed by at least this many times its own duration: polling costs a twentieth of a core at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchPace:
    """How often things happen, in seconds."""

    quiet: float = QUIET_SECONDS
    longest: float = LONGEST_SECONDS
    reconcile: float = RECONCILE_SECONDS
    poll: float = POLL_SECONDS


class WatchWorker:
    """Works off one inbox in the thread that calls `work`."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        project: Project,
        clock: Clock,
        *,
        inbox: ChangeInbox,
        stop: threading.Event,
        pace: WatchPace,
        make_watch: Callable[[Callable[[str], None]], FileWatch],
        canary: Path,
        tell: Callable[..., None],
        on_change: Callable[[IndexReport], None] | None,
    ) -> None:
        self._indexer = Indexer(store, settings, project, clock, cancelled=stop.is_set)
        self._root = self._indexer.root
        self._store = store
        self._settings = settings
        self._project = project
        self._clock = clock
        self._inbox = inbox
        self._stop = stop
        self._pace = pace
        self._watch = make_watch(self._note_change)
        self._canary = canary
        self._tell: Callable[..., None] = tell
        self._on_change = on_change
        self._marker = self._root / ".git"
        self._is_marker_watched = False
        self._repository: Repository | None = None
        self._head: Head | None = None
        self._left_out: tuple[str, ...] = ()
        self._polling: str | None = None
        self._older_at: float | None = None

    def run_until_stopped(self) -> Project:
        """Watch and index until stopped, or until the folder is another project; return the one to be watched.

        The folder became a repository, or the user linked it: another worker begins with a comparison of everything.

        Raises:
            HyperlociError, OSError: something failed; the watches are gone, and what was not done is found by the
                comparison that the next worker begins with.
        """
        try:
            if (project := self._follow_project()) != self._project:
                return project
            self._start_watching()  # Before the first comparison, so that nothing falls between the two.
            due = self._compare_tree()
            while not self._stop.is_set():
                next_at = due if self._older_at is None else min(due, self._older_at)
                batch = self._inbox.take_batch(max(0.0, next_at - time.monotonic()))
                if (project := self._follow_project()) != self._project:
                    return project
                if batch is not None:
                    due = self._handle_batch(batch, due)
                elif time.monotonic() >= due:
                    self._start_watching()
                    due = self._compare_tree()
                else:
                    self._continue_history()
            return self._project
        finally:
            self._watch.stop()

    # -- watching ----------------------------------------------------------------------------------------------------

    def _follow_project(self) -> Project:
        return follow_project(self._store, self._settings, self._project, self._clock())

    def _start_watching(self) -> None:
        """Watch what is there to be watched now; where that cannot be, poll."""
        self._repository = _find_repository(self._root)
        self._polling = self._reason_to_poll()
        if self._polling is not None:
            self._watch.stop()
        self._tell(polling=self._polling)

    def _reason_to_poll(self) -> str | None:
        if is_on_network(self._root):
            return "the project is on a network file system"
        left_out: list[str] = []
        test = self._indexer.make_folder_test()

        def ignored(folder: Path) -> bool:
            if not test.ignores(folder):
                return False
            left_out.append(f"{folder}{os.sep}")
            return True

        watches = plan_watches(self._root, ignored)
        self._left_out = tuple(left_out)
        if len(watches) > MAX_WATCHES:
            return f"there are too many separate folders to watch ({len(watches)})"
        self._is_marker_watched = self._repository is None and os.path.isdir(self._marker)
        if self._repository is not None:
            watches.extend(git_watches(self._repository))
        elif self._is_marker_watched:
            watches.append((self._marker, False))  # Git is about to make it one.
        try:
            self._watch.watch_folders(watches, self._canary)
        except OSError as error:
            return f"the system allows no more watches ({error.strerror or error})"
        return None

    def _note_change(self, path: str) -> None:
        """Take an event, in one of watchdog's threads: note it and be gone."""
        if self._is_git_change(path):
            self._inbox.add_git_change()
        elif path == str(self._root) or self._changes_what_is_left_out(path):
            self._inbox.add_everything()
        elif path.startswith(f"{self._root}{os.sep}") and not path.startswith(self._left_out):
            self._inbox.add_paths(path)

    def _is_git_change(self, path: str) -> bool:
        """Whether it may be that a repository came or went, or that HEAD or a branch moved."""
        if self._repository is None:
            return path == str(self._marker) or path.startswith(f"{self._marker}{os.sep}")
        return path == str(self._marker) or is_git_state(self._repository, Path(path))

    def _changes_what_is_left_out(self, path: str) -> bool:
        """Whether it may be that folders are ignored now which were not, or the other way about."""
        if is_folder_mark(os.path.basename(path)) and path.startswith(f"{self._root}{os.sep}"):
            return not path.startswith(self._left_out) or f"{os.path.dirname(path)}{os.sep}" in self._left_out
        return self._repository is not None and is_exclude_file(self._repository, path)

    # -- indexing ----------------------------------------------------------------------------------------------------

    def _compare_tree(self) -> float:
        """Compare everything, and return when to do it next."""
        started = time.monotonic()
        self._head = self._read_head()
        self._try_index(self._indexer.index_tree)
        self._read_shared(thorough=True)
        ended = time.monotonic()
        if self._polling is None:
            return ended + self._pace.reconcile
        return ended + max(self._pace.poll, POLL_SHARE * (ended - started))

    def _handle_batch(self, batch: ChangeBatch, due: float) -> float:
        self._tell(last_event=to_iso(self._clock()))
        self._read_shared()
        if batch.everything or (batch.git and self._has_git_moved()):
            self._start_watching()
            return self._compare_tree()
        if any(os.path.isdir(path) for path in batch.paths):
            # A new folder; what was put into it before it was watched is found by going through it.
            self._start_watching()
        elif batch.git and self._repository is None and os.path.isdir(self._marker) != self._is_marker_watched:
            self._start_watching()
            if _find_repository(self._root) is not None:
                self._inbox.add_git_change()  # Git was done before its folder was watched.
        if batch.paths:
            self._try_index(lambda: self._indexer.update_paths(batch.paths))
        if batch.git and self._repository is not None:
            self._try_index(self._indexer.update_history)
        return due

    def _read_shared(self, *, thorough: bool = False) -> None:
        """Take in what others share in this tree; one look where nothing came or went."""
        from hyperloci.facts.sharing.shared_folder import read_stamp

        if read_stamp(self._root) is None:
            return
        from hyperloci.facts.sharing.intake import SharedIntake

        # A folder that can't be read, or changes as it is, is read at the next change; indexing goes on.
        with contextlib.suppress(OSError):
            SharedIntake(self._store, self._project.id, self._root, self._clock).read(thorough=thorough)

    def _try_index(self, action: Callable[[], IndexReport]) -> None:
        self._tell(indexing=True)
        report = action()
        self._tell(indexing=False, last_run=to_iso(self._clock()), last_error=None, failures=0)
        if report.commits_waiting or report.files_waiting:
            self._older_at = time.monotonic()
        if self._on_change is not None and _has_changes(report):
            self._on_change(report)

    def _continue_history(self) -> None:
        """Store the next older commits, or find what commits wrote, and plan when to go on."""
        if self._older_at is None:
            return
        started = time.monotonic()
        self._older_at = None
        self._try_index(self._indexer.continue_history)
        if self._older_at is not None:
            self._older_at += HISTORY_SHARE * (time.monotonic() - started)

    def _has_git_moved(self) -> bool:
        return _find_repository(self._root) != self._repository or self._read_head() != self._head

    def _read_head(self) -> Head | None:
        return read_head(self._repository) if self._repository is not None else None


def _find_repository(root: Path) -> Repository | None:
    try:
        return open_repository(root)
    except BrokenRepositoryError:
        return None


def _has_changes(report: IndexReport) -> bool:
    return bool(report.added or report.changed or report.moved or report.removed or report.commits)
