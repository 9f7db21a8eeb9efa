"""Indexer: keeps a project's files as snippets: only changes are written, and everything else keeps its node.

A run compares every file with what is stored (size and time, then content), writes what changed, looks for chunks
that moved to other files, and only then forgets what is gone. It may be interrupted anywhere: the next run does what
is left. Two processes may index the same project at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from pathlib import Path, PurePosixPath
from typing import Final

from hyperloci.clock import Clock, system_clock
from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, ConfigurationError, NotFoundError
from hyperloci.indexing.commits.commit_indexer import CommitIndexer, CommitReport
from hyperloci.indexing.commits.line_authorship import LineAuthorship
from hyperloci.indexing.file_writer import FileWriter
from hyperloci.indexing.ignore_files import IGNORE_FILES
from hyperloci.indexing.index_run import IndexRun
from hyperloci.indexing.link_queue import link_queued, queue_readers
from hyperloci.indexing.parsing.parser import ParserLimits, borrow_parser
from hyperloci.indexing.renamed_files import FileStamp, FormerPaths
from hyperloci.indexing.tree_walk import UNREADABLE, FolderTest, IndexableFile, check_files, is_gone, walk_tree
from hyperloci.knowledge.graph.anchors import anchor_pending
from hyperloci.knowledge.graph.renames import follow_renames
from hyperloci.model.answers import IndexReport, Progress, SkippedFile
from hyperloci.project.git import never_cancelled
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.system.values import dataclass

MAX_SKIPPED: Final = 500
"""Skipped files that a report names; a tree of pictures has thousands, and a reader wants the reasons."""


class Indexer:
    """Indexes the files and the history of one project into one store (D.01, D.05, D.06, E.03)."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        project: Project,
        clock: Clock = system_clock,
        *,
        cancelled: Callable[[], bool] = never_cancelled,
    ) -> None:
        """Make an indexer.

        Args:
            store: the open store; used by one thread at a time, in transactions of the indexer's own.
            settings: what is excluded, and how large a file may be.
            project: whose files and history.
            clock: tells the time.
            cancelled: asked again and again while something runs; True ends it early.
        """
        self.root = Path(os.path.realpath(project.root))
        self._store = store
        self._settings = settings
        self._project = project
        self._clock = clock
        self._cancelled = cancelled
        self._commits: CommitIndexer | None = None
        self._authorship: LineAuthorship | None = None
        self._former = FormerPaths(clock)

    def index_tree(self, path: Path | None = None, *, progress: Progress | None = None) -> IndexReport:
        """Bring a file, a folder or (by default) the whole project and its Git history up to date.

        Args:
            path: inside the project; absolute, or relative to its root.
            progress: called with (files done, files to do, path or what comes after the files).

        Raises:
            BadRequestError: the path lies outside the project, or the project is too broad to be indexed.
            NotFoundError: there is nothing at the path, or the project's folder is not there.
        """
        started = time.perf_counter()
        self._check_root()
        target = "" if path is None else self._relative(path)
        if is_gone(self.root / target):
            raise NotFoundError(f"path={str(path)!r} does not exist in {self.root}.")
        return self._bring_up_to_date(self._scan_targets([target]), started, progress, with_history=not target)

    def update_paths(self, paths: Iterable[str]) -> IndexReport:
        """Bring some files or folders up to date, as a watcher reports them; what is not there is forgotten.

        Args:
            paths: inside the project; absolute, or relative to its root.

        Raises:
            BadRequestError: a path lies outside the project, or the project is too broad to be indexed.
            NotFoundError: the project's folder is not there.
        """
        started = time.perf_counter()
        self._check_root()
        targets = list(dict.fromkeys(self._relative(Path(path)) for path in paths))
        if any(PurePosixPath(target).name in IGNORE_FILES for target in targets):
            targets = [""]  # What such a file says holds for everything beside and below it.
        return self._bring_up_to_date(self._scan_targets(targets), started)

    def update_history(self) -> IndexReport:
        """Bring the Git history up to date.

        Raises:
            BadRequestError: the project is too broad to be indexed.
            NotFoundError: the project's folder is not there.
        """
        started = time.perf_counter()
        self._check_root()
        return self._bring_up_to_date(_TreeScan(), started, with_history=True)

    def continue_history(self) -> IndexReport:
        """Store the next older commits of the Git history, then find which of them wrote the lines that stand.

        Without `commits_waiting` and `files_waiting`, there is nothing left to be had.

        Raises:
            BadRequestError: the project is too broad to be indexed.
            NotFoundError: the project's folder is not there.
        """
        started = time.perf_counter()
        self._check_root()
        if self._commits is None:
            self._commits = self._make_commit_indexer(self._scope_key())
        history = self._commits.store_more()
        # Only what is stored can be told to have written a line.
        ready = not history.waiting and not self._cancelled()
        if self._authorship is None:
            self._authorship = self._make_line_authorship()
        waiting = self._authorship.find_more() if ready else 0
        return _make_history_report(history, started, files_waiting=waiting)

    def make_folder_test(self) -> FolderTest:
        """Return what says of folders whether nothing in them is indexed, as things are now."""
        return FolderTest(self.root, exclude=self._settings.exclude)

    # -- what is there -----------------------------------------------------------------------------------------------

    def _check_root(self) -> None:
        if self._project.is_broad:
            raise BadRequestError(f"{self.root} is too broad to be indexed; open a folder inside it.")
        if self._settings.exclude_fault is not None:
            raise ConfigurationError(
                f"{self._settings.exclude_fault} Nothing is indexed until it is corrected: it may name files to leave"
                " out."
            )
        if not os.path.isdir(self.root):
            raise NotFoundError(f"The project's folder {self.root} does not exist; nothing was forgotten.")

    def _relative(self, path: Path) -> str:
        absolute = Path(os.path.normpath(self.root / path))
        for candidate in (absolute, Path(os.path.realpath(absolute))):
            if candidate.is_relative_to(self.root):
                inside = candidate.relative_to(self.root).as_posix()
                return "" if inside == "." else inside
        raise BadRequestError(f"path={str(path)!r} lies outside the project; give a path inside {self.root}.")

    def _scan_targets(self, targets: Sequence[str]) -> _TreeScan:
        """Find the files to index among some files and folders; the empty path is the whole project."""
        look = _TreeScan(targets=frozenset(targets))
        exclude, max_bytes = self._settings.exclude, self._settings.max_file_bytes
        folders = {target for target in targets if os.path.isdir(self.root / target)}
        # One after the other: what goes away meanwhile is gone, not unreadable.
        files = (target for target in targets if target not in folders and not is_gone(self.root / target))
        for found in check_files(self.root, files, exclude=exclude, max_bytes=max_bytes):
            look.add_entry(found)
        if folders:
            for found in walk_tree(self.root, exclude=exclude, max_bytes=max_bytes):
                if _is_under_any(found.path, folders):
                    look.add_entry(found)
        return look

    # -- what is stored ----------------------------------------------------------------------------------------------

    def _bring_up_to_date(
        self, look: _TreeScan, started: float, progress: Progress | None = None, *, with_history: bool = False
    ) -> IndexReport:
        scope_key, tell = self._scope_key(), progress or _report_nothing
        writer = FileWriter(self._store, self._project.id, scope_key, self._clock)
        known_before = bool(self._store.files.list_files(scope_key))
        if "" in look.targets and not self._store.files.is_indexed_root(self._project.id, str(self._project.root)):
            with self._store.transaction():
                self._store.files.set_indexed_root(self._project.id, str(self._project.root))
        with borrow_parser(self._make_limits()) as parser:
            run = IndexRun(
                self._store,
                self.root,
                scope_key,
                writer,
                parser,
                self._clock,
                self._cancelled,
                max_bytes=self._settings.max_file_bytes,
                is_shown=self._store.files.is_indexed_root(self._project.id, str(self._project.root)),
                former=self._former,
            )
            run.run(look.present, look.covers, tell, told=look.targets)
        read = len(look.present)
        if writer.tally.changed or writer.tally.removed or writer.appeared:
            with self._store.transaction():
                followed = follow_renames(self._store, scope_key, writer.appeared) if known_before else 0
                if writer.tally.changed or writer.tally.removed or followed:
                    self._store.openings.drop_openings(scope_key)
        if writer.tally.added or writer.tally.changed:
            anchor_pending(self._store, scope_key, now=self._clock())
        if writer.appeared and known_before:
            queue_readers(self._store, scope_key, writer.appeared, self._clock)
        if with_history:
            tell(read, read, "git history")
        history = self._index_history(scope_key) if with_history and not self._cancelled() else CommitReport()
        files_waiting = self._count_unread_lines() if with_history and not self._cancelled() else 0
        tell(read, read, "what calls, tests and inherits what")
        link_queued(self._store, scope_key, self._clock, cancelled=self._cancelled)
        skipped = [*run.skipped, *look.skipped]  # What failed comes first: few lines are read.
        if history.problem:
            skipped.insert(0, SkippedFile(path=".git", reason=history.problem))
        files = self._store.files.list_files(scope_key)
        return IndexReport(
            files=len(look.present),
            chunks=self._store.files.count_chunks(files[path].key for path in look.present if path in files),
            added=writer.tally.added,
            changed=writer.tally.changed,
            moved=writer.tally.moved,
            removed=writer.tally.removed,
            unchanged_files=run.unchanged,
            commits=history.added,
            commits_waiting=history.waiting,
            files_waiting=files_waiting,
            skipped=_limit_skipped(skipped, MAX_SKIPPED),
            seconds=round(time.perf_counter() - started, 3),
            set_aside=sum(self._store.set_aside.count_by_kind(scope_key).values()),
        )

    def _make_limits(self) -> ParserLimits:
        return ParserLimits(seconds=self._settings.parse_seconds, memory=self._settings.parse_memory_mb * 1_000_000)

    def _index_history(self, scope_key: int) -> CommitReport:
        # A fresh one: older commits are joined to the symbols as they are now.
        self._commits = self._make_commit_indexer(scope_key)
        return self._commits.run()

    def _make_commit_indexer(self, scope_key: int) -> CommitIndexer:
        return CommitIndexer(
            self._store,
            self._project,
            scope_key,
            self._clock,
            wanted=self._settings.history_commits,
            cancelled=self._cancelled,
        )

    def _count_unread_lines(self) -> int:
        # A fresh one: files are another now.
        self._authorship = self._make_line_authorship()
        return self._authorship.count_waiting()

    def _make_line_authorship(self) -> LineAuthorship:
        return LineAuthorship(self._store, self._project, self._scope_key(), cancelled=self._cancelled)

    def _scope_key(self) -> int:
        known = self._store.scopes.find_key(self._project.id)
        if known is not None:
            return known
        project = self._project
        with self._store.transaction():
            return self._store.scopes.ensure_scope(
                project.id,
                now=self._clock(),
                name=project.name,
                root=str(project.root),
                remote=project.remote,
                root_commit=project.root_commit,
            )


