"""File structure: the tree of an indexed file's sections or symbols, read back from its snippets (D.04).

Snippets hold every character of a document, but not every heading: short sections share one. So the document is
reassembled and its headings are parsed as they were when it was indexed; no file is opened, and redacted text stays
redacted. Each section knows the snippets that hold its text.
"""

from __future__ import annotations

import difflib
import heapq
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from posixpath import commonprefix, splitext
from typing import Final

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.indexing.tree_walk import check_file
from hyperloci.model.answers import SkippedFile
from hyperloci.model.chunk import ChunkKind
from hyperloci.project.identity import Project
from hyperloci.store import Store
from hyperloci.store.projects.files import FilePiece
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.file_kinds import FileKind, file_kind_of
from hyperloci.text.chunking.restructured_text import parse_restructured_text
from hyperloci.text.chunking.section_types import infer_section_type
from hyperloci.text.chunking.sections import parse_sections, slugify

FUZZY: Final = 0.6
"""Likeness from which a title is another one misspelt or shortened: `difflib`'s own measure for close matches."""

MAX_FILES: Final = 50
"""Files whose trees are built for one look for a title."""

MAX_NAMES: Final = 200
"""Names of files that a misspelt one is compared with letter by letter."""

_HEADING: Final = re.compile(
    r"^(?:#{1,6}[ \t]++(.*[^\n \t#]|.)[ \t#]*+|(.++)\n([!-/:-@\[-`{-~])(?>\3*)[ \t]*+)$", re.MULTILINE
)
"""A heading of Markdown, or a line with one of reStructuredText's marks under it."""


