"""reStructuredText: the section tree of a document, from the lines under (and over) its titles.

Which mark stands for which level is the document's own choice: the first that comes is the highest. Of everything else
only what could be taken for a title is understood: blocks of code and directives are indented, so no title is sought
in indented lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.text.chunking.sections import (
    Document,
    DocumentHeading,
    lay_out_document,
    slugify,
    split_lines,
    unique_slug,
)

MAX_LEVEL: Final = 6
"""As in Markdown: what is deeper counts as this."""

SHORT_RULE: Final = 4
"""A rule of so many characters may be shorter than its title, as docutils has it."""

_RULE: Final = re.compile(r"([!-/:-@\[-`{-~])(?>\1+)[ \t]*+\Z")
_ROLE: Final = re.compile(r":[\w.+-]{1,60}:`")
_EMBEDDED_TARGET: Final = re.compile(r"`([^`<]{1,300})<[^<>`]{1,300}>`_{0,2}")
_MARKUP: Final = re.compile(r"`{1,2}_{0,2}|\*{1,2}|(?<=\w)_{1,2}(?=\W|\Z)|\\(?=\W)")


def parse_restructured_text(text: str) -> Document:
    """Parse a reStructuredText document; its titles open sections as headings do in Markdown."""
    return lay_out_document(text, list(_iter_headings(split_lines(text))))


def _iter_headings(lines: Sequence[str]) -> Iterator[DocumentHeading]:
    styles: list[tuple[str, bool]] = []
    used: dict[str, int] = {}
    number = 0
    behind_title = True
    while number < len(lines):
        found = _read_title(lines, number, may_begin=behind_title or _is_border(lines[number - 1]))
        behind_title = found is not None
        if found is None:
            number += 1
            continue
        title, style, length = found
        if style not in styles:
            styles.append(style)
        shown = _strip_markup(title)
        level = min(MAX_LEVEL, styles.index(style) + 1)
        yield DocumentHeading(shown, level, unique_slug(slugify(shown), used), number)
        number += length


def _read_title(lines: Sequence[str], at: int, *, may_begin: bool) -> tuple[str, tuple[str, bool], int] | None:
    """Return the title that begins at a line, its style (mark, and whether a rule is over it) and its lines."""
    if not may_begin:
        return None
    over = _RULE.match(lines[at])
    if over and at + 2 < len(lines) and (under := _RULE.match(lines[at + 2])) and over[1] == under[1]:
        title = lines[at + 1].strip()
        if title and not _RULE.match(title) and _spans_title(lines[at], title) and _spans_title(lines[at + 2], title):
            return title, (over[1], True), 3
    title = lines[at].removeprefix("\ufeff").rstrip()
    under = _RULE.match(lines[at + 1]) if at + 1 < len(lines) and title else None
    if (
        under
        and not over
        and not title[0].isspace()
        and not title.startswith("..")
        and _spans_title(lines[at + 1], title)
    ):
        return title, (under[1], False), 2
    return None


def _spans_title(rule: str, title: str) -> bool:
    length = len(rule.rstrip())
    return length >= SHORT_RULE or length >= len(title)


def _is_border(line: str) -> bool:
    """Tell whether a title may follow a line: a blank one, or a label or comment."""
    return not line.strip() or line.startswith("..")


def _strip_markup(title: str) -> str:
    return " ".join(_MARKUP.sub("", _EMBEDDED_TARGET.sub(r"\1", _ROLE.sub("`", title))).split())
