"""Chunker: cuts a file into chunks with the chunker for its kind.

- Markdown and reStructuredText: by sections (`markdown`, `restructured_text`).
- Code in a language with a grammar: by its syntax (`code`); in another one: windows of lines;
  of a component (Vue, Svelte, Astro) the scripts by their syntax and the rest in windows (`components`).
- Other prose (AsciiDoc, plain text): windows of about 200 words at paragraphs, 50 of them repeated.
  Only the title at the top is read from its markup.
- A notebook is no text: `notebook` makes one of its cells, and `notebook_chunks` cuts that.
- Configuration (TOML, YAML, JSON, INI, Makefile...): by tables (`settings`), those of more than 2,000 characters at
  blank lines; only files of at most `MAX_CONFIG_BYTES`. Anything else is not cut at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

from hyperloci.model.chunk import ChunkKind, TextChunk
from hyperloci.model.position import Position
from hyperloci.text.chunking.code import chunk_code, chunk_lines
from hyperloci.text.chunking.components import chunk_component, is_component
from hyperloci.text.chunking.file_kinds import MAX_CONFIG_BYTES, FileKind, file_kind_of, language_of_plain_file
from hyperloci.text.chunking.lines import LineIndex, Span, is_blank
from hyperloci.text.chunking.markdown import chunk_document, chunk_markdown
from hyperloci.text.chunking.prose import windows_of_text
from hyperloci.text.chunking.restructured_text import parse_restructured_text
from hyperloci.text.chunking.settings import cut_settings

_RULE: Final = r"[=#*~^\"-]{3,}+[ \t]*+\r?"
_TITLE: Final = re.compile(
    rf"\s*+(?:{_RULE}\n)?[ \t]*+(?=[^\r\n]*\w)(\S[^\r\n]{{0,120}}?)[ \t]*+\r?\n{_RULE}$"
    r"|\s*+=[ \t]++(\S[^\r\n]{0,120})",
    re.MULTILINE,
)
"""A reStructuredText title (underlined, perhaps overlined) or an AsciiDoc one, at the top."""


def chunk_file(path: str, text: str) -> list[TextChunk]:
    """Cut a file into chunks, in order (D.01, D.05, D.06). None for a blank file or one that no chunker reads.

    Every chunk's text is `text[position.char_start:position.char_end]` and at most 4,000 characters long; together
    they hold every character that is not part of a run of white space as long as a chunk. Never raises.

    Args:
        path: POSIX path relative to the project's root.
        text: the decoded file.
    """
    if is_blank(text):
        return []
    match file_kind_of(path, text):
        case FileKind.MARKDOWN:
            return chunk_markdown(path, text)
        case FileKind.RESTRUCTURED_TEXT:
            return chunk_document(path, parse_restructured_text(text), "restructuredtext")
        case FileKind.CODE:
            return chunk_code(path, text)
        case FileKind.PLAIN_CODE:
            if is_component(path):
                return chunk_component(path, text)
            return chunk_lines(path, text, language_of_plain_file(path))
        case FileKind.PROSE:
            title = _TITLE.match(text)
            name = (title[1] or title[2]).strip() if title else PurePosixPath(path).stem
            return _chunks_of_spans(path, text, windows_of_text(text), name)
        case FileKind.CONFIG if len(text) <= MAX_CONFIG_BYTES:
            name = PurePosixPath(path).name
            places = ((block.span, (name, block.name) if block.name else (name,)) for block in cut_settings(text))
            return _chunks_of_places(path, text, places)
    return []


def _chunks_of_spans(path: str, text: str, spans: Iterable[Span], name: str) -> list[TextChunk]:
    return _chunks_of_places(path, text, ((span, (name,)) for span in spans))


def _chunks_of_places(path: str, text: str, places: Iterable[tuple[Span, tuple[str, ...]]]) -> list[TextChunk]:
    lines = LineIndex.from_text(text)
    chunks: list[TextChunk] = []
    for (start, end), breadcrumb in places:
        if not is_blank(text[start:end]):
            first, last = lines.lines_of(start, end)
            position = Position(path=path, line_start=first, line_end=last, char_start=start, char_end=end)
            chunks.append(
                TextChunk(text=text[start:end], kind=ChunkKind.TEXT, breadcrumb=breadcrumb, position=position)
            )
    return chunks
