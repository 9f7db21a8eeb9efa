"""Index run: compares files with what is stored, writes what changed, follows what moved, forgets what is gone.

Files are read and cut ahead of the one that is being written, in a separate process (`parsing`). One that cannot be cut
or written is set aside with the reason, and skipped until it or the program changes.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.indexing.file_reader import FileOnDisk, FreshFile, fresh_file_uncut, read_file
from hyperloci.indexing.file_work import WrittenFile
from hyperloci.indexing.file_writer import FileWriter, path_of
from hyperloci.indexing.forgotten_chunks import FILE_CHANGED
from hyperloci.indexing.loose_chunks import LooseChunks
from hyperloci.indexing.parsing.parser import FileParser, ParsingCancelledError
from hyperloci.indexing.renamed_files import FileStamp, FormerPaths, RenameFinder
from hyperloci.model.answers import Progress, SkippedFile
from hyperloci.model.kinds import NodeKey
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.projects.files import IndexedFile, StoredChunk
from hyperloci.store.projects.set_aside import describe_failure, is_fault_of_content
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.file_kinds import largest_size
from hyperloci.text.sanitize.sanitizer import sanitize_name

WINDOW_FILES: Final = 64
"""Changed files that are read together, so that a function moved between two of them is seen to have moved."""

WINDOW_BYTES: Final = 4_000_000
"""The same in bytes, which bounds memory."""

NEW_FILES: Final = 16
"""New files that are written together."""

NEW_BYTES: Final = 200_000
"""The same in bytes: between them is asked whether the run was cancelled."""

FILES_AHEAD: Final = 32
"""Files that are read and being cut while an earlier one is written."""

BYTES_AHEAD: Final = 2_000_000
"""The same in bytes."""

SET_ASIDE: Final = "set aside: "
"""How the reason begins of a file that failed by itself."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _WindowItem:
    """A path of a window; its file as it was read, not cut yet, or None where there is nothing to write."""

    window: int
    path: str
    file: FreshFile | None = None
    data: bytes = field(default=b"", repr=False)


