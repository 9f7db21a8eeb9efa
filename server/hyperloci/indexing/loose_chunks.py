"""Loose chunks: those that their files no longer have, until they turn up in another file or are forgotten."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from hyperloci.indexing.chunk_matching import match_file, match_moves
from hyperloci.indexing.file_reader import FreshChunk, FreshFile
from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.projects.files import IndexedFile, StoredChunk
from hyperloci.system.values import dataclass

MOVED_LIKENESS: Final = 0.5
"""Share of words that a chunk that moved and changed must keep to be the same one."""

_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _LooseChunk:
    """A chunk that its file no longer has; it may turn up in another."""

    chunk: StoredChunk
    file_key: int


@dataclass(frozen=True, slots=True)
class _NewChunk:
    """A chunk that its file did not have before: the file's place in its window, and the chunk's in the file."""

    file: int
    index: int


class LooseChunks:
    """The chunks that files lost in one index run, and have not turned up yet."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._loose: list[_LooseChunk] = []

    def __bool__(self) -> bool:
        return bool(self._loose)

    def add(self, file_key: int, chunks: Iterable[StoredChunk]) -> None:
        """Take in what a file no longer has."""
        self._loose.extend(_LooseChunk(chunk, file_key) for chunk in chunks)

    def drop_arrived(self, node_keys: Collection[NodeKey]) -> None:
        """Leave out what turned up in another file."""
        self._loose = [loose for loose in self._loose if loose.chunk.node_key not in node_keys]

    def group_by_file(self) -> Mapping[int, Sequence[StoredChunk]]:
        """Return what did not turn up, by the key of the file that had it."""
        by_file: dict[int, list[StoredChunk]] = {}
        for loose in self._loose:
            by_file.setdefault(loose.file_key, []).append(loose.chunk)
        return by_file

    def find_arrivals(
        self, files: Sequence[FreshFile], rows: Sequence[IndexedFile | None]
    ) -> dict[int, dict[int, StoredChunk]]:
        """Find chunks that come from other files.

        Args:
            files: files that are about to be written.
            rows: what is stored of each; None of a new one.

        Returns:
            For each file, by the index of the chunk, the chunk that it was.
        """
        stored = self._store.files.list_chunks([row.key for row in rows if row is not None])
        gone = [loose.chunk for loose in self._loose]
        appeared: list[_NewChunk] = []
        for i, (file, row) in enumerate(zip(files, rows, strict=True)):
            old = stored.get(row.key, []) if row is not None else []
            matching = match_file(old, file.chunks)
            gone.extend(old[place] for place in matching.gone)
            appeared.extend(_NewChunk(i, place) for place in matching.fresh)
        fresh = [files[chunk.file].chunks[chunk.index] for chunk in appeared]
        found: dict[int, dict[int, StoredChunk]] = {}
        for before, after in match_moves(gone, fresh, lambda i, j: self._is_similar(gone[i], fresh[j])):
            found.setdefault(appeared[after].file, {})[appeared[after].index] = gone[before]
        return found

    def _is_similar(self, stored: StoredChunk, fresh: FreshChunk) -> bool:
        node = self._store.nodes.get_by_key(stored.node_key)
        before, after = _words_of_chunk(node.content if node else ""), _words_of_chunk(fresh.chunk.text)
        return len(before & after) >= MOVED_LIKENESS * len(before | after)


def _words_of_chunk(text: str) -> set[str]:
    return set(_WORD.findall(text))