@dataclass(slots=True)
class _TreeScan:
    """What a look at the tree found: the files to index, what was skipped, and what could not be looked at."""

    targets: frozenset[str] = frozenset()
    present: dict[str, FileStamp] = field(default_factory=dict)
    skipped: list[SkippedFile] = field(default_factory=list)
    unreadable: set[str] = field(default_factory=set)

    def add_entry(self, found: IndexableFile | SkippedFile) -> None:
        """Note one file or folder."""
        if isinstance(found, IndexableFile):
            self.present[found.path] = FileStamp(found.size, found.mtime_ns)
            return
        self.skipped.append(found)
        if found.reason.startswith(UNREADABLE):
            self.unreadable.add("" if found.path == "./" else found.path.rstrip("/"))

    def covers(self, path: str) -> bool:
        """Whether a stored file that was not found is gone, or not indexed any more."""
        return _is_under_any(path, self.targets) and not _is_under_any(path, self.unreadable)


def _make_history_report(history: CommitReport, started: float, *, files_waiting: int) -> IndexReport:
    return IndexReport(
        files=0,
        chunks=0,
        added=0,
        changed=0,
        moved=0,
        removed=0,
        unchanged_files=0,
        commits=history.added,
        commits_waiting=history.waiting,
        files_waiting=files_waiting,
        skipped=(SkippedFile(path=".git", reason=history.problem),) if history.problem else (),
        seconds=round(time.perf_counter() - started, 3),
    )


def _is_under_any(path: str, targets: Collection[str]) -> bool:
    """Whether a path is one of some others or lies in one; the empty one has them all."""
    while path and path not in targets:
        path = path.rpartition("/")[0]
    return path in targets


def _limit_skipped(skipped: Sequence[SkippedFile], limit: int) -> tuple[SkippedFile, ...]:
    if len(skipped) <= limit:
        return tuple(skipped)
    return (*skipped[:limit], SkippedFile(path="…", reason=f"and {len(skipped) - limit} more"))


def _report_nothing(done: int, total: int, what: str) -> None:
    """Take no notice of progress."""