class IndexRun:
    """One run over some files of a project.

    Args:
        store: the open store; the run makes its own transactions.
        root: the project's root.
        scope_key: the project's scope.
        writer: writes the files.
        parser: cuts them.
        clock: tells the time.
        cancelled: asked between files; True ends the run early.
        max_bytes: a file that grew above this since it was seen is not read (a notebook: above ten times this).
        is_shown: whether the stored files are those of this root, not of another working tree.
        former: what files were called before, as earlier runs found it.
    """

    def __init__(
        self,
        store: Store,
        root: Path,
        scope_key: int,
        writer: FileWriter,
        parser: FileParser,
        clock: Clock,
        cancelled: Callable[[], bool],
        *,
        max_bytes: int | None = None,
        is_shown: bool = False,
        former: FormerPaths | None = None,
    ) -> None:
        self._store = store
        self._root = root
        self._scope_key = scope_key
        self._writer = writer
        self._parser = parser
        self._clock = clock
        self._cancelled = cancelled
        self._max_bytes = max_bytes
        self._is_shown = is_shown
        self._former = former or FormerPaths(clock)
        self._known: dict[str, IndexedFile] = {}
        self._set_aside = store.set_aside.get_standing(scope_key, SetAsideKind.FILE)
        self._ever_set_aside = store.set_aside.list_subjects(scope_key, SetAsideKind.FILE)
        self._failed: set[str] = set()
        self._stopped = False
        self._loose = LooseChunks(store)
        self._unsettled: list[WrittenFile] = []
        self._renamed: dict[str, IndexedFile] = {}
        self._stand_ins: set[int] = set()
        self.skipped: list[SkippedFile] = []
        self.unchanged = 0

    def run(
        self,
        present: Mapping[str, FileStamp],
        covers: Callable[[str], bool],
        progress: Progress,
        *,
        told: Collection[str] = (),
    ) -> None:
        """Bring what is stored in line with the files that are there.

        Args:
            present: the indexable files, by path.
            covers: whether a stored file that is not among them is gone (others were not looked at).
            progress: called after each file.
            told: files that were told to have changed; they are read though size and time are as before, as those of a
                file that a build gives a fixed time.
        """
        self._mark_outdated_files()
        known = self._known = self._store.files.list_files(self._scope_key)
        work = [path for path, seen in present.items() if path in told or not self._is_unchanged(path, seen)]
        gone = [row for path, row in known.items() if path not in present and covers(path)]
        new = [path for path in work if path not in known]
        present, returned = self._find_renames(gone, new, present, covers)
        work = list(dict.fromkeys((*work, *returned)))
        self.unchanged = len(present) - len(work)
        renamed = {row.key for row in self._renamed.values()}
        left = {row.key: row for row in gone if row.key not in renamed}
        for key, chunks in self._store.files.list_chunks(left.keys() - self._stand_ins).items():
            self._loose.add(key, chunks)
        # What can lose chunks comes first, so that every chunk that moved is known when new files are read.
        changed = sorted(path for path in work if path in known or path in self._renamed)
        added = sorted(path for path in work if path not in known and path not in self._renamed)
        windows = [*self._iter_windows(changed, present, WINDOW_FILES, WINDOW_BYTES)]
        first_new = len(windows)
        windows += self._iter_windows(added, present, NEW_FILES, NEW_BYTES)
        done = 0
        for number, items in itertools.groupby(self._parse_windows(windows), key=lambda item: item.window):
            files = [item.file for item in items if item.file is not None]
            if self._is_stopped():
                return
            if number < first_new:
                self._write_window(files)
            else:
                self._write_new(files)
            for path in windows[number]:
                done += 1
                progress(done, len(work), path)
        if self._is_stopped():
            return
        self._settle_files(left.values())
        self._clear_set_aside(path for path in self._ever_set_aside if path not in present and covers(path))

    def _mark_outdated_files(self) -> None:
        """Have the files written again of which another version of the program could not store a part."""
        outdated = self._store.set_aside.list_outdated_subjects(self._scope_key, SetAsideKind.CHUNK)
        if outdated:
            with self._store.transaction():
                for path in {path_of(subject) for subject in outdated}:
                    self._store.files.clear_stat(self._scope_key, path)

    def _is_stopped(self) -> bool:
        """Tell whether the run is to end: half a window would hide what moved."""
        self._stopped = self._stopped or self._cancelled()
        return self._stopped

    # -- which files -------------------------------------------------------------------------------------------------

    def _find_renames(
        self,
        gone: Sequence[IndexedFile],
        new: Sequence[str],
        present: Mapping[str, FileStamp],
        covers: Callable[[str], bool],
    ) -> tuple[Mapping[str, FileStamp], list[str]]:
        """Find out which files were renamed; return the files to look at, and those that are to be written besides.

        Those are stored as new ones, in the place of others that have come back now.
        """
        finder = RenameFinder(
            self._store, self._scope_key, self._root, self._known, self._former, self._read_file, self._clock()
        )
        self._renamed = finder.find_returned(gone, new, present)
        renamed = {row.key for row in self._renamed.values()}
        left = [row for row in gone if row.key not in renamed]
        self._renamed |= finder.find_told(left, [path for path in new if path not in self._renamed], present)
        if self._is_shown:
            others = [path for path in new if path not in self._renamed]
            self._renamed |= finder.find_untold(others, present, covers, self._is_stopped)
        self._stand_ins = finder.stand_ins
        self._former.note_renames({path: row.path for path, row in self._renamed.items()})
        returned = [path for path in self._renamed if path in self._known]
        stamps: dict[str, FileStamp] = {}
        for path in returned:
            row = self._known.pop(path)
            self._writer.remove(row, FILE_CHANGED)
            stamps[path] = FileStamp(row.size, row.mtime_ns)
        return {**stamps, **present} if stamps else present, returned

    def _iter_windows(
        self, paths: Iterable[str], present: Mapping[str, FileStamp], most_files: int, most_bytes: int
    ) -> Iterator[list[str]]:
        window: list[str] = []
        size = 0
        for path in paths:
            if window and (len(window) >= most_files or size + present[path].size > most_bytes):
                yield window
                window, size = [], 0
            window.append(path)
            size += present[path].size
        if window:
            yield window

    def _is_unchanged(self, path: str, seen: FileStamp) -> bool:
        row = self._known.get(path)
        return row is not None and (row.size, row.mtime_ns) == (seen.size, seen.mtime_ns)

    def _read_file(self, path: str) -> FileOnDisk | None:
        try:
            most = None if self._max_bytes is None else largest_size(path, self._max_bytes)
            return read_file(self._root / path, most)
        except FileNotFoundError:
            return None  # Gone since it was seen: an event or the next run will tell.
        except OSError as error:
            self.skipped.append(
                SkippedFile(path=sanitize_name(path), reason=f"cannot be read: {error.strerror or error}")
            )
            return None

    # -- reading ahead -----------------------------------------------------------------------------------------------

    def _parse_windows(self, windows: Sequence[Sequence[str]]) -> Iterator[_WindowItem]:
        """Yield every path in its order, with the file cut into chunks; the next ones are being cut meanwhile."""
        ahead: deque[_WindowItem] = deque()
        bytes_ahead = 0
        for item in self._iter_items(windows):
            if item.file is not None:
                self._parser.submit(item.path, item.data)
            ahead.append(item)
            bytes_ahead += len(item.data)
            while ahead and (len(ahead) > FILES_AHEAD or bytes_ahead > BYTES_AHEAD or ahead[0].file is None):
                first = ahead.popleft()
                bytes_ahead -= len(first.data)
                yield self._parse_item(first)
        while ahead:
            yield self._parse_item(ahead.popleft())

    def _iter_items(self, windows: Sequence[Sequence[str]]) -> Iterator[_WindowItem]:
        for number, window in enumerate(windows):
            for path in window:
                if self._is_stopped():
                    return
                raw = self._read_file(path)
                yield _WindowItem(number, path) if raw is None else self._make_item(number, path, raw)

    def _make_item(self, number: int, path: str, raw: FileOnDisk) -> _WindowItem:
        file = fresh_file_uncut(path, raw, self._clock)
        row = self._known.get(path)
        if row is not None and row.content_hash == file.content_hash:
            self._writer.update_stamp(row, raw)
            self.unchanged += 1
            return _WindowItem(number, path)
        failed = self._set_aside.get(path)
        if failed is not None and failed.content == file.content_hash.hex():
            self.skipped.append(SkippedFile(path=path, reason=SET_ASIDE + failed.reason))
            return _WindowItem(number, path)
        return _WindowItem(number, path, file, raw.data)

    def _parse_item(self, item: _WindowItem) -> _WindowItem:
        if item.file is None or self._stopped:
            return _WindowItem(item.window, item.path)
        try:
            parsed = self._parser.wait_for_answer(self._cancelled)
        except ParsingCancelledError:
            self._stopped = True
            return _WindowItem(item.window, item.path)
        if parsed.failure is not None:
            self._set_file_aside(item.file, parsed.failure)
            return _WindowItem(item.window, item.path)
        return _WindowItem(item.window, item.path, replace(item.file, chunks=parsed.chunks))

    # -- what fails by itself ----------------------------------------------------------------------------------------

    def _set_file_aside(self, file: FreshFile, reason: str) -> None:
        _log.warning("%s is set aside: it %s", file.path, reason)
        self.skipped.append(SkippedFile(path=file.path, reason=SET_ASIDE + reason))
        with self._store.transaction():
            self._store.set_aside.add_failure(
                self._scope_key,
                SetAsideKind.FILE,
                file.path,
                reason,
                now=self._clock(),
                content=file.content_hash.hex(),
            )

    @contextlib.contextmanager
    def _set_aside_on_failure(self, file: FreshFile) -> Iterator[None]:
        """Run the block for one file: what fails by its fault sets it aside, and the others go on."""
        try:
            yield
        except Exception as error:
            if not is_fault_of_content(error):
                raise
            _log.debug("%s", file.path, exc_info=True)
            self._failed.add(file.path)
            self._set_file_aside(file, describe_failure(error))

    def _clear_set_aside(self, paths: Iterable[str]) -> None:
        """Note that files are gone or work again."""
        if found := list(paths):
            with self._store.transaction():
                self._store.set_aside.clear_subjects(self._scope_key, SetAsideKind.FILE, found)

    # -- a window of files -------------------------------------------------------------------------------------------

    def _write_window(self, files: Sequence[FreshFile]) -> None:
        arrivals = self._try_find_arrivals(files)
        arrived: set[NodeKey] = set()
        for i, file in enumerate(files):
            written = None
            with self._set_aside_on_failure(file):
                written = self._writer.write(file, arrivals=arrivals.get(i), renamed_from=self._renamed.get(file.path))
            if file.path in self._failed:
                continue
            if file.path in self._ever_set_aside:
                self._clear_set_aside([file.path])
            if written is None:
                self.unchanged += 1
                continue
            arrived |= written.arrived
            if written.gone:
                self._unsettled.append(written)
                self._loose.add(written.file_key, written.gone)
        self._loose.drop_arrived(arrived)

    def _write_new(self, files: Sequence[FreshFile]) -> None:
        """Write files that are new, together unless one of their chunks may have been another file's."""
        stored = 0 if self._loose else self._writer.write_new(files)
        if not self._ever_set_aside.isdisjoint(file.path for file in files[:stored]):
            self._clear_set_aside(file.path for file in files[:stored])
        for file in files[stored:]:
            self._write_window([file])

    def _try_find_arrivals(self, files: Sequence[FreshFile]) -> dict[int, dict[int, StoredChunk]]:
        """Find chunks that come from other files; where that fails, they are new here and forgotten there."""
        try:
            rows = [self._known.get(file.path) or self._renamed.get(file.path) for file in files]
            return self._loose.find_arrivals(files, rows)
        except Exception as error:
            if not is_fault_of_content(error):
                raise
            _log.warning("could not follow chunks that moved between files: %s", describe_failure(error))
            return {}

    # -- what is left ------------------------------------------------------------------------------------------------

    def _settle_files(self, gone: Iterable[IndexedFile]) -> None:
        left = self._loose.group_by_file()
        for written in self._unsettled:
            with self._set_aside_on_failure(written.file):
                self._writer.forget_gone(written, left.get(written.file_key, ()))
        for row in gone:
            self._writer.remove(self._give_former_path(row))

    def _give_former_path(self, row: IndexedFile) -> IndexedFile:
        """Return a file that goes, under the path that it had before its side name, where it may be made anew."""
        path, files = self._former.find(row.path), self._store.files
        if path is None:
            return row
        with self._store.transaction():
            is_free = files.get_file(self._scope_key, path) is None
            if not is_free or files.get_file(self._scope_key, row.path) != row:
                return row
            files.rename_file(row.key, path)
        return replace(row, path=path)
