"""Markdown chunker: cuts Markdown, and documents whose sections are known, by their sections (D.04, D.05, E.04).

One chunk per section. A section whose own text is shorter than `MIN_CHUNK_CHARS` (a heading with nothing under it, a
one-line entry) is joined to the section that follows it under the same parent, else to what stands before it: alone it
would be a title without a thought, and short texts crowd out long ones in BM25 and cosine ranking. The joined chunk is
placed at its one section of size, or at the nearest common ancestor of several small ones; the section tree
(`parse_sections`) still knows each of them. Larger sections are never joined.

A section above `WHOLE_WORDS` words is cut into windows at its blocks. Code blocks, tables and HTML stay whole up to
`MAX_CHUNK_CHARS`; above that they are cut at lines. Every character but a run of white space as long as a chunk is in
at least one chunk; no character is in two but those of an overlap.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final

from markdown_it.token import Token

from hyperloci.model.chunk import ChunkKind, TextChunk
from hyperloci.model.position import Position
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS, LineIndex, Span, is_blank
from hyperloci.text.chunking.prose import (
    MIN_CHUNK_CHARS,
    WHOLE_WORDS,
    WINDOW_WORDS,
    Atom,
    count_words,
    pack_atoms,
    paragraph_atoms,
    prose_atoms,
    solid_atoms,
)
from hyperloci.text.chunking.section_types import SectionType, infer_section_type
from hyperloci.text.chunking.sections import (
    Document,
    Section,
    displayed_text,
    find_source_address,
    inline_tokens,
    parse_document,
    parse_sections,
)

__all__ = ["Section", "SectionType", "chunk_markdown", "infer_section_type", "parse_sections"]

_SOLID_TOKENS: Final = frozenset({"fence", "code_block", "html_block", "table_open"})
"""Blocks that are kept whole: half of one says little."""

_MAY_LINK: Final = re.compile(r"[\]<]|https?:")
_BARE_URL: Final = re.compile(r"https?://(?:\([^\s()]*\)|[^\s<>\"'`\]()])+")
_URL_TAIL: Final = ".,:;!?*_~"


@dataclass(frozen=True, slots=True)
class _LinksOfBlock:
    """The links of one block, with the characters it spans."""

    start: int
    end: int
    links: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _SectionPlace:
    """What a chunk says of the section it is in."""

    path: tuple[str, ...]
    level: int | None
    anchor: str | None
    type: SectionType
    headings: tuple[str, ...] = ()


def chunk_markdown(path: str, text: str) -> list[TextChunk]:
    """Cut a Markdown file into chunks, in order; none if it is blank (D.01, D.04, D.05, E.04).

    Args:
        path: POSIX path relative to the project's root.
        text: the decoded file.
    """
    return chunk_document(path, parse_document(text), "markdown")


def chunk_document(path: str, document: Document, language: str) -> list[TextChunk]:
    """Cut a document into chunks by its sections, in order; `language` is that of its markup."""
    text = document.text
    index = LineIndex.from_text(text)
    links = list(_find_links(document))
    url = find_source_address(document)
    root = document.title or PurePosixPath(path).stem
    return [
        _make_chunk(path, text, span, index, place, root, links, url, language)
        for place, span in _iter_placed_spans(document)
        if not is_blank(text[span[0] : span[1]])
    ]


def _iter_placed_spans(document: Document) -> Iterator[tuple[_SectionPlace, Span]]:
    """Yield the extent of every chunk, and the section it is in."""
    for group in _group_sections(document):
        place = _place_of_group(document, group)
        start, end = document.sections[group[0]].char_start, document.sections[group[-1]].char_end
        for span in pack_atoms(document.text, _atoms_of_section(document, start, end)):
            yield replace(place, headings=_covered_headings(document.sections, group, place, span)), span


def _covered_headings(
    sections: Sequence[Section], group: Sequence[int], place: _SectionPlace, span: Span
) -> tuple[str, ...]:
    """Return the headings, also those above, of the sections that a chunk reaches into, but for its own place's."""
    within = (sections[n] for n in group if sections[n].char_start < span[1] and sections[n].char_end > span[0])
    titles = dict.fromkeys(title for section in within for title in section.path)
    return tuple(title for title in titles if title not in place.path)


