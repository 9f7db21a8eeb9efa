"""Notebook: the cells of a Jupyter notebook (format 3 or 4), and their sources one below the other as a text.

Of a cell only its source is read. Outputs and attachments are not, and an image written into a source is cut out of it:
none of them says anything to a reader of text.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.lines import LineIndex
from hyperloci.text.chunking.programming_languages import BY_NAME

MARKDOWN: Final = "markdown"

DEFAULT_LANGUAGE: Final = "python"
"""What a notebook without a kernel's name is written in."""

_CELL_BREAK: Final = "\n\n"

_SPACE: Final = re.compile(r"[ \t\r\n]*+")
_EMBEDDED_DATA: Final = re.compile(r"(data:[\w.+-]{1,60}/[\w.+-]{1,60};base64,)[A-Za-z0-9+/=]{40,}")
_CELL_MAGIC: Final = re.compile(r"\s*+%%(?:script[ \t]+)?(\w+)")
_VERSION: Final = "0123456789."

_KERNEL_NAMES: Final = {
    "c++": "cpp",
    "c#": "c_sharp",
    "csharp": "c_sharp",
    "ipython": "python",
    "ir": "r",
    "js": "javascript",
    "sh": "bash",
    "ts": "typescript",
}
"""What kernels and magics call a language, where that is not our name of it."""

