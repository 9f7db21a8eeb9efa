"""Lines: the offsets of lines, and windows of a long run of lines."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from hyperloci.system.values import dataclass

MAX_CHUNK_CHARS = 4_000
"""No chunk is longer (D.05): about 1,000 tokens, a screenful or two for a reader and four times what MiniLM reads."""

WINDOW_CHARS = 2_000
"""Aim of a window of lines without structure (configuration, code without a grammar): about 60 lines."""

Span = tuple[int, int]
"""Two character offsets, start inclusive, end exclusive."""


@dataclass(frozen=True, slots=True)
class LineIndex:
    """The offset of every line's first character. A line ends at `\\n`, as git, grep and tree-sitter count them."""

    starts: tuple[int, ...]

    @classmethod
    def from_text(cls, text: str) -> LineIndex:
        """Index a text; even the empty text has one line."""
        lengths = [len(line) + 1 for line in text.split("\n")]
        return cls(tuple(accumulate(lengths[:-1], initial=0)))

    def line_at(self, offset: int) -> int:
        """Return the 1-based line that holds the character at `offset`."""
        return bisect_right(self.starts, offset)

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and the last line, 1-based and inclusive, of the characters from `start` to `end`."""
        return self.line_at(start), self.line_at(max(start, end - 1))

    def start_of_line_at(self, offset: int) -> int:
        """Return the offset at which the line that holds `offset` begins."""
        return self.starts[self.line_at(offset) - 1]

    def start_of_next_line(self, offset: int, end: int) -> int:
        """Return where the line after the one that holds `offset` begins, at most `end`."""
        line = self.line_at(offset)
        return min(self.starts[line], end) if line < len(self.starts) else end


def is_blank(text: str) -> bool:
    """Say whether a text is white space and byte order marks only: nothing to remember."""
    return not text.replace("\ufeff", " ").strip()


def line_windows(text: str, start: int, end: int, limit: int = WINDOW_CHARS) -> list[Span]:
    """Cut `text[start:end]` into adjacent windows of at most `limit` characters.

    A cut falls behind a blank line if one stands in the second half of a window, else behind a line, else (one line
    longer than the limit) behind white space, else anywhere.
    """
    windows: list[Span] = []
    while end - start > limit:
        cut = _find_best_cut(text, start, start + limit)
        windows.append((start, cut))
        start = cut
    if start < end:
        windows.append((start, end))
    return windows


def _find_best_cut(text: str, start: int, stop: int) -> int:
    middle = (start + stop) // 2
    blank = text.rfind("\n\n", middle, stop)
    if blank != -1:
        return blank + 2
    line = text.rfind("\n", start, stop)
    if line != -1:
        return line + 1
    space = text.rfind(" ", middle, stop)
    return stop if space == -1 else space + 1
