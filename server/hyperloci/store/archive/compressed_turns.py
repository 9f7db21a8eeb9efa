"""Compressed turns: reads the texts of packed turns inside SQL, so that queries on nodes need not know (C.07).

A turn of a warm or cold chunk keeps the beginning of its text in `nodes`; the whole of it lies in the chunk's CTF, or
in the archive. `WHOLE_TEXT` is the SQL expression for the text as it was said; `JOIN_PACKED` belongs behind `FROM nodes
n`.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.errors import HyperlociError, NotFoundError

if TYPE_CHECKING:
    from hyperloci.model.pyramid import ArchivePlace

logger = logging.getLogger(__name__)

JOIN_PACKED: Final = (
    " LEFT JOIN chunk_turns packed ON packed.node_key = n.key AND packed.packed = 1"
    " LEFT JOIN chunks chunk ON chunk.key = packed.chunk_key"
)
WHOLE_TEXT: Final = (
    "CASE WHEN packed.node_key IS NULL THEN n.content ELSE coalesce(packed_text(chunk.id, length(chunk.ctf),"
    " chunk.archive_day, chunk.archive_offset, chunk.archive_length, packed.place), n.content) END"
)
"""The bytes themselves are asked for once a chunk: a search looks at some hundred turns."""

MAX_KEPT_CHUNKS: Final = 512
"""Unpacked chunks kept by a connection, ten turns each; unpacking one takes 0.1 ms."""

WARM_LEVEL: Final = 9
"""Of zstd for a warm chunk: within 2 % of 19, at a tenth of the time."""


def register_functions(connection: sqlite3.Connection, database: Path) -> None:
    """Add the SQL function `packed_text(chunk, ctf_length, day, offset, length, place)`; NULL: the text is gone."""

    @functools.lru_cache(maxsize=MAX_KEPT_CHUNKS)
    def texts(chunk_id: str, ctf_length: int | None, place: ArchivePlace | None) -> Sequence[str | None]:
        # The content of a place in a chunk never changes, except for purged turns, which are never requested again.
        if ctf_length is None:
            return () if place is None else _read_archived(database, place, chunk_id)
        row = connection.execute("SELECT ctf FROM chunks WHERE id = ?", (chunk_id,)).fetchone()
        return tuple(turn.text for turn in unpack_turns(row[0]))

    def packed_text(
        chunk_id: str, ctf_length: int | None, day: str | None, offset: int, length: int, place: int
    ) -> str | None:
        try:
            return texts(chunk_id, ctf_length, None if day is None else _archive_place(day, offset, length))[place]
        except (HyperlociError, ValueError, IndexError) as error:
            # One damaged chunk must not fail every search; `expand_chunk` and the health checks tell of it.
            logger.warning("the text of a packed turn can't be read: %s", error)
            return None

    connection.create_function("packed_text", 6, packed_text)


@contextlib.contextmanager
def uncomplaining() -> Iterator[None]:
    """Warn of no text that can't be read: where they are counted, a missing archive would tell of thousands."""
    logger.disabled = True
    try:
        yield
    finally:
        logger.disabled = False


def _archive_place(day: str, offset: int, length: int) -> ArchivePlace:
    from hyperloci.model.pyramid import ArchivePlace

    return ArchivePlace(day, offset, length)


def _read_archived(database: Path, place: ArchivePlace, chunk_id: str) -> Sequence[str | None]:
    from hyperloci.store.archive.chunk_archive import Archive

    line = Archive.for_database(database).read_line(place)
    if line.get("chunk") != chunk_id:
        # The database came from another machine, and this one has archived other turns at the same place that day.
        raise NotFoundError(f"The archive of {place.day} here has another chunk than {chunk_id}.")
    return tuple(None if turn is None else turn["text"] for turn in line["turns"])


def pack_turns(turns: Sequence[Any]) -> bytes:
    """Return turns (`model.turn.Turn`) as the bytes of a warm chunk: CTF v1 under zstd."""
    from hyperloci.model import compact_turn_format
    from hyperloci.store.archive.chunk_archive import compress_frame

    text = compact_turn_format.encode_turns(turns, ("role", "kind", "time", "path", "content"))
    return compress_frame(text.encode("utf-8", "surrogatepass"), WARM_LEVEL)


def unpack_turns(data: bytes) -> Sequence[Any]:
    """Return the turns of a warm chunk.

    Raises:
        BadRequestError, ValueError: the bytes are damaged.
    """
    from hyperloci.model import compact_turn_format
    from hyperloci.store.archive.chunk_archive import decompress_frame

    return compact_turn_format.decode_turns(decompress_frame(data).decode("utf-8", "surrogatepass"))
