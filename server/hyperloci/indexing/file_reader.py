"""File reader: reads, cleans and redacts a file and cuts it into chunks, before anything is stored."""

from __future__ import annotations

import errno
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.indexing.abbreviations import spelled_out
from hyperloci.knowledge.entities.recognition import EntityMention
from hyperloci.knowledge.entities.registry import find_mentions
from hyperloci.knowledge.facets import classify_chunk_facets
from hyperloci.model.chunk import ChunkKind, TextChunk
from hyperloci.model.facets import Facets
from hyperloci.model.position import Position
from hyperloci.store.memories.node_rows import hash_content
from hyperloci.store.projects.files import IndexedFile
from hyperloci.system.regular_file import open_regular_file
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.file_kinds import FileKind, file_kind_of
from hyperloci.text.chunking.notebook import NotebookText, read_notebook
from hyperloci.text.decoding import decode_text
from hyperloci.text.place_map import PlaceMap
from hyperloci.text.sanitize.prompt_injection import find_name_flags
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize
from hyperloci.text.settings_words import describe_settings

RACY_NS: Final = 20_000_000
"""Two writes this near may bear the same time: kernels keep file times by the tick, 1 to 10 ms."""

TITLE_SEPARATOR: Final = " > "
"""Between the parts of a breadcrumb, as it is embedded and shown."""

UNSETTLED: Final = -1
"""Replaces a file's time that could be the same for its next version: its content is compared next time."""

NO_FACETS: Final = Facets()

_NS_PER_MS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshChunk:
    """A chunk as it is now, with what it is matched by.

    `flags` are the warnings of the trust boundary, `names` the things that it names, `facets` what kind it is,
    `hints` words that help find it and do not stand in it.
    """

    chunk: TextChunk
    content_hash: bytes
    title: str
    flags: tuple[str, ...] = ()
    names: tuple[EntityMention, ...] = ()
    facets: Facets = NO_FACETS
    hints: str = ""

    @property
    def symbol(self) -> str | None:
        """The symbol it holds."""
        return self.chunk.position.symbol


