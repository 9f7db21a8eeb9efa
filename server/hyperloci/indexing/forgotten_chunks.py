"""Forgotten chunks: which snippets that indexing forgot are back, with their ids and all that is tied to them.

A text that was forgotten with a file comes back wherever it turns up again. A file that is deleted and made anew under
its path soon after is that file, changed: each of its snippets is the one that it would be had nobody looked meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hyperloci.indexing.chunk_matching import match_file
from hyperloci.indexing.file_reader import FreshFile
from hyperloci.store import Store
from hyperloci.store.projects.files import IndexedFile, StoredChunk
from hyperloci.system.values import dataclass

FILE_CHANGED: Final = "file changed"
FILE_DELETED: Final = "file deleted"
OUR_REASONS: Final = frozenset({FILE_CHANGED, FILE_DELETED})
"""Why indexing forgets snippets. One forgotten for any other reason was forgotten on request."""

SOON_MS: Final = 3_600_000
"""How long a path is waited for: a build that deletes its output and makes it anew takes minutes."""


@dataclass(frozen=True, slots=True)
class ReturningChunks:
    """What becomes of a file's new chunks, by index.

    `refused`: somebody forgot this very snippet, or one of this file that holds all of it; it stays forgotten until its
    text changes, however the file is cut. `same`: the forgotten node that has its text. `changed`: the forgotten chunk
    that it was, in this file, before it changed.
    """

    refused: frozenset[int]
    same: Mapping[int, str]
    changed: Mapping[int, StoredChunk]


def find_returning(
    store: Store, scope_key: int, file: FreshFile, indexes: Iterable[int], *, is_new: bool, now: int
) -> ReturningChunks:
    """Find what some new chunks of a file were before they were forgotten.

    Args:
        store: the open store.
        scope_key: the project's scope.
        file: the file as it is.
        indexes: the chunks that no stored one is.
        is_new: whether the file is not stored, so that it may be one that was deleted.
        now: the time, in milliseconds.
    """
    wanted = list(indexes)
    forgotten = store.files.find_forgotten_chunks(scope_key, list({file.chunks[j].content_hash for j in wanted}))
    unwanted = store.files.list_texts_forgotten_at(scope_key, file.path, but_for=OUR_REASONS)
    was = _match_deleted(store, scope_key, file, now) if is_new else {}
    refused: set[int] = set()
    same: dict[int, str] = {}
    changed: dict[int, StoredChunk] = {}
    used = {chunk.node_id for chunk in was.values()}
    for j in wanted:
        new = file.chunks[j]
        alike = [chunk for chunk in forgotten if chunk.content_hash == new.content_hash]
        here = [chunk for chunk in alike if (chunk.path, chunk.symbol) == (file.path, new.symbol)]
        if any(chunk.reason not in OUR_REASONS for chunk in here) or any(
            new.chunk.text.strip() in it for it in unwanted
        ):
            refused.add(j)
        elif j in was and was[j].content_hash == new.content_hash:
            same[j] = was[j].node_id
        elif j in was:
            changed[j] = was[j]
        else:
            free = (chunk for chunk in (*here, *alike) if chunk.node_id not in used and chunk.reason in OUR_REASONS)
            if (back := next(free, None)) is not None:
                used.add(back.node_id)
                same[j] = back.node_id
    return ReturningChunks(frozenset(refused), same, changed)


def _match_deleted(store: Store, scope_key: int, file: FreshFile, now: int) -> dict[int, StoredChunk]:
    """Return what each chunk of a file was, by its index, where one was deleted at its path just before."""
    old = _list_deleted(store, scope_key, file.path, now)
    return {j: old[i] for i, j in match_file(old, file.chunks).pairs} if old else {}


def is_deleted_just_before(store: Store, scope_key: int, path: str, *, now: int) -> bool:
    """Tell whether a file that is not there was deleted at a path so short ago that it may be made anew."""
    return bool(_list_deleted(store, scope_key, path, now))


def is_young(store: Store, scope_key: int, row: IndexedFile, *, now: int) -> bool:
    """Tell whether nothing of a file was known long ago: as of a copy that is to take another's place.

    Of a project that was first indexed just now that can't be told.
    """
    if not store.files.was_indexed_before(scope_key, now - SOON_MS):
        return False
    chunks = store.files.list_chunks([row.key]).get(row.key, [])
    nodes = store.nodes.get_by_keys([chunk.node_key for chunk in chunks])
    return all(now - node.created_at <= SOON_MS for node in nodes.values())


def _list_deleted(store: Store, scope_key: int, path: str, now: int) -> list[StoredChunk]:
    return store.files.list_forgotten_at(scope_key, path, reason=FILE_DELETED, since=now - SOON_MS)
