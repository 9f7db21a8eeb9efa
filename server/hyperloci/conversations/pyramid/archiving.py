"""Archiving: moves the texts of cold chunks into the archive, and deletes expired archives (C.01, C.07).

Texts are appended, synced and read back inside the transaction that drops them from the database: a turn that is purged
meanwhile waits for the lock, and finds them where they are. A process that dies before the transaction is done leaves
a chunk in the archive that the database does not know; it is archived again.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock, to_iso
from hyperloci.config import Settings
from hyperloci.conversations.pyramid.chunk_turns import describe_range, load_turns, log_chunks
from hyperloci.errors import StoreCorruptError
from hyperloci.model.node import Node
from hyperloci.model.pyramid import ChunkStage, PyramidChunk
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.store.conversations.chunks import PyramidProgress
from hyperloci.store.memories.node_rows import hash_content
from hyperloci.system.values import dataclass

ARCHIVE_BATCH: Final = 10
"""Micro-chunks archived in one transaction: those of a macro."""


@dataclass(frozen=True, slots=True)
class TurnArchiver:
    """The archive of one store; `yield_to_others` is called between transactions."""

    store: Store
    settings: Settings
    clock: Clock
    yield_to_others: Callable[[], None] = lambda: None

    def archive_chunks(self, progress: PyramidProgress) -> int:
        """Move the texts of micro-chunks under a macro-chunk into the archive (warm to cold)."""
        if not progress.unfrozen:
            return 0
        warm = [
            chunk
            for chunk in self.store.chunks.list_of_session(progress.session_key, PyramidLevel.MICRO)
            if chunk.stage is ChunkStage.WARM and chunk.last_seq < progress.macro
        ]
        for start in range(0, len(warm), ARCHIVE_BATCH):
            self._archive_batch(warm[start : start + ARCHIVE_BATCH])
            self.yield_to_others()
        return len(warm)

    def _archive_batch(self, chunks: Sequence[PyramidChunk]) -> None:
        with self.store.transaction():
            if self.settings.archive_cold_content:
                day = name_day(self.clock())
                places = Archive.for_database(self.store.path).append_lines(
                    day,
                    [self._archive_line(chunk) for chunk in chunks],
                    known_end=self.store.chunks.get_archive_end(day),
                )
                for chunk, place in zip(chunks, places, strict=True):
                    self.store.chunks.move_to_archive(chunk, place)
            else:
                for chunk in chunks:
                    self.store.chunks.set_stage(chunk, ChunkStage.COLD)
            log_chunks(
                self.store,
                "demote",
                chunks,
                f"{ChunkStage.WARM} to {ChunkStage.COLD}: {', '.join(map(describe_range, chunks))}",
                now=self.clock(),
            )

    def _archive_line(self, chunk: PyramidChunk) -> dict[str, object]:
        """Return what is archived of a chunk: its turns by their places, each compared with its hash.

        Raises:
            StoreCorruptError: a turn's text isn't what was said; nothing is moved then.
        """
        places = self.store.chunks.get_turn_places(chunk)
        hashes = self.store.chunks.get_content_hashes(chunk)
        nodes = {places[turn.key]: turn for turn in load_turns(self.store, chunk) if turn.key in places}
        paths = self.store.chunks.get_paths(places)
        for turn in nodes.values():
            if hash_content(turn.content) != hashes[turn.key]:
                raise StoreCorruptError(
                    f"The text of turn {turn.id} does not match its hash: chunk {chunk.id} is not archived."
                )
        turns = [nodes.get(place) for place in range(max(nodes, default=-1) + 1)]
        return {
            "chunk": chunk.id,
            "session": chunk.session_id,
            "level": chunk.level.value,
            "turns": [None if turn is None else _archived_turn(turn, paths.get(turn.key)) for turn in turns],
        }

    def expire_archives(self, now: int) -> int:
        """Delete the archive files that are older than their time and return how many chunks lost their texts.

        Summaries, key facts, vectors, keywords and the beginnings of the turns stay.
        """
        archive = Archive.for_database(self.store.path)
        if not self.settings.cold_retention_days:
            return 0
        limit = name_day(now - self.settings.cold_retention_days * MS_PER_DAY)
        lost = 0
        # A backup that was put back may know of days whose files are gone.
        days = sorted({*archive.list_days(), *self.store.chunks.list_archived_days()})
        for day in [day for day in days if day < limit]:
            with self.store.transaction():
                gone = self.store.chunks.list_archived_until(day)
                self.store.chunks.expire_archives(day)
                log_chunks(
                    self.store,
                    "expire",
                    gone,
                    f"archived on {day}, kept {self.settings.cold_retention_days} days",
                    now=self.clock(),
                )
            archive.drop_day(day)
            lost += len(gone)
            self.yield_to_others()
        return lost


def name_day(now: int) -> str:
    """Return the day of a time in milliseconds, UTC: an archive may be read in any time zone."""
    return dt.date.fromisoformat(to_iso(now)[:10]).isoformat()


def _archived_turn(turn: Node, path: str | None) -> dict[str, object]:
    return {
        "id": turn.id,
        "role": turn.metadata.get("role"),
        "kind": "action" if turn.subtype == "action" else "text",
        "at": turn.event_time,
        "path": path,
        "text": turn.content,
    }