@dataclass(frozen=True, slots=True, kw_only=True)
class FreshFile:
    """A file as it is now.

    Attributes:
        path, size: POSIX path relative to the root; bytes.
        mtime_ns: its time, or `UNSETTLED`.
        changed_ms: when it was changed, limited to the time between 1970 and now.
        content_hash: SHA-256 of its raw bytes.
        chunks: what it was cut into.
    """

    path: str
    size: int
    mtime_ns: int
    changed_ms: int
    content_hash: bytes
    chunks: tuple[FreshChunk, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOnDisk:
    """The bytes of a file, with its size and times when they were read."""

    data: bytes
    size: int
    mtime_ns: int


def read_file(path: Path, max_bytes: int | None = None) -> FileOnDisk:
    """Read a file whole.

    Args:
        path: the file; what became a pipe or a device since it was seen is not waited for.
        max_bytes: what has more by now is not read on.

    Raises:
        OSError: it is gone, may not be read, is no regular file, or grew above `max_bytes`.
    """
    with open_regular_file(path) as file:
        status = os.fstat(file.fileno())
        data = file.read() if max_bytes is None else file.read(max_bytes + 1)
    if max_bytes is not None and len(data) > max_bytes:
        raise OSError(errno.EFBIG, f"it grew above {max_bytes:,} bytes", str(path))
    return FileOnDisk(data=data, size=len(data), mtime_ns=status.st_mtime_ns)


def hash_bytes(data: bytes) -> bytes:
    """Return the hash that a file's content is compared by."""
    return hashlib.sha256(data).digest()


def is_as_indexed(path: Path, known: IndexedFile) -> bool:
    """Tell whether a file is still as it was indexed; it is read only where its time is another, or was too new.

    Of what is cut anew, as after an upgrade, nothing but its size is known: it counts as unchanged.
    """
    try:
        status = path.stat()
        if status.st_size != known.size:
            return False
        if status.st_mtime_ns == known.mtime_ns or known.is_cut_anew:
            return True
        with open_regular_file(path) as file:
            return hash_bytes(file.read()) == known.content_hash
    except OSError:
        return False


def settled_mtime(mtime_ns: int, clock: Clock) -> int:
    """Return a file's time, or `UNSETTLED` if it was written just now: it could be written again in the same tick."""
    age_ns = (clock() + 1) * _NS_PER_MS - mtime_ns
    return UNSETTLED if 0 <= age_ns <= RACY_NS else mtime_ns


def fresh_file_uncut(path: str, raw: FileOnDisk, clock: Clock) -> FreshFile:
    """Return what is known of a file right after it was read, before it is cut: without chunks."""
    return FreshFile(
        path=path,
        size=raw.size,
        mtime_ns=settled_mtime(raw.mtime_ns, clock),
        changed_ms=min(max(raw.mtime_ns // _NS_PER_MS, 0), clock()),
        content_hash=hash_bytes(raw.data),
        chunks=(),
    )


def chunk_bytes(path: str, data: bytes) -> tuple[FreshChunk, ...]:
    """Clean, redact and cut a file (D.05, D.06, E.03).

    The whole file is redacted before it is cut: a private key or block may span chunks, and what the parse tree says
    (signatures, docstrings, calls) is then clean too. Positions are those of the file itself all the same.

    Raises:
        UnicodeError: it is no text, though it began as one.
        json.JSONDecodeError: it is called a notebook and is none.
        RecursionError: it is a notebook that is nested too deeply.
    """
    # Only the process that parses cuts: a server need not hold the parsers.
    from hyperloci.text.chunking.chunker import chunk_file

    text = decode_text(data)
    if text is None:
        raise UnicodeError(path)
    notebook = read_notebook(text) if file_kind_of(path) is FileKind.NOTEBOOK else None
    original = notebook.text if notebook else text
    prepared = sanitize(original, is_file=True)
    places = PlaceMap.between(original, prepared.text)
    cut = _chunk_cells(path, prepared.text, notebook, places) if notebook else chunk_file(path, prepared.text)
    chunks = [replace(chunk, position=places.find(chunk.position)) for chunk in cut if chunk.text.strip()]
    if notebook:
        chunks = [replace(chunk, position=_lines_in_file(notebook, chunk.position)) for chunk in chunks]
    of_name = find_name_flags(path)
    return tuple(_sanitize_chunk(chunk, prepared, of_name) for chunk in chunks)


def _chunk_cells(path: str, prepared: str, notebook: NotebookText, places: PlaceMap) -> list[TextChunk]:
    from hyperloci.text.chunking.notebook_chunks import chunk_notebook

    cells = [notebook.cells[notebook.index_at(line)] for line in places.line_of] if notebook.cells else []
    return chunk_notebook(path, prepared, cells)


def _lines_in_file(notebook: NotebookText, position: Position) -> Position:
    if position.line_start is None or position.line_end is None:
        return position
    first, last = (notebook.line_in_file(line) for line in (position.line_start, position.line_end))
    return replace(position, line_start=first, line_end=last)


def _sanitize_chunk(chunk: TextChunk, prepared: SanitizedText, of_name: tuple[str, ...]) -> FreshChunk:
    return FreshChunk(
        chunk=chunk,
        content_hash=hash_content(chunk.text),
        title=TITLE_SEPARATOR.join(chunk.breadcrumb),
        flags=tuple(dict.fromkeys((*of_name, *(sanitize(chunk.text).flags if prepared.flags else ())))),
        names=find_mentions(chunk.text, chunk.code, chunk.position),
        facets=classify_chunk_facets(chunk),
        hints=_find_hints(chunk),
    )


def _find_hints(chunk: TextChunk) -> str:
    if chunk.kind is ChunkKind.CODE:
        return spelled_out(chunk.text)
    return describe_settings(chunk.position.path, chunk.breadcrumb[-1], chunk.text) if chunk.breadcrumb else ""