def _make_chunk(
    path: str,
    text: str,
    span: Span,
    index: LineIndex,
    place: _SectionPlace,
    root: str,
    links: Sequence[_LinksOfBlock],
    url: str | None,
    language: str,
) -> TextChunk:
    line_start, line_end = index.lines_of(*span)
    body = text[span[0] : span[1]]
    return TextChunk(
        text=body,
        kind=ChunkKind.MARKDOWN,
        breadcrumb=place.path if place.path[:1] == (root,) else (root, *place.path),
        section_type=place.type.value,
        links=_links_within(links, span, body),
        position=Position(
            path=path,
            line_start=line_start,
            line_end=line_end,
            char_start=span[0],
            char_end=span[1],
            section_path=place.path,
            headings=place.headings,
            heading_level=place.level,
            language=language,
            url=url,
            anchor=place.anchor,
        ),
    )


# Which sections share a chunk, and where that chunk stands


def _group_sections(document: Document) -> list[list[int]]:
    """Gather small sections with their neighbours; every other section is a group of its own."""
    sections = document.sections
    groups: list[list[int]] = []
    current: list[int] = []
    for number, section in enumerate(sections):
        if current and (
            _group_size(document, current) >= MIN_CHUNK_CHARS or _is_outside_section(sections, current[0], section)
        ):
            _close_group(document, groups, current)
            current = []
        current.append(number)
    if current:
        _close_group(document, groups, current)
    return groups


def _close_group(document: Document, groups: list[list[int]], group: list[int]) -> None:
    if groups and _group_size(document, group) < MIN_CHUNK_CHARS:
        groups[-1].extend(group)
    else:
        groups.append(group)


def _group_size(document: Document, group: Sequence[int]) -> int:
    sections = document.sections
    return len(document.text[sections[group[0]].char_start : sections[group[-1]].char_end].strip())


def _is_outside_section(sections: Sequence[Section], first: int, section: Section) -> bool:
    parent = sections[first].parent
    return parent is not None and section.char_start >= sections[parent].subtree_end


def _place_of_group(document: Document, group: Sequence[int]) -> _SectionPlace:
    """Place a group at its section of size, else at its only innermost section, else at the nearest common ancestor."""
    sections = document.sections
    large = [number for number in group if _group_size(document, [number]) >= MIN_CHUNK_CHARS]
    parents = {sections[number].parent for number in group}
    leaves = large[:1] or [number for number in group if number not in parents]
    if len(leaves) == 1:
        return _place_of_section(sections[leaves[0]])
    types = {sections[number].type for number in leaves}
    above = _common_ancestor(sections, leaves)
    return _SectionPlace(
        path=sections[above].path if above is not None else (),
        level=sections[above].level if above is not None else None,
        anchor=sections[group[0]].anchor or None,
        type=types.pop() if len(types) == 1 else sections[above].type if above is not None else SectionType.UNKNOWN,
    )


def _place_of_section(section: Section) -> _SectionPlace:
    return _SectionPlace(section.path, section.level or None, section.anchor or None, section.type)


def _common_ancestor(sections: Sequence[Section], numbers: Sequence[int]) -> int | None:
    chains = [[*_iter_ancestors(sections, number)] for number in numbers]
    shared = set(chains[0]).intersection(*chains[1:])
    return next((number for number in chains[0] if number in shared), None)


def _iter_ancestors(sections: Sequence[Section], number: int) -> Iterator[int]:
    parent = sections[number].parent
    while parent is not None:
        yield parent
        parent = sections[parent].parent


# From blocks to atoms


