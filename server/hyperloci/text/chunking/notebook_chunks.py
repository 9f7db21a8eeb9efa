"""Notebook chunker: cuts a notebook's cells with the chunkers for documents and for code, and says which cell it was.

Markdown cells that stand together are one document; the headings of the cells above them hold on. Code is cut cell
by cell, in its own language. A code cell of less than `MIN_CHUNK_CHARS` characters goes with the one below or above it,
and so little text with the code below it: alone it would say nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from hyperloci.model.chunk import TextChunk
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.code import chunk_lines, chunk_source, move_chunk
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS, LineIndex
from hyperloci.text.chunking.markdown import chunk_document
from hyperloci.text.chunking.notebook import DEFAULT_LANGUAGE, MARKDOWN, NotebookCell
from hyperloci.text.chunking.programming_languages import BY_NAME
from hyperloci.text.chunking.prose import MIN_CHUNK_CHARS
from hyperloci.text.chunking.section_types import SectionType
from hyperloci.text.chunking.sections import Document, Section, parse_document

_MAGIC: Final = re.compile(r"^[ \t]*+(?:%{1,2}[A-Za-z]|!(?!=)|\?)[^\n]*", re.MULTILINE)
"""A line that IPython takes for itself: no grammar knows it."""


@dataclass(frozen=True, slots=True)
class _PlacedCell:
    """A cell, and its characters in the text."""

    cell: NotebookCell
    start: int
    end: int

    @property
    def is_code(self) -> bool:
        return self.cell.language != MARKDOWN


_Group = list[_PlacedCell]


@dataclass(frozen=True, slots=True)
class _Page:
    """What all chunks of a notebook share."""

    path: str
    text: str
    lines: LineIndex
    cells: Sequence[_PlacedCell]
    title: str

    def cell_at(self, offset: int) -> NotebookCell:
        """Return the cell that a character is in or behind."""
        return self.cells[max(0, bisect_right(self.cells, offset, key=lambda cell: cell.start) - 1)].cell


def chunk_notebook(path: str, text: str, cell_of_line: Sequence[NotebookCell]) -> list[TextChunk]:
    """Cut the text of a notebook's cells into chunks, in order. Never raises.

    Positions are those in `text`. A breadcrumb ends with the number of the cell, or of the first and last one.

    Args:
        path: POSIX path relative to the project's root.
        text: as `read_notebook` lays it out, perhaps cleaned.
        cell_of_line: the cell of each of its lines.
    """
    lines = LineIndex.from_text(text)
    page = _Page(path, text, lines, tuple(_place_cells(text, lines, cell_of_line)), PurePosixPath(path).stem)
    chunks: list[TextChunk] = []
    above: tuple[Section, ...] = ()
    lead: int | None = None
    groups = _group_cells(page.cells)
    for number, group in enumerate(groups):
        start, end = group[0].start, group[-1].end
        if group[0].is_code:
            chunks += _chunk_code_cells(page, group, start if lead is None else lead, above)
            lead = None
            continue
        document, behind = _continue_sections(parse_document(text[start:end]), above)
        if number + 1 < len(groups) and end - start < MIN_CHUNK_CHARS:
            lead = start
        else:
            chunks += _chunk_document_cells(page, document, start)
        above = behind
    return chunks


def _place_cells(text: str, lines: LineIndex, cell_of_line: Sequence[NotebookCell]) -> Iterator[_PlacedCell]:
    first = 0
    for number, cell in enumerate(cell_of_line):
        if number + 1 == len(cell_of_line) or cell_of_line[number + 1] is not cell:
            end = lines.starts[number + 1] if number + 1 < len(lines.starts) else len(text)
            start = lines.starts[first]
            length = len(text[start:end].rstrip())
            if length:
                yield _PlacedCell(cell, start, start + length)
            first = number + 1


def _group_cells(cells: Sequence[_PlacedCell]) -> list[_Group]:
    """Gather Markdown cells that stand together, and small code cells with their neighbours of the same language."""
    groups: list[_Group] = []
    for place, cell in enumerate(cells):
        last = groups[-1] if groups else None
        following = cells[place + 1] if place + 1 < len(cells) else None
        if last is not None and last[0].cell.language == cell.cell.language and _joins(last, cell, following):
            last.append(cell)
        else:
            groups.append([cell])
    return groups


def _joins(group: _Group, cell: _PlacedCell, following: _PlacedCell | None) -> bool:
    """Say whether a cell goes with a group of its language: a small one at a run's end has no other neighbour."""
    if not cell.is_code or group[-1].end - group[0].start < MIN_CHUNK_CHARS:
        return True
    is_last = following is None or following.cell.language != cell.cell.language
    return is_last and cell.end - cell.start < MIN_CHUNK_CHARS


