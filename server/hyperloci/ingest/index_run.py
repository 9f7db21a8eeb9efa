"""One run over files: compare them with what is stored, write what changed, follow what moved, forget what is gone."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.ingest.boundary import safe_name
from hyperloci.ingest.matching import match_file, match_moves
from hyperloci.ingest.reading import FreshChunk, FreshFile, RawFile, hash_of, make_fresh, read_raw
from hyperloci.ingest.writing import FileWriter, Written
from hyperloci.model.answers import Skipped
from hyperloci.store import Store
from hyperloci.store.files import IndexedFile, StoredChunk

Progress = Callable[[int, int, str], None]
"""Called with (done, total, what is being done)."""

WINDOW_FILES: Final = 64
"""Changed files that are read together, so that a function moved between two of them is seen to have moved."""

WINDOW_BYTES: Final = 4_000_000
"""The same in bytes, which bounds memory."""

MOVED_LIKENESS: Final = 0.5
"""Share of words that a chunk that moved and changed must keep to be the same one."""

_log = logging.getLogger(__name__)

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Seen:
    """A file's size and time, as the walk over the tree saw them."""

    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class _Loose:
    """A chunk that its file no longer has; it may turn up in another."""

    chunk: StoredChunk
    file_key: int


@dataclass(frozen=True, slots=True)
class _Appeared:
    """A chunk that its file did not have before: the file's place in its window, and the chunk's in the file."""

    file: int
    index: int