def _atoms_of_section(document: Document, start: int, end: int) -> list[Atom]:
    """Cut the characters from `start` to `end`, both at section borders, into atoms that tile them."""
    words = count_words(document.text, start, end)
    if words <= WHOLE_WORDS and end - start <= MAX_CHUNK_CHARS:
        return [Atom(start=start, end=end, words=words)]
    if not document.blocks:
        return paragraph_atoms(document.text, start, end)
    starts = document.line_starts
    low, high = bisect_left(starts, start), bisect_left(starts, end)
    first, last = (bisect_left(document.blocks, line, key=_first_line) for line in (low, high))
    tokens = document.blocks[first:last]
    atoms: list[Atom] = []
    matter = starts[document.front_matter]
    if start < matter:
        atoms += solid_atoms(document.text, start, min(matter, end))
    return atoms + _atoms_of_blocks(document, tokens, max(start, min(matter, end)), end)


def _first_line(token: Token) -> int:
    return token.map[0] if token.map else 0


def _atoms_of_blocks(document: Document, tokens: Sequence[Token], start: int, end: int) -> list[Atom]:
    """Cut `start` to `end` at the outermost blocks among `tokens`; what no block covers (link definitions) is prose."""
    atoms: list[Atom] = []
    outer = min((token.level for token in tokens), default=0)
    heads = [number for number, token in enumerate(tokens) if token.level == outer]
    borders = [document.line_starts[_first_line(tokens[number])] for number in heads]
    if not heads or borders[0] > start:
        atoms += prose_atoms(document.text, start, borders[0] if heads else end)
    for place, number in enumerate(heads):
        last = place + 1 == len(heads)
        inner = tokens[number + 1 : None if last else heads[place + 1]]
        after = end if last else borders[place + 1]
        if max(start, borders[place]) < after:
            atoms += _atoms_of_block(document, tokens[number], inner, max(start, borders[place]), after)
    return atoms


def _atoms_of_block(document: Document, token: Token, inner: Sequence[Token], start: int, end: int) -> list[Atom]:
    text = document.text
    close = document.line_starts[token.map[1]] if token.map else end
    if close < end and text[close:end].strip():
        return _atoms_of_block(document, token, inner, start, close) + prose_atoms(text, close, end)
    if token.type in _SOLID_TOKENS:
        return solid_atoms(text, start, end)
    nested = [block for block in inner if block.level > token.level]
    if nested and (end - start > MAX_CHUNK_CHARS or count_words(text, start, end) > WINDOW_WORDS):
        return _atoms_of_blocks(document, nested, start, end)
    holds_solid = any(block.type in _SOLID_TOKENS for block in nested)
    return solid_atoms(text, start, end) if holds_solid else prose_atoms(text, start, end)


# Links


def _find_links(document: Document) -> Iterator[_LinksOfBlock]:
    starts = document.line_starts
    for token, first, behind in document.inlines:
        if _MAY_LINK.search(token.content):
            found = tuple(_iter_inline_links(inline_tokens(token, document.references)))
            if found:
                yield _LinksOfBlock(starts[first], starts[behind], found)


def _iter_inline_links(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """Yield each link's target, with the text that must be in a chunk for the link to be in it."""
    prose: list[str] = []
    target, label = "", ""
    for token in tokens:
        if token.type == "link_open":
            target, label = str(token.attrs.get("href", "")), ""
        elif token.type == "link_close":
            if target:
                yield target, label
            target = ""
        elif target:
            label = label or displayed_text(token).strip()
        else:
            prose.append(" " if token.type == "code_inline" else displayed_text(token))
    for match in _BARE_URL.finditer("".join(prose)):
        url = match[0].rstrip(_URL_TAIL)
        yield url, url


def _links_within(links: Sequence[_LinksOfBlock], span: Span, body: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for block in links[bisect_right(links, span[0], key=lambda block: block.end) :]:
        if block.start >= span[1]:
            break
        whole = span[0] <= block.start and block.end <= span[1]
        found.update((target, None) for target, label in block.links if whole or target in body or label in body)
    return tuple(found)