_KNOWN_NAMES: Final = frozenset({*BY_NAME, "html", "julia", "perl", "r"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookCell:
    """One cell.

    Attributes:
        number: its place among all cells, from 1.
        language: `markdown`, or that of its code.
        source: what it holds.
        line: the line of the file on which its source begins, 1-based.
        is_spread: whether each line of its source has a line of the file to itself.
    """

    number: int
    language: str
    source: str
    line: int
    is_spread: bool


@dataclass(frozen=True, slots=True)
class NotebookText:
    """The sources of a notebook's cells, one below the other.

    Attributes:
        text: the sources, with a blank line between two.
        cells: those that hold something, in order.
        first_lines: the line of `text` on which each begins, 0-based.
    """

    text: str
    cells: tuple[NotebookCell, ...]
    first_lines: tuple[int, ...]

    def index_at(self, line: int) -> int:
        """Return the index of the cell that a line of `text` (0-based) is in or right below."""
        return bisect_right(self.first_lines, line) - 1

    def line_in_file(self, line: int) -> int:
        """Return the line of the file, 1-based, that a line of `text` (1-based) was read from."""
        index = self.index_at(line - 1)
        cell = self.cells[index]
        within = min(line - 1 - self.first_lines[index], cell.source.count("\n"))
        return cell.line + (within if cell.is_spread else 0)


def read_notebook(text: str) -> NotebookText:
    """Lay out a notebook.

    Args:
        text: the notebook's file.

    Raises:
        json.JSONDecodeError: it is no JSON, or its cells are not where a notebook has them.
        RecursionError: it is nested too deeply.
    """
    cells = tuple(cell for cell in _iter_cells(text) if cell.source)
    first_lines: list[int] = []
    line = 0
    for cell in cells:
        first_lines.append(line)
        line += cell.source.count("\n") + _CELL_BREAK.count("\n")
    return NotebookText(_CELL_BREAK.join(cell.source for cell in cells), cells, tuple(first_lines))


@dataclass(frozen=True, slots=True, kw_only=True)
class _RawCell:
    """A cell as the file has it; `start` and `end` are where the value of its source stands."""

    values: Mapping[str, Any]
    start: int
    end: int


class _JsonCursor:
    """Reads JSON value by value, and knows where each one stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._decoder = json.JSONDecoder()

    def skip_space(self) -> int:
        """Go to the next sign, and return where it stands."""
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at
        return self.at

    def read_value(self) -> Any:
        """Read a whole value."""
        value, self.at = self._decoder.raw_decode(self.text, self.skip_space())
        return value

    def iter_members(self) -> Iterator[str]:
        """Go through an object; whoever takes a key reads its value before the next."""
        for _ in self._iter_parts("{", "}"):
            key = self.read_value()
            self._expect(":")
            yield str(key)

    def iter_items(self) -> Iterator[None]:
        """Go through an array; an item is read before the next."""
        return self._iter_parts("[", "]")

    def _iter_parts(self, opening: str, closing: str) -> Iterator[None]:
        self._expect(opening)
        if not self._take(closing):
            yield
            while self._take(","):
                yield
            self._expect(closing)

    def _take(self, sign: str) -> bool:
        if not self.text.startswith(sign, self.skip_space()):
            return False
        self.at += 1
        return True

    def _expect(self, sign: str) -> None:
        if not self._take(sign):
            raise json.JSONDecodeError(f"Expecting {sign!r}", self.text, self.at)


def _iter_cells(text: str) -> Iterator[NotebookCell]:
    lines = LineIndex.from_text(text)
    raw_cells: list[_RawCell] = []
    metadata: Any = {}
    cursor = _JsonCursor(text)
    for key in cursor.iter_members():
        if key == "cells":
            raw_cells += _read_cells(cursor)
        elif key == "worksheets":
            raw_cells += _read_worksheets(cursor)
        else:
            value = cursor.read_value()
            metadata = value if key == "metadata" else metadata
    usual = _find_language(metadata) or DEFAULT_LANGUAGE
    for number, raw in enumerate(raw_cells, start=1):
        source, parts = _join_source(raw.values)
        spread = parts > 0 and cursor.text.count("\n", raw.start, raw.end) >= parts
        yield NotebookCell(
            number=number,
            language=_language_of_cell(raw.values, source, usual),
            source=source,
            line=lines.line_at(raw.start) + spread,
            is_spread=spread,
        )


def _read_worksheets(cursor: _JsonCursor) -> Iterator[_RawCell]:
    """Read the cells of format 3."""
    for _ in cursor.iter_items():
        for key in cursor.iter_members():
            if key == "cells":
                yield from _read_cells(cursor)
            else:
                cursor.read_value()


def _read_cells(cursor: _JsonCursor) -> Iterator[_RawCell]:
    for _ in cursor.iter_items():
        values: dict[str, Any] = {}
        start = end = cursor.at
        for key in cursor.iter_members():
            before = cursor.skip_space()
            value = cursor.read_value()
            if key in {"source", "input"}:
                start, end = before, cursor.at
            if key not in {"outputs", "attachments"}:
                values[key] = value
        yield _RawCell(values=values, start=start, end=end)


def _join_source(values: Mapping[str, Any]) -> tuple[str, int]:
    """Return a cell's source, and in how many parts the file has it; 0 where it is one string."""
    source = values.get("source", values.get("input", ""))
    parts = [str(part) for part in source] if isinstance(source, list) else [str(source or "")]
    text = _EMBEDDED_DATA.sub(r"\1...", "".join(parts).replace("\r\n", "\n"))
    text = text if text.strip() else ""
    level = values.get("level")
    if values.get("cell_type") == "heading" and isinstance(level, int) and text:
        text = "#" * max(1, min(level, 6)) + " " + text
    return text, len(parts) if isinstance(source, list) else 0


def _language_of_cell(values: Mapping[str, Any], source: str, usual: str) -> str:
    """Return the language of a cell; a raw one (a header, mark-up for a converter) is read as Markdown is."""
    if values.get("cell_type") != "code":
        return MARKDOWN
    magic = _CELL_MAGIC.match(source)
    if magic and (name := _name_language(magic[1])) in _KNOWN_NAMES:
        return name
    said = (
        _read_path(values, "metadata", "vscode", "languageId"),
        _read_path(values, "metadata", "dotnet_interactive", "language"),
        _read_path(values, "language"),
    )
    return next((_name_language(name) for name in said if name), usual)


def _find_language(metadata: Any) -> str | None:
    said = (_read_path(metadata, "kernelspec", "language"), _read_path(metadata, "language_info", "name"))
    return next((_name_language(name) for name in said if name), None)


def _read_path(value: Any, *keys: str) -> str | None:
    """Return the text at the end of a path of keys, None where there is none."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value.strip() else None


def _name_language(name: str) -> str:
    lowered = name.strip().lower()
    bare = lowered.rstrip(_VERSION) or lowered
    return _KERNEL_NAMES.get(bare, bare)
