"""Sections: the section tree of a document (D.04); of a Markdown document from markdown-it's blocks.

The parser sees the text without a byte order mark and with its front matter blanked out: neither moves a line, so the
parser's line numbers hold for the text itself.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from typing import Any, Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.lines import LineIndex
from hyperloci.text.chunking.section_types import SectionType, infer_section_type
from hyperloci.text.cutting import cut_text

_MAX_TITLE_CHARS = 200
"""A setext underline below a paragraph makes all of it a heading; a title and a path need only its beginning."""

_MAX_INLINE_CHARS = 10_000
"""Inline markup of a longer block is not parsed: brackets without end make the parser take quadratic time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A heading and what stands under it up to the next heading, or (level 0, no title) the text above the first one.

    Attributes:
        title: the heading's text without markup.
        level: 1 to 6; 0 for the text above the first heading.
        type: what it is for, from its title or else from the nearest titled ancestor that tells.
        anchor: GitHub's slug, with its suffix for a repeated title; empty for level 0.
        path: the titles above it and its own, outermost first.
        parent: index of the section it belongs to, in the list it stands in.
        char_start, char_end: its own text, without subsections, 0-based, end exclusive.
        line_start, line_end: the same in lines, 1-based, inclusive.
        subtree_end: where its last subsection ends.
    """

    title: str
    level: int
    type: SectionType
    anchor: str
    path: tuple[str, ...]
    parent: int | None
    char_start: int
    char_end: int
    line_start: int
    line_end: int
    subtree_end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed document; where its blocks are not understood (reStructuredText), it has none.

    Attributes:
        text: the source.
        sections: in order; their own texts tile the source exactly.
        blocks: the tokens that open blocks, at every depth, in order.
        inlines: the unparsed inline text of blocks, each with its first line and the line behind it, 0-based.
        references: the parser's environment, with the link definitions.
        line_starts: offset of every line as the parser counts them (`\\n`, `\\r\\n`, `\\r`), and the text's length.
        front_matter: number of lines the front matter takes at the top.
        title: from the front matter, else the only first-level heading, else empty.
    """

    text: str
    sections: tuple[Section, ...]
    blocks: tuple[Token, ...]
    inlines: tuple[tuple[Token, int, int], ...]
    references: dict[str, Any]
    line_starts: tuple[int, ...]
    front_matter: int
    title: str


@dataclass(frozen=True, slots=True)
class DocumentHeading:
    """A heading that opens a section, on a line (0-based)."""

    title: str
    level: int
    anchor: str
    line: int


def parse_sections(text: str) -> list[Section]:
    """Return the sections of a Markdown text, in order; none for an empty text (D.04)."""
    return list(parse_document(text).sections)


def parse_document(text: str) -> Document:
    """Parse a Markdown text: ATX and setext headings, fences, lists, tables, HTML and YAML or TOML front matter."""
    lines = _LINE.split(text)
    front_matter = _count_front_matter_lines(lines)
    visible = [""] * front_matter + lines[front_matter:]
    references: dict[str, Any] = {}
    tokens = make_block_parser().parse("\n".join(visible).removeprefix("\ufeff"), references)
    line_starts = _find_line_starts(text, lines)
    headings = list(_iter_headings(tokens, references))
    return Document(
        text=text,
        sections=tuple(_build_sections(text, headings, line_starts)),
        blocks=tuple(token for token in tokens if token.map and token.type != "inline"),
        inlines=tuple(_iter_inline_tokens(tokens)),
        references=references,
        line_starts=line_starts,
        front_matter=front_matter,
        title=_find_document_title(lines[:front_matter], headings),
    )


def lay_out_document(text: str, headings: Sequence[DocumentHeading]) -> Document:
    """Return a document of which nothing but the headings is understood."""
    line_starts = _find_line_starts(text, split_lines(text))
    return Document(
        text=text,
        sections=tuple(_build_sections(text, headings, line_starts)),
        blocks=(),
        inlines=(),
        references={},
        line_starts=line_starts,
        front_matter=0,
        title=_find_document_title((), headings),
    )


def split_lines(text: str) -> list[str]:
    """Return the lines of a text as `Document.line_starts` counts them."""
    return _LINE.split(text)


def find_source_address(document: Document) -> str | None:
    """Return the address of the page that a document says it is, in its front matter; None without one."""
    matter = document.text[: document.line_starts[document.front_matter]]
    found = (_FRONT_MATTER_SOURCE.match(line) for line in _LINE.split(matter))
    return next((match[1] for match in found if match), None)


def slugify(title: str) -> str:
    """Return the anchor that GitHub gives a heading, without the suffix for repetitions."""
    kept = (char for char in title.strip().lower() if char in " -_" or unicodedata.category(char)[0] in "LMN")
    return "".join(kept).replace(" ", "-")


def inline_tokens(inline: Token, references: dict[str, Any]) -> list[Token]:
    """Parse the inline markup of a block that markdown-it left unparsed; only its first 10,000 characters."""
    tokens: list[Token] = []
    parser = make_block_parser()
    parser.inline.parse(inline.content[:_MAX_INLINE_CHARS], parser, references, tokens)
    return tokens


def displayed_text(token: Token) -> str:
    """Return what a reader sees of one inline token: text and code as they are, breaks as spaces, no markup."""
    if token.type in {"text", "code_inline", "text_special"}:
        return token.content
    return " " if token.type.endswith("break") else ""