# Headings


def _continue_sections(document: Document, above: Sequence[Section]) -> tuple[Document, tuple[Section, ...]]:
    """Put the sections of some cells under those that are open above them; return also those open at their end."""
    open_ones = list(above)
    sections: list[Section] = []
    for section in document.sections:
        while section.level and open_ones and open_ones[-1].level >= section.level:
            open_ones.pop()
        inherited = open_ones[-1].type if open_ones else SectionType.UNKNOWN
        titles = [outer.title for outer in open_ones] + ([section.title] if section.title else [])
        kind = inherited if section.type is SectionType.UNKNOWN else section.type
        sections.append(replace(section, path=tuple(titles), type=kind))
        if section.level:
            open_ones.append(sections[-1])
    return replace(document, sections=tuple(sections)), tuple(open_ones)


# Chunks


def _chunk_document_cells(page: _Page, document: Document, start: int) -> list[TextChunk]:
    titled = replace(document, title=page.title)
    return [_place_chunk(page, chunk, start) for chunk in chunk_document(page.path, titled, MARKDOWN)]


def _chunk_code_cells(page: _Page, group: _Group, lead: int, above: Sequence[Section]) -> Iterator[TextChunk]:
    """Cut code; text that stands above it, from `lead` on, goes into its first chunk if both fit one."""
    start, end = group[0].start, group[-1].end
    chunks = _cut_code(page.path, page.text[start:end], group[0].cell.language)
    path = tuple(section.title for section in above)
    first = chunks[0].position
    if lead < start and start + (first.char_end or 0) - lead <= MAX_CHUNK_CHARS:
        chunks[0] = replace(chunks[0], position=replace(first, char_start=lead - start))
    elif lead < start:
        document, _ = _continue_sections(parse_document(page.text[lead:start]), above)
        yield from _chunk_document_cells(page, document, lead)
    for chunk in chunks:
        names = chunk.position.symbol.split(".") if chunk.position.symbol else ()
        placed = replace(chunk, position=replace(chunk.position, section_path=path))
        yield _place_chunk(page, replace(placed, breadcrumb=(page.title, *path, *names)), start)


def _cut_code(path: str, source: str, language: str) -> list[TextChunk]:
    row = BY_NAME.get(language)
    if row is None:
        return chunk_lines(path, source, language)
    readable = _MAGIC.sub(lambda magic: " " * len(magic[0]), source) if language == DEFAULT_LANGUAGE else source
    return chunk_source(path, readable, row) or chunk_lines(path, source, language)


def _place_chunk(page: _Page, chunk: TextChunk, offset: int) -> TextChunk:
    """Return a chunk of the text from `offset` on as one of the whole text, with the numbers of its cells."""
    moved = move_chunk(chunk, page.text, page.lines, offset)
    start, end = moved.position.char_start or 0, moved.position.char_end or 0
    low, high = (page.cell_at(place).number for place in (start, end - 1))
    where = f"cell {low}" if low == high else f"cells {low} to {high}"
    return replace(moved, breadcrumb=(*chunk.breadcrumb, where))
