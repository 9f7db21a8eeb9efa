"""Code chunker: cuts source code by its syntax (D.06, D.01), and returns the texts of named symbols.

Chunks of a file: the module's head (imports and loose statements up to the first definition), each class's head
(signature, attributes, docstring), each function and method with its decorators and leading comment, and loose code
between them. A nested function stays in the function around it unless that is longer than a chunk. The chunks tile the
file exactly.

A file without a grammar, one that does not parse, and a minified one are cut into windows of lines.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from hyperloci.model.chunk import ChunkKind, CodeFacts, TextChunk
from hyperloci.model.position import Position
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.definitions import Definition
from hyperloci.text.chunking.lines import LineIndex, Span, is_blank, line_windows
from hyperloci.text.chunking.outline import Fact, Outline, parse_outline
from hyperloci.text.chunking.partition import CodePiece, partition_outline
from hyperloci.text.chunking.programming_languages import Language, language_of

SOURCE_ROOTS: Final = ("src", "lib")
"""Top folders that hold packages without being one: they are no part of a module's dotted name."""

_INDEX_FILE: Final = re.compile(r"__init__\.pyi?|mod\.rs|index\.[cm]?[jt]sx?")
"""Files that stand for their folder."""

_MAX_MEAN_LINE = 400
"""Characters a line on average above which a file is minified: its definitions all stand on one line."""


def chunk_code(path: str, text: str) -> list[TextChunk]:
    """Cut a source file into chunks, in order; none if it is blank. Never raises, whatever the text (D.06).

    Args:
        path: POSIX path relative to the project's root; its ending and the first line tell the language.
        text: the decoded file.
    """
    return chunk_source(path, text, language_of(path, text))


def chunk_source(path: str, text: str, language: Language | None) -> list[TextChunk]:
    """Cut code in a known language into chunks, as `chunk_code` does; None for one without a grammar."""
    outline = parse_outline(language, text) if language and not is_minified(text) else None
    if outline is None or language is None:
        return chunk_lines(path, text, language.name if language else None)
    file = _CodeFile(path, module_name(path), language.name, outline.source.lines)
    pieces = (piece for piece in partition_outline(outline) if not is_blank(text[piece.start : piece.end]))
    return [_make_chunk(file, outline, piece) for piece in pieces]


def chunk_lines(path: str, text: str, language: str | None) -> list[TextChunk]:
    """Cut code that no grammar can read into windows of whole lines."""
    file = _CodeFile(path, module_name(path), language, LineIndex.from_text(text))
    return [
        TextChunk(
            text=text[start:end],
            kind=ChunkKind.CODE,
            breadcrumb=(file.module,),
            code=CodeFacts(kind="block"),
            position=_locate_chunk(file, (start, end), []),
        )
        for start, end in line_windows(text, 0, len(text))
        if not is_blank(text[start:end])
    ]


def move_chunk(chunk: TextChunk, text: str, lines: LineIndex, offset: int) -> TextChunk:
    """Return a chunk that was cut out of the text from `offset` on as one of the whole text; `lines` is its index."""
    start, end = (chunk.position.char_start or 0) + offset, (chunk.position.char_end or 0) + offset
    first, last = lines.lines_of(start, end)
    position = replace(chunk.position, char_start=start, char_end=end, line_start=first, line_end=last)
    return replace(chunk, text=text[start:end], position=position)


def is_minified(text: str) -> bool:
    """Say whether a file's lines are so long that no one wrote them."""
    return len(text) > _MAX_MEAN_LINE * (text.count("\n") + 1)


def module_name(path: str) -> str:
    """Return a file's dotted module name: `src/pkg/mod.py` is `pkg.mod`, `pkg/__init__.py` is `pkg`."""
    pure = PurePosixPath(path)
    parts = [*pure.parent.parts, pure.name.split(".")[0] or pure.name]
    if len(parts) > 1 and parts[0] in SOURCE_ROOTS:
        parts = parts[1:]
    if len(parts) > 1 and _INDEX_FILE.fullmatch(pure.name):
        parts = parts[:-1]
    return ".".join(parts)


@dataclass(frozen=True, slots=True)
class _CodeFile:
    """What all chunks of a file share."""

    path: str
    module: str
    language: str | None
    lines: LineIndex


def _make_chunk(file: _CodeFile, outline: Outline, piece: CodePiece) -> TextChunk:
    above = _enclosing_definitions(outline, piece.owner)
    return TextChunk(
        text=outline.source.text[piece.start : piece.end],
        kind=ChunkKind.CODE,
        breadcrumb=(file.module, *(above[0].qualname.split(".") if above else ())),
        code=_facts_of_piece(outline, piece, above[0] if above else None),
        position=_locate_chunk(file, (piece.start, piece.end), above),
    )


def _locate_chunk(file: _CodeFile, span: Span, above: Sequence[Definition]) -> Position:
    """Place a chunk; `above` is its definition and those around it, innermost first."""
    first, last = file.lines.lines_of(*span)
    classes = (item.name if item.is_class else item.owner for item in above if _belongs_to_class(item))
    return Position(
        path=file.path,
        line_start=first,
        line_end=last,
        char_start=span[0],
        char_end=span[1],
        module=file.module,
        class_name=next(classes, None),
        function_name=next((item.name for item in above if item.kind in {"function", "method"}), None),
        symbol=above[0].qualname if above else None,
        scope_depth=above[0].qualname.count(".") if above else 0,
        language=file.language,
    )


def _belongs_to_class(item: Definition) -> bool:
    return item.is_class or item.kind == "method"


def _enclosing_definitions(outline: Outline, number: int | None) -> list[Definition]:
    """Return a definition and those around it, innermost first; none for the module."""
    chain: list[Definition] = []
    while number is not None:
        chain.append(outline.definitions[number])
        number = chain[-1].parent
    return chain


def _facts_of_piece(outline: Outline, piece: CodePiece, item: Definition | None) -> CodeFacts:
    calls = _facts_between(outline.calls, piece.start, piece.end)
    imports = _facts_between(outline.imports, piece.start, piece.end)
    if item is None:
        kind = "module" if piece.is_head else "block"
        doc = outline.docs.get(None, "") if piece.is_head else ""
        return CodeFacts(kind=kind, docstring=doc, calls=calls, imports=imports)
    return CodeFacts(
        kind="block" if piece.is_loose else item.kind,
        name=item.name,
        qualname=item.qualname,
        signature=item.signature,
        docstring=outline.docs.get(piece.owner, "") if piece.is_head else "",
        calls=calls,
        imports=imports,
        bases=outline.bases.get(piece.owner, ()) if piece.is_head else (),
        declared=item.declared and not piece.is_loose,
    )


def _facts_between(facts: Sequence[Fact], start: int, end: int) -> tuple[str, ...]:
    first = bisect_left(facts, (start, ""))
    last = bisect_left(facts, (end, ""), first)
    return tuple(dict.fromkeys([word for _, word in facts[first:last]])) if last > first else ()