class IndexRun:
    """One run over some files of a project.

    Args:
        store: the open store; the run makes its own transactions.
        root: the project's root.
        scope_key: the project's scope.
        writer: writes the files.
        clock: tells the time.
        cancelled: asked between files; True ends the run early.
    """

    def __init__(
        self,
        store: Store,
        root: Path,
        scope_key: int,
        writer: FileWriter,
        clock: Clock,
        cancelled: Callable[[], bool],
    ) -> None:
        self._store = store
        self._root = root
        self._scope_key = scope_key
        self._writer = writer
        self._clock = clock
        self._cancelled = cancelled
        self._loose: list[_Loose] = []
        self._unsettled: list[Written] = []
        self._renamed: dict[str, IndexedFile] = {}
        self.skipped: list[Skipped] = []
        self.unchanged = 0

    def run(self, present: Mapping[str, Seen], covers: Callable[[str], bool], progress: Progress) -> None:
        """Bring what is stored in line with the files that are there.

        Args:
            present: the indexable files, by path.
            covers: whether a stored file that is not among them is gone (others were not looked at).
            progress: told after each file.
        """
        known = self._store.files.all(self._scope_key)
        work = [path for path, seen in present.items() if not _is_same(known.get(path), seen)]
        self.unchanged = len(present) - len(work)
        gone = [row for path, row in known.items() if path not in present and covers(path)]
        self._find_renames(gone, [path for path in work if path not in known], present)
        left = {row.key: row for row in gone if row not in self._renamed.values()}
        for key, chunks in self._store.files.chunks(left).items():
            self._loose.extend(_Loose(chunk, key) for chunk in chunks)
        # What can lose chunks comes first, so that every chunk that moved is known when new files are read.
        changed = sorted(path for path in work if path in known or path in self._renamed)
        added = sorted(path for path in work if path not in known and path not in self._renamed)
        done = 0
        for window in [*self._windows(changed, present), *([path] for path in added)]:
            if self._cancelled():
                return
            self._write_window(window, known)
            done += len(window)
            progress(done, len(work), window[-1])
        self._settle(left.values())

    # -- which files -------------------------------------------------------------------------------------------------

    def _find_renames(self, gone: Sequence[IndexedFile], added: Sequence[str], present: Mapping[str, Seen]) -> None:
        """Find files that are gone here and there with the same content elsewhere: they were renamed."""
        by_hash: dict[bytes, list[IndexedFile]] = {}
        for row in gone:
            by_hash.setdefault(row.content_hash, []).append(row)
        sizes = {row.size for row in gone}
        for path in added:
            if present[path].size in sizes and (raw := self._read(path)):
                rows = by_hash.get(hash_of(raw.data))
                if rows:
                    self._renamed[path] = rows.pop(0)

    def _windows(self, paths: Iterable[str], present: Mapping[str, Seen]) -> Iterator[list[str]]:
        window: list[str] = []
        size = 0
        for path in paths:
            if window and (len(window) >= WINDOW_FILES or size + present[path].size > WINDOW_BYTES):
                yield window
                window, size = [], 0
            window.append(path)
            size += present[path].size
        if window:
            yield window

    def _read(self, path: str) -> RawFile | None:
        try:
            return read_raw(self._root / path)
        except FileNotFoundError:
            return None  # Gone since it was seen: an event or the next run will tell.
        except OSError as error:
            self.skipped.append(Skipped(path=safe_name(path), reason=f"cannot be read: {error.strerror or error}"))
            return None

    # -- a window of files -------------------------------------------------------------------------------------------

    def _write_window(self, paths: Sequence[str], known: Mapping[str, IndexedFile]) -> None:
        files = self._read_window(paths, known)
        if files is None:
            return
        arrivals = self._arrivals(files, known)
        arrived: set[int] = set()
        for i, file in enumerate(files):
            written = self._writer.write(file, arrivals=arrivals.get(i), renamed_from=self._renamed.get(file.path))
            if written is None:
                self.unchanged += 1
                continue
            arrived |= written.arrived
            if written.gone:
                self._unsettled.append(written)
                self._loose.extend(_Loose(chunk, written.file_key) for chunk in written.gone)
        self._loose = [loose for loose in self._loose if loose.chunk.node_key not in arrived]

    def _read_window(self, paths: Sequence[str], known: Mapping[str, IndexedFile]) -> list[FreshFile] | None:
        """Read the files of a window; None if the run was cancelled meanwhile: half a window hides what moved."""
        files: list[FreshFile] = []
        for path in paths:
            if self._cancelled():
                return None
            raw = self._read(path)
            if raw is None:
                continue
            row = known.get(path)
            if row is not None and row.content_hash == hash_of(raw.data):
                self._writer.touch(row, raw)
                self.unchanged += 1
            elif (file := self._make(path, raw)) is not None:
                files.append(file)
        return files

    def _make(self, path: str, raw: RawFile) -> FreshFile | None:
        try:
            return make_fresh(path, raw, self._clock)
        except Exception as error:  # One file that no chunker foresaw must not keep all others out.
            _log.exception("%s cannot be indexed", path)
            self.skipped.append(Skipped(path=safe_name(path), reason=f"cannot be indexed: {type(error).__name__}"))
            return None

    def _arrivals(
        self, files: Sequence[FreshFile], known: Mapping[str, IndexedFile]
    ) -> dict[int, dict[int, StoredChunk]]:
        """Find chunks that come from other files: for each file, by the index of the chunk, the snippet it was."""
        rows = [known.get(file.path) or self._renamed.get(file.path) for file in files]
        stored = self._store.files.chunks([row.key for row in rows if row is not None])
        gone = [loose.chunk for loose in self._loose]
        appeared: list[_Appeared] = []
        for i, (file, row) in enumerate(zip(files, rows, strict=True)):
            old = stored.get(row.key, []) if row is not None else []
            matching = match_file(old, file.chunks)
            gone.extend(old[place] for place in matching.gone)
            appeared.extend(_Appeared(i, place) for place in matching.fresh)
        fresh = [files[chunk.file].chunks[chunk.index] for chunk in appeared]
        found: dict[int, dict[int, StoredChunk]] = {}
        for before, after in match_moves(gone, fresh, lambda i, j: self._is_alike(gone[i], fresh[j])):
            found.setdefault(appeared[after].file, {})[appeared[after].index] = gone[before]
        return found

    def _is_alike(self, stored: StoredChunk, fresh: FreshChunk) -> bool:
        node = self._store.nodes.by_key(stored.node_key)
        before, after = _words(node.content if node else ""), _words(fresh.chunk.text)
        return len(before & after) >= MOVED_LIKENESS * len(before | after)

    # -- what is left ------------------------------------------------------------------------------------------------

    def _settle(self, gone: Iterable[IndexedFile]) -> None:
        by_home: dict[int, list[StoredChunk]] = {}
        for loose in self._loose:
            by_home.setdefault(loose.file_key, []).append(loose.chunk)
        for written in self._unsettled:
            self._writer.settle(written, by_home.get(written.file_key, ()))
        for row in gone:
            self._writer.remove(row)


def _is_same(row: IndexedFile | None, seen: Seen) -> bool:
    return row is not None and (row.size, row.mtime_ns) == (seen.size, seen.mtime_ns)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text))
