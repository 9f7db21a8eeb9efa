"""Renamed files: which new file had another name, so that it keeps its snippets with all that is tied to them.

A folder that is built anew is often moved aside until the new one stands (`mv gen old; make gen; rm -r old`). Where a
look at the tree falls between these steps, its files were renamed to the side name. Once that is gone, what was there
before is what is there again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.indexing.file_reader import FileOnDisk, hash_bytes
from hyperloci.indexing.forgotten_chunks import SOON_MS, is_deleted_just_before, is_young
from hyperloci.indexing.tree_walk import is_gone
from hyperloci.store import Store
from hyperloci.store.projects.files import IndexedFile
from hyperloci.system.values import dataclass

MOST_RENAMES: Final = 20_000
"""Renames that are kept in mind; beyond it the oldest are not."""


@dataclass(frozen=True, slots=True)
class FileStamp:
    """A file's size and time, as the walk over the tree saw them."""

    size: int
    mtime_ns: int


class FormerPaths:
    """Where files that were renamed of late lay before, for as long as a side name may live (`SOON_MS`)."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._former: dict[str, tuple[str, int]] = {}

    def note_renames(self, renamed: Mapping[str, str]) -> None:
        """Note new names with what they were before; of a file renamed twice, the first name counts."""
        first = {path: self.find(old) or old for path, old in renamed.items()}
        for path, old in renamed.items():
            self._former.pop(old, None)
            self._former.pop(path, None)
            if first[path] != path:
                self._former[path] = first[path], self._clock()
        for path in list(self._former)[: max(0, len(self._former) - MOST_RENAMES)]:
            del self._former[path]

    def find(self, path: str) -> str | None:
        """Return what a file's path was before it was renamed; None if it was not, or long ago."""
        former, at = self._former.get(path, (None, 0))
        return former if self._clock() - at <= SOON_MS else None


class RenameFinder:
    """Finds renames among the files of one index run.

    Args:
        store: the open store.
        scope_key: the project's scope.
        root: the project's root.
        known: the stored files by path.
        former: what files were called before.
        read: reads a file of the tree; None where that can't be.
        now: the time, in milliseconds.
    """

    def __init__(
        self,
        store: Store,
        scope_key: int,
        root: Path,
        known: Mapping[str, IndexedFile],
        former: FormerPaths,
        read: Callable[[str], FileOnDisk | None],
        now: int,
    ) -> None:
        self._store = store
        self._scope_key = scope_key
        self._root = root
        self._known = known
        self._former = former
        self._read = read
        self._now = now
        self.stand_ins: set[int] = set()
        """Keys of files that are gone and were made to take the place of others: nothing of them turns up elsewhere."""

    def find_returned(
        self, gone: Sequence[IndexedFile], new: Collection[str], present: Mapping[str, FileStamp]
    ) -> dict[str, IndexedFile]:
        """Find files that were only moved aside: their side name is gone, and a file is where they lay before.

        What is stored of that file by now must be young: its snippets are forgotten for the returned ones. And what
        was moved aside must not have gone on to another name, as where a stand-in for old callers was left behind.
        """
        by_size: dict[int, list[str]] = {}
        for path in new:
            by_size.setdefault(present[path].size, []).append(path)
        found: dict[str, IndexedFile] = {}
        for row in gone:
            former = self._former.find(row.path)
            if former is None or former in found:
                continue
            if former in new or (self._is_there(former) and not self._is_among(row, by_size.get(row.size, ()))):
                found[former] = row
        return found

    def _is_among(self, row: IndexedFile, paths: Sequence[str]) -> bool:
        files = map(self._read, paths)
        return any(file is not None and hash_bytes(file.data) == row.content_hash for file in files)

    def _is_there(self, path: str) -> bool:
        row = self._known.get(path)
        return (
            row is not None
            and not is_gone(self._root / path)
            and is_young(self._store, self._scope_key, row, now=self._now)
        )

    def find_told(
        self, gone: Sequence[IndexedFile], added: Sequence[str], present: Mapping[str, FileStamp]
    ) -> dict[str, IndexedFile]:
        """Find files that are gone here and there with the same content elsewhere: they were renamed.

        A young one is none where the path's own file was deleted just before: it was made to take its place.
        """
        found: dict[str, IndexedFile] = {}
        by_hash: dict[bytes, list[IndexedFile]] = {}
        for row in gone:
            by_hash.setdefault(row.content_hash, []).append(row)
        sizes = {row.size for row in gone}
        for path in added:
            if present[path].size in sizes and (raw := self._read(path)):
                rows = by_hash.get(hash_bytes(raw.data))
                if rows and (row := rows.pop(0)):
                    if self._takes_a_place(row, path):
                        self.stand_ins.add(row.key)
                    else:
                        found[path] = row
        return found

    def _takes_a_place(self, row: IndexedFile, path: str) -> bool:
        was_there = is_deleted_just_before(self._store, self._scope_key, path, now=self._now)
        return was_there and is_young(self._store, self._scope_key, row, now=self._now)

    def find_untold(
        self,
        added: Sequence[str],
        present: Mapping[str, FileStamp],
        covers: Callable[[str], bool],
        is_stopped: Callable[[], bool],
    ) -> dict[str, IndexedFile]:
        """Find new files that were renamed from one of which nobody has told yet that it is gone.

        A folder's watch may tell of what came into it half a second before another's tells of what left. What is a copy
        must not be taken for it: a renamed file keeps its time, and what it was is there no longer. Where another file
        has its content too, none is meant.
        """
        looked_at = self._known.items() if added else ()
        stamps = {(row.size, row.mtime_ns) for path, row in looked_at if row.size and not covers(path)}
        alike = [path for path in added if (present[path].size, present[path].mtime_ns) in stamps]
        by_hash: dict[bytes, list[IndexedFile]] = {}
        for row in self._known.values() if alike else ():
            by_hash.setdefault(row.content_hash, []).append(row)
        former: dict[str, list[str]] = {}
        for path in alike:
            if is_stopped():
                return {}
            raw = self._read(path)
            rows = [] if raw is None else by_hash.get(hash_bytes(raw.data), [])
            if raw is not None and len(rows) == 1 and rows[0].mtime_ns == raw.mtime_ns:
                former.setdefault(rows[0].path, []).append(path)
        return {
            names[0]: self._known[path]
            for path, names in former.items()
            if len(names) == 1 and not covers(path) and is_gone(self._root / path)
        }
