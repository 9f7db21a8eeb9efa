"""Folding: text in lines that fit a terminal, broken between words and indented as they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

TAB_COLUMNS: Final = 4
"""Half of what a terminal takes, which leaves little room for code in 80 columns."""

_BEGINNING: Final = re.compile(r" *(?:(?:->|[-!*]|\d+\.|error:) +)?")
"""What stands before the first word of a line: its further lines are indented by as much."""

_HEADING: Final = re.compile(r"\[\w+\]  ")
"""A memory's kind, with which its heading begins in a list: its further lines stand above its text."""

_TEXT_INDENT: Final = 3

_WORD: Final = re.compile(r"\S+ *")


class FoldingConsole(Console):
    """A console that folds text where it is a terminal, and prints it as it is into a file or pipe.

    Whoever reads a file gets whole lines, and no path or id is cut in two anywhere: a longer word sticks out.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print texts folded, anything else (tables, trees) no wider than the terminal."""
        if self.is_terminal:
            objects = tuple(self._fold(one) if isinstance(one, str | Text) else one for one in objects)
            if any(not isinstance(one, str | Text) for one in objects):
                options |= {"soft_wrap": False, "width": None}
        super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Leave it to the command that nobody reads what it prints: it ends as others do."""
        raise

    def _fold(self, one: str | Text) -> Text:
        return fold_text(Text(one) if isinstance(one, str) else one, self.width)


def fold_text(text: Text, width: int, hang: int | None = None) -> Text:
    """Return a text with its lines broken between words so that they fit a width.

    Args:
        text: of any number of lines.
        width: columns.
        hang: how far the further lines of a line are indented; unless given, as far as its first word stands.
    """
    folded: list[Text] = []
    if "\t" in text.plain:
        # A tab is measured as no column, and a terminal takes up to eight for it.
        text = text.copy()
        text.expand_tabs(TAB_COLUMNS)
    for line in text.split("\n", allow_blank=True):
        indent = _measure_beginning(line.plain) if hang is None else hang
        pieces = line.divide(_find_breaks(line.plain, width, indent))
        for number, piece in enumerate(pieces):
            piece.rstrip()
            folded.append(Text(" " * indent).append_text(piece) if number else piece)
    made = Text("\n").join(folded)
    made.style = text.style
    return made


def _measure_beginning(line: str) -> int:
    if _HEADING.match(line):
        return _TEXT_INDENT
    match = _BEGINNING.match(line)
    return 0 if match is None else match.end()


def _find_breaks(line: str, width: int, indent: int) -> Iterator[int]:
    """Yield where a line is to be broken: before words that would stand out."""
    if cell_len(line) <= width:
        return
    first = _measure_beginning(line)
    column = cell_len(line[:first])
    for match in _WORD.finditer(line, first):
        if column + cell_len(match[0].rstrip()) > width and column > indent and match.start() > first:
            yield match.start()
            column = indent
        column += cell_len(match[0])