class _BlockParser(MarkdownIt):
    """CommonMark with tables that reports links as they were written: not percent-encoded, none refused."""

    def normalizeLink(self, url: str) -> str:
        return url

    def validateLink(self, url: str) -> bool:
        return True


@cache
def make_block_parser() -> MarkdownIt:
    """Return the shared parser; it parses blocks, and inline text only where it is asked to."""
    parser = _BlockParser("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    return parser


_LINE: Final = re.compile(r"\r\n?|\n")
_FRONT_MATTER_FENCES: Final = {"---": ("---", "..."), "+++": ("+++",)}
_FRONT_MATTER_KEY: Final = re.compile(r"[\w\"'.-]+\s*[:=]|[#\[]")
_FRONT_MATTER_SOURCE: Final = re.compile(
    r"(?:url|source|source_url|canonical|canonical_url)\s*[:=]\s*[\"']?(https?://[^\s\"'<>]+)", re.IGNORECASE
)
"""The address that a page was saved from, as web clippers and site generators write it."""

_FRONT_MATTER_TITLE: Final = re.compile(r"title\s*[:=]\s*(.+)")


def _count_front_matter_lines(lines: Sequence[str]) -> int:
    """Return how many lines at the top are front matter: fenced, and with a key right below the opening fence."""
    closing = _FRONT_MATTER_FENCES.get(lines[0].removeprefix("\ufeff").rstrip())
    if closing is None or len(lines) < 2 or not _FRONT_MATTER_KEY.match(lines[1]):
        return 0
    for number, line in enumerate(lines[1:], start=2):
        if line.rstrip() in closing:
            return number
    return 0


def _find_line_starts(text: str, lines: Sequence[str]) -> tuple[int, ...]:
    if "\r" not in text:
        return (*accumulate((len(line) + 1 for line in lines[:-1]), initial=0), len(text))
    return (0, *(match.end() for match in _LINE.finditer(text)), len(text))


def _find_document_title(front_matter: Sequence[str], headings: Sequence[DocumentHeading]) -> str:
    for line in front_matter:
        if match := _FRONT_MATTER_TITLE.match(line):
            return match[1].strip().strip("\"'")[:_MAX_TITLE_CHARS]
    first_level = [heading.title for heading in headings if heading.level == 1]
    return first_level[0] if len(first_level) == 1 else ""


def _iter_inline_tokens(tokens: Sequence[Token]) -> Iterator[tuple[Token, int, int]]:
    first, behind = 0, 0
    for token in tokens:
        if token.map:
            first, behind = token.map
        if token.type == "inline":
            yield token, first, behind


def _iter_headings(tokens: Sequence[Token], references: dict[str, Any]) -> Iterator[DocumentHeading]:
    """Yield the headings that open sections: those in quotes and lists don't, but they do take an anchor."""
    used: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type != "heading_open" or token.map is None:
            continue
        title = " ".join("".join(map(displayed_text, inline_tokens(tokens[index + 1], references))).split())
        anchor = unique_slug(slugify(title), used)
        if token.level == 0:
            yield DocumentHeading(cut_text(title, _MAX_TITLE_CHARS), int(token.tag[1]), anchor, token.map[0])


def unique_slug(slug: str, used: dict[str, int]) -> str:
    """Return a slug with the suffix that tells it from those `used` so far, and note it there."""
    anchor = slug
    while anchor in used:
        used[slug] += 1
        anchor = f"{slug}-{used[slug]}"
    used[anchor] = 0
    return anchor


def _build_sections(text: str, headings: Sequence[DocumentHeading], line_starts: Sequence[int]) -> list[Section]:
    """Lay the sections over the text; white space above the first heading belongs to that heading's section."""
    if not text:
        return []
    starts = [line_starts[heading.line] for heading in headings]
    if not starts or text[: starts[0]].strip("\ufeff \t\r\n"):
        headings = [DocumentHeading("", 0, "", 0), *headings]
        starts.insert(0, 0)
    starts[0] = 0
    ends = [*starts[1:], len(text)]
    index = LineIndex.from_text(text)
    sections: list[Section] = []
    for number, (heading, parent) in enumerate(zip(headings, _find_parents(headings), strict=True)):
        above = sections[parent] if parent is not None else None
        line_start, line_end = index.lines_of(starts[number], ends[number])
        sections.append(
            Section(
                title=heading.title,
                level=heading.level,
                type=infer_section_type(heading.title, above.type if above else SectionType.UNKNOWN),
                anchor=heading.anchor,
                path=(above.path if above else ()) + ((heading.title,) if heading.title else ()),
                parent=parent,
                char_start=starts[number],
                char_end=ends[number],
                line_start=line_start,
                line_end=line_end,
                subtree_end=_find_subtree_end(headings, ends, number),
            )
        )
    return sections


def _find_parents(headings: Sequence[DocumentHeading]) -> list[int | None]:
    """Return each heading's nearest one above with a lower level; the text above the first is nobody's parent."""
    parents: list[int | None] = []
    open_ones: list[int] = []
    for number, heading in enumerate(headings):
        while open_ones and headings[open_ones[-1]].level >= heading.level:
            open_ones.pop()
        parents.append(open_ones[-1] if open_ones else None)
        if heading.level:
            open_ones.append(number)
    return parents


def _find_subtree_end(headings: Sequence[DocumentHeading], ends: Sequence[int], number: int) -> int:
    level = headings[number].level
    last = number
    if level:
        while last + 1 < len(headings) and headings[last + 1].level > level:
            last += 1
    return ends[last]
