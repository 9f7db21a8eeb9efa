"""Reading the texts of packed turns, so transparently that whoever selects nodes needn't know of them (C.07).

A turn of a warm or cold chunk keeps the beginning of its text in `nodes`; the whole of it lies in the chunk's CTF, or
in the archive. `WHOLE` is the SQL expression for the text as it was said; `JOIN` belongs behind `FROM nodes n`.
"""

from __future__ import annotations

import functools
import logging
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import HyperlociError
from hyperloci.model.pyramid import ArchivePlace

logger = logging.getLogger(__name__)

JOIN: Final = (
    " LEFT JOIN chunk_turns packed ON packed.node_key = n.key AND packed.packed = 1"
    " LEFT JOIN chunks chunk ON chunk.key = packed.chunk_key"
)
WHOLE: Final = (
    "CASE WHEN packed.node_key IS NULL THEN n.content ELSE coalesce(packed_text(chunk.ctf, chunk.archive_day,"
    " chunk.archive_offset, chunk.archive_length, packed.place), n.content) END"
)

KEPT: Final = 256
"""Unpacked chunks kept: a search looks at turns of a hundred or two, 0.1 ms each."""

CTF_LEVEL: Final = 9
"""Of zstd for a warm chunk: within 2 % of 19, at a tenth of the time."""


def register(connection: sqlite3.Connection, database: Path) -> None:
    """Add the SQL function `packed_text(ctf, day, offset, length, place)`, which is NULL where the text is gone."""

    def packed_text(ctf: bytes | None, day: str | None, offset: int, length: int, place: int) -> str | None:
        try:
            texts = _of_ctf(ctf) if ctf is not None else _of_archive(database, ArchivePlace(str(day), offset, length))
            return texts[place]
        except (HyperlociError, ValueError, IndexError) as error:
            # One damaged chunk must not fail every search; `expand_chunk` and the health checks tell of it.
            logger.warning("the text of a packed turn can't be read: %s", error)
            return None

    connection.create_function("packed_text", 5, packed_text)


@functools.lru_cache(maxsize=KEPT)
def _of_ctf(ctf: bytes) -> Sequence[str]:
    return tuple(turn.text for turn in unpack(ctf))


@functools.lru_cache(maxsize=KEPT)
def _of_archive(database: Path, place: ArchivePlace) -> Sequence[str | None]:
    from hyperloci.store.archive import Archive

    line = Archive.beside(database).read(place)
    return tuple(None if turn is None else turn["text"] for turn in line["turns"])


def forget_unpacked() -> None:
    """Empty what was kept of unpacked texts, after some were taken out."""
    _of_ctf.cache_clear()
    _of_archive.cache_clear()


def pack(turns: Sequence[Any]) -> bytes:
    """Return turns (`model.turn.Turn`) as the bytes of a warm chunk: CTF v1 under zstd."""
    from hyperloci.model import ctf
    from hyperloci.store.pack import compress

    text = ctf.encode(turns, ("role", "kind", "time", "path", "content"))
    return compress(text.encode("utf-8", "surrogatepass"), CTF_LEVEL)


def unpack(data: bytes) -> Sequence[Any]:
    """Return the turns of a warm chunk.

    Raises:
        BadRequestError, ValueError: the bytes are damaged.
    """
    from hyperloci.model import ctf
    from hyperloci.store.pack import decompress

    return ctf.decode(decompress(data).decode("utf-8", "surrogatepass"))