_MARKUP: Final = re.compile(r"[`*_]|\[([^\]]{0,400}+)\]\([^)]{0,2000}+\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlineEntry:
    """A section of a document or a symbol of a source file.

    Attributes:
        title: the heading, or the symbol's own name; empty for what stands above the first heading, or in no symbol.
        level: of the heading, or the symbol's depth, from 1; 0 where the title is empty.
        type: what the section is for (`text.chunking.section_types`), or the symbol's kind.
        file: where it stands.
        path: titles from the outermost to its own.
        anchor: the heading's; the qualified name of a symbol.
        line_start, line_end: its own lines, 1-based, inclusive; a document's tile it, a symbol's hold its members.
        parent: index of what it stands in, in the tree's entries.
        ids: the memories that hold its own text.
    """

    title: str
    level: int
    type: str
    file: str
    path: tuple[str, ...]
    anchor: str
    line_start: int
    line_end: int
    parent: int | None
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OutlineTree:
    """A file's entries in the order of the text, and how they hang together."""

    file: str
    entries: tuple[OutlineEntry, ...]

    def children(self, index: int | None) -> list[int]:
        """Return what stands right in an entry, in order; in None what stands at the top."""
        return [number for number, entry in enumerate(self.entries) if entry.parent == index]

    def ancestors(self, index: int) -> list[int]:
        """Return what an entry stands in, nearest first."""
        found: list[int] = []
        parent = self.entries[index].parent
        while parent is not None:
            found.append(parent)
            parent = self.entries[parent].parent
        return found

    def siblings(self, index: int) -> list[int]:
        """Return what stands beside an entry in the same one, without itself; at the top too."""
        return [number for number in self.children(self.entries[index].parent) if number != index]

    def find_by_title(self, title: str, *, fuzzy: bool = False) -> list[int]:
        """Return the entries with a title, without regard to case; `fuzzy` also those that contain or resemble it."""
        ranks = [(title_similarity(title, entry.title), number) for number, entry in enumerate(self.entries)]
        least = FUZZY if fuzzy else 1.0
        return [number for rank, number in sorted(ranks, key=lambda item: -item[0]) if rank >= least]

    def find_by_type(self, type: str) -> list[int]:
        """Return the entries of a type, in order."""
        return [number for number, entry in enumerate(self.entries) if entry.type == type]

    def find_by_level(self, level: int) -> list[int]:
        """Return the entries of a level, in order."""
        return [number for number, entry in enumerate(self.entries) if entry.level == level]


def title_similarity(wanted: str, title: str) -> float:
    """Return how far a title is the wanted one: 1 the same but for case, less where it contains or resembles it."""
    wanted, title = _fold_title(wanted), _fold_title(title)
    if not title or not wanted:
        return 0.0
    if wanted == title:
        return 1.0
    matcher = difflib.SequenceMatcher(None, title, wanted, autojunk=False)
    if wanted in title:
        return 0.9 + 0.09 * len(wanted) / len(title)
    if matcher.real_quick_ratio() < FUZZY or matcher.quick_ratio() < FUZZY:
        return 0.0
    return 0.9 * matcher.ratio()


def load_tree(store: Store, project: Project, settings: Settings, path: str) -> OutlineTree:
    """Return the tree of an indexed file, named from the project's root or in full.

    Raises:
        BadRequestError: it lies outside the project, or no file system can have it.
        NotFoundError: the file isn't indexed, holds nothing that an outline shows, or there is none.
    """
    scope_key = store.scopes.find_key(project.id) or 0
    pieces = store.files.list_pieces(scope_key, path)
    if not pieces:
        path = _find_file(store, scope_key, project, path)
        pieces = store.files.list_pieces(scope_key, path)
    if not pieces:
        raise NotFoundError(f"path={path!r:.200}: {_why_no_pieces(store, scope_key, project, settings, path)}")
    return _build_tree(path, pieces)


def _build_tree(path: str, pieces: Sequence[FilePiece]) -> OutlineTree:
    if file_kind_of(path) is FileKind.NOTEBOOK:
        return _notebook_tree(path, pieces)
    return (
        _document_tree(path, pieces) if all(piece.kind == "markdown" for piece in pieces) else _code_tree(path, pieces)
    )


def _find_file(store: Store, scope_key: int, project: Project, path: str) -> str:
    """Return the path from the root of a file that there is."""
    try:
        file = project.resolve_path(Path(path))
    except NotFoundError as error:
        near = _find_near(path, store.files.list_files(scope_key))
        hint = f"; did you mean {near}?" if near else " in this project."
        raise NotFoundError(f"path={path!r:.200}: there is no such file{hint}") from error
    if file.is_dir():
        raise NotFoundError(f"path={path!r:.200}: this is a folder; name a file.")
    return file.relative_to(project.root.resolve()).as_posix()


def _find_near(path: str, paths: Iterable[str]) -> str | None:
    """Return the path whose name is likest without its suffix; of several the same name first, then the likest path."""
    by_stem: dict[str, list[str]] = {}
    for indexed in paths:
        by_stem.setdefault(splitext(indexed.rpartition("/")[2])[0], []).append(indexed)
    name, stem = PurePosixPath(path).name, PurePosixPath(path).stem
    likely = heapq.nlargest(MAX_NAMES, by_stem, key=partial(_share_ends, stem))
    near = difflib.get_close_matches(stem, likely, n=1)
    if not near:
        return None
    return max(by_stem[near[0]], key=lambda found: (f"/{found}".endswith(f"/{name}"), _share_ends(path, found)))


def _share_ends(one: str, other: str) -> float:
    """Return how much of two texts is the same from the beginning on and from the end on; the same text has most."""
    shared = len(commonprefix((one, other))) + len(commonprefix((one[::-1], other[::-1])))
    return shared / (max(len(one), len(other)) or 1)


def _why_no_pieces(store: Store, scope_key: int, project: Project, settings: Settings, path: str) -> str:
    """Return why there is nothing to show of a file that there is, and what to do about it."""
    if store.files.get_file(scope_key, path):
        return "this file is indexed, and holds nothing that an outline shows."
    verdict = check_file(project.root, path, exclude=settings.exclude, max_bytes=settings.max_file_bytes)
    if isinstance(verdict, SkippedFile):
        return f"this file is not indexed, and indexing leaves it out ({verdict.path}: {verdict.reason})."
    return "this file is not indexed in this project; index_path indexes it."


def find_sections(
    store: Store,
    project: Project,
    settings: Settings,
    *,
    title: str | None = None,
    fuzzy: bool = False,
    type: str | None = None,
    level: int | None = None,
    path: str | None = None,
    limit: int = 50,
) -> list[OutlineEntry]:
    """Return the sections of a project's documents that meet all that is asked; the likest titles first, then by file.

    Raises:
        BadRequestError: nothing is asked, or `path` lies outside the project.
        NotFoundError: `path` isn't indexed, or is no file.
    """
    if title is None and type is None and level is None:
        raise BadRequestError("No condition is given: give a title, a type or a level.")
    files = [path] if path is not None else _find_documents(store, project, title, fuzzy)
    found: list[tuple[float, OutlineEntry]] = []
    for file in files:
        for entry in load_tree(store, project, settings, file).entries:
            rank = 1.0 if title is None else title_similarity(title, entry.title)
            if (
                rank >= (FUZZY if fuzzy else 1.0)
                and (type is None or entry.type == type)
                and (level is None or entry.level == level)
            ):
                found.append((rank, entry))
    found.sort(key=lambda item: (-item[0], item[1].file, item[1].line_start))
    return [entry for _, entry in found[:limit]]


def _find_documents(store: Store, project: Project, title: str | None, fuzzy: bool) -> list[str]:
    """Return the documents that have a heading like the title, likest first; without a title all of them."""
    scope_key = store.scopes.find_key(project.id) or 0
    best: dict[str, float] = {}
    ranks: dict[str, float] = {}
    for path, content in store.files.list_documents(scope_key):
        best.setdefault(path, 1.0 if title is None else 0.0)
        for match in _HEADING.finditer(content) if title is not None else ():
            heading = match[1] or match[2]
            if heading not in ranks:
                ranks[heading] = title_similarity(title or "", _MARKUP.sub(r"\1", heading))
            best[path] = max(best[path], ranks[heading])
    chosen = [path for path in best if best[path] >= (FUZZY if fuzzy else 1.0)]
    return sorted(chosen, key=lambda path: (-best[path], path))[: MAX_FILES if title is not None else None]


def join_pieces(pieces: Sequence[FilePiece]) -> tuple[str, list[tuple[int, int]]]:
    """Put a document together from its snippets; return it, and where in it each of them stands."""
    text: list[str] = []
    spans: list[tuple[int, int]] = []
    length, lines, end = 0, 1, 0
    for piece in pieces:
        gap = piece.char_start - end
        if gap > 0:
            breaks = min(gap, max(0, piece.line_start - lines))
            text.append(" " * (gap - breaks) + "\n" * breaks)
            length, lines = length + gap, lines + breaks
        overlap = max(0, -gap)
        fresh = piece.content[overlap:]
        spans.append((length - overlap, length + len(fresh)))
        text.append(fresh)
        length, lines, end = length + len(fresh), lines + fresh.count("\n"), max(end, piece.char_end)
    return "".join(text), spans


def _document_tree(path: str, pieces: Sequence[FilePiece]) -> OutlineTree:
    text, spans = join_pieces(pieces)
    starts = [span[0] for span in spans]
    entries = []
    is_restructured = file_kind_of(path) is FileKind.RESTRUCTURED_TEXT
    for section in parse_restructured_text(text).sections if is_restructured else parse_sections(text):
        held = [
            piece.node_id
            for piece, (start, end) in zip(pieces, spans, strict=True)
            if start < section.char_end and end > section.char_start
        ]
        number = max(0, bisect_right(starts, section.char_start) - 1)
        piece, (start, _) = pieces[number], spans[number]
        line = piece.line_start + piece.content[: max(0, section.char_start - start)].count("\n")
        entries.append(
            OutlineEntry(
                title=section.title,
                level=section.level,
                type=section.type.value,
                file=path,
                path=section.path,
                anchor=section.anchor,
                line_start=line,
                line_end=line + section.line_end - section.line_start,
                parent=section.parent,
                ids=tuple(held),
            )
        )
    return OutlineTree(path, tuple(entries))


def _notebook_tree(path: str, pieces: Sequence[FilePiece]) -> OutlineTree:
    """Lay out a notebook by its headings: those in its text, and those above each piece of code."""
    held: dict[tuple[str, ...], list[FilePiece]] = {}
    for piece in pieces:
        for titles in _list_section_paths(piece):
            for depth in range(1, len(titles)):
                held.setdefault(titles[:depth], [piece])
            held.setdefault(titles, []).append(piece)
    places = {titles: number for number, titles in enumerate(held)}
    entries = [
        OutlineEntry(
            title=titles[-1] if titles else "",
            level=len(titles),
            type=infer_section_type(titles[-1] if titles else "").value,
            file=path,
            path=titles,
            anchor=slugify(titles[-1]) if titles else "",
            line_start=min(piece.line_start for piece in inside),
            line_end=max(piece.line_end for piece in inside),
            parent=places.get(titles[:-1]) if titles[:-1] else None,
            ids=tuple(dict.fromkeys(piece.node_id for piece in inside)),
        )
        for titles, inside in held.items()
    ]
    return OutlineTree(path, tuple(entries))


def _list_section_paths(piece: FilePiece) -> list[tuple[str, ...]]:
    """Return the headings, outermost first, of each section that a piece of a notebook has a part of."""
    if piece.kind != ChunkKind.MARKDOWN:
        return [piece.section_path]
    sections = parse_sections(piece.content)
    first = next((section.title for section in sections if section.title), None)
    around = piece.section_path[: piece.section_path.index(first)] if first in piece.section_path else ()
    return [around + section.path if section.level else piece.section_path for section in sections]


def _code_tree(path: str, pieces: Sequence[FilePiece]) -> OutlineTree:
    places: dict[str, int] = {}
    entries: list[OutlineEntry] = []
    groups = _group_by_symbol(pieces)
    for symbol, held in groups:
        parts = symbol.split(".") if symbol else []
        above = (".".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
        parent = next((places[name] for name in above if name in places), None)
        places[symbol] = len(entries)
        inside = [piece for name, some in groups for piece in some if name.startswith(symbol + ".")]
        entries.append(
            OutlineEntry(
                title=parts[-1] if parts else "",
                level=len(parts),
                type=(held[0].symbol_kind or "code") if symbol else "module",
                file=path,
                path=tuple(parts),
                anchor=symbol,
                line_start=held[0].line_start,
                line_end=max(piece.line_end for piece in (*held, *(inside if symbol else ()))),
                parent=parent,
                ids=tuple(piece.node_id for piece in held),
            )
        )
    return OutlineTree(path, tuple(entries))


def _group_by_symbol(pieces: Sequence[FilePiece]) -> list[tuple[str, list[FilePiece]]]:
    """Return the pieces of each symbol, and those of no symbol (under "") as far as they stand side by side."""
    groups: list[tuple[str, list[FilePiece]]] = []
    known: dict[str, list[FilePiece]] = {}
    for piece in pieces:
        symbol = piece.symbol or ""
        if symbol not in known:
            known[symbol] = []
            groups.append((symbol, known[symbol]))
        known[symbol].append(piece)
        if symbol:
            known.pop("", None)
    return groups


def _fold_title(text: str) -> str:
    return " ".join(text.casefold().split())
