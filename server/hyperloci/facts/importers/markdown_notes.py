"""Markdown notes: reads notes that were kept for an assistant: `MEMORY.md` with its topic files, `CLAUDE.md`.

Every list item and every paragraph is one statement, with the headings above it. A paragraph that ends in a colon
introduces the list below it and is put before each of its items; a code block belongs to the text before it.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import Final

from markdown_it.token import Token

from hyperloci.model.imported_memory import ImportedFact, ImportedMemory
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.sections import Document, parse_document

FORMAT: Final = "notes"

SUFFIXES: Final = frozenset({".md", ".markdown"})

INDEX_NAME: Final = "MEMORY.md"
"""The file in which Claude Code lists its notes on a project; the notes themselves lie beside it."""

SUBTYPE_OF_TYPE: Final = {"user": "user_info", "feedback": "preference"}
"""What Claude Code's own notes are, by the `type` of their front matter; others are plain facts."""

_MARKER: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])(?:\s+\[[ xX]\])?(?:\s+|$)")
_TYPE: Final = re.compile(r"^[ \t]*+type:[ \t]*+[\"']?(\w++)", re.MULTILINE)
_NAME: Final = re.compile(r"^name:[ \t]*+[\"']?(.*[^\s\"']|.)[\"']?[ \t\r]*+$", re.MULTILINE)
_LINK: Final = re.compile(r"\]\(<?([^()<>/\\\s]+\.md)>?\)")
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)

_CODE: Final = frozenset({"fence", "code_block"})
_ITEM: Final = "list_item_open"
_BLOCKS: Final = _CODE | {"paragraph_open", "blockquote_open", "table_open", "html_block"}


@dataclass(frozen=True, slots=True)
class _NoteItem:
    text: str
    line: int
    section_path: tuple[str, ...]


def read_notes(name: str, text: str) -> ImportedMemory:
    """Return the statements of a file of notes, in order.

    Args:
        name: the file's name; it stands in for a title.
        text: the decoded file.
    """
    document = parse_document(text)
    matter = text[: document.line_starts[document.front_matter]]
    named, kind = _NAME.search(matter), _TYPE.search(matter)
    subtype = SUBTYPE_OF_TYPE.get(kind[1].lower() if kind else "", "semantic")
    root = named[1] if named else name
    return ImportedMemory(
        FORMAT,
        tuple(
            ImportedFact(
                text=item.text,
                line=item.line,
                title=" > ".join((root, *item.section_path)),
                section_path=item.section_path,
                subtype=subtype,
            )
            for item in _parse_items(document)
        ),
    )


def linked_notes(index: Path, text: str) -> list[Path]:
    """Return the notes that an index of notes names and that lie beside it, each once; links out are not followed."""
    if index.name != INDEX_NAME:
        return []
    beside = (index.with_name(name) for name in dict.fromkeys(_LINK.findall(text)) if name != index.name)
    return [path for path in beside if path.is_file() and not path.is_symlink()]


class _StatementBuilder:
    """Puts together what belongs to one statement."""

    def __init__(self) -> None:
        self.items: list[_NoteItem] = []
        self._lead: _NoteItem | None = None
        self._has_led = False

    def add_block(self, kind: str, item: _NoteItem) -> None:
        """Take the next block, of markdown-it's kind."""
        if self._lead is not None and self._lead.section_path != item.section_path:
            self.end_paragraph()
        if kind in _CODE:
            self._add_code(item)
        elif kind == _ITEM:
            self.items.append(item if self._lead is None else _join_introduction(self._lead, " ", item))
            self._has_led = True
        else:
            self.end_paragraph()
            if kind == "paragraph_open" and item.text.endswith(":"):
                self._lead, self._has_led = item, False
            else:
                self.items.append(item)

    def _add_code(self, item: _NoteItem) -> None:
        if self._lead is not None and not self._has_led:
            self.items.append(_join_introduction(self._lead, "\n", item))
            self._has_led = True
        elif self.items and self.items[-1].section_path == item.section_path:
            self.items[-1] = _NoteItem(f"{self.items[-1].text}\n\n{item.text}", self.items[-1].line, item.section_path)
        else:
            self.items.append(item)

    def end_paragraph(self) -> None:
        """End the paragraph that led to what followed; one that led to nothing is a statement itself."""
        if self._lead is not None and not self._has_led:
            self.items.append(self._lead)
        self._lead = None


def _join_introduction(lead: _NoteItem, between: str, item: _NoteItem) -> _NoteItem:
    return _NoteItem(f"{lead.text}{between}{item.text}", item.line, item.section_path)


def _parse_items(document: Document) -> list[_NoteItem]:
    gatherer = _StatementBuilder()
    for token in document.blocks:
        if token.map and ((token.level == 0 and token.type in _BLOCKS) or (token.level == 1 and token.type == _ITEM)):
            item = _parse_item(document, token)
            if item.text:
                gatherer.add_block(token.type, item)
    gatherer.end_paragraph()
    return gatherer.items


def _parse_item(document: Document, token: Token) -> _NoteItem:
    first, behind = token.map or [0, 0]
    start, end = document.line_starts[first], document.line_starts[behind]
    text = document.text[start:end]
    if token.type == _ITEM:
        text = _strip_marker(text)
    elif token.type not in _CODE:
        text = _COMMENT.sub("", text)
    path = next((part.path for part in document.sections if part.char_start <= start < part.char_end), ())
    return _NoteItem(text.strip("\n").rstrip() if token.type in _CODE else text.strip(), first + 1, path)


def _strip_marker(text: str) -> str:
    marker = _MARKER.match(text)
    head, newline, rest = text[marker.end() if marker else 0 :].partition("\n")
    return f"{head}{newline}{textwrap.dedent(rest)}"
