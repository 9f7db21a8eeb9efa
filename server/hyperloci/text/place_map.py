"""Place map: where in a file stands what is left of it once it was cleaned and redacted."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hyperloci.model.position import Position
from hyperloci.system.values import dataclass

MAX_ALIGNED: Final = 4_000_000
"""Pairs of lines that are compared to find where text went missing; beyond it, lines are off by what was cut."""


@dataclass(frozen=True, slots=True)
class PlaceMap:
    """Leads from places in a prepared text to those in the original one.

    Cleaning and redacting change what is on a line; only a private block or key takes lines away.

    Attributes:
        before, after: the lines of the original and of the prepared text.
        line_of: for each line of the prepared text the original's that it is or replaced, 0-based.
        before_starts, after_starts: where the lines begin.
        end: where the original ends.
        is_same: whether nothing was changed.
    """

    before: Sequence[str]
    after: Sequence[str]
    line_of: Sequence[int]
    before_starts: Sequence[int]
    after_starts: Sequence[int]
    end: int
    is_same: bool

    @classmethod
    def between(cls, original: str, prepared: str) -> PlaceMap:
        """Return the way from a prepared text back to the original one."""
        before, after = original.split("\n"), prepared.split("\n")
        line_of = range(len(before)) if len(before) == len(after) else _align_lines(before, after)
        starts = _line_starts(before), _line_starts(after)
        return cls(before, after, line_of, *starts, len(original), original == prepared)

    def find(self, position: Position) -> Position:
        """Return the position in the original text of one in the prepared text."""
        if self.is_same or position.line_start is None or position.line_end is None:
            return position
        first, last = position.line_start - 1, position.line_end - 1
        return replace(
            position,
            line_start=self.line_of[first] + 1,
            line_end=self.line_of[last] + 1,
            char_start=None if position.char_start is None else self._offset(first, position.char_start),
            char_end=None if position.char_end is None else self._offset(last, position.char_end),
        )

    def _offset(self, line: int, offset: int) -> int:
        target, column = self.line_of[line], offset - self.after_starts[line]
        end = len(self.before[target]) + 1
        shifted = end if column > len(self.after[line]) else min(column, end)
        return min(self.before_starts[target] + shifted, self.end)


def _align_lines(before: Sequence[str], after: Sequence[str]) -> list[int]:
    """Return for each line of `after` the line of `before` that it is or replaced."""
    head = _common_prefix_length(before, after)
    tail = _common_prefix_length(before[head:][::-1], after[head:][::-1])
    inner, new_inner = before[head : len(before) - tail], after[head : len(after) - tail]
    line_of = [*range(head), *[head] * len(new_inner), *range(len(before) - tail, len(before))]
    if len(inner) * len(new_inner) > MAX_ALIGNED:
        return line_of
    matcher = difflib.SequenceMatcher(None, inner, new_inner, autojunk=False)
    for _, start, end, new_start, new_end in matcher.get_opcodes():
        for step, line in enumerate(range(new_start, new_end)):
            line_of[head + line] = min(head + start + (step if end > start else 0), max(head + end - 1, head))
    return line_of


def _common_prefix_length(left: Sequence[str], right: Sequence[str]) -> int:
    return next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))


def _line_starts(lines: Sequence[str]) -> list[int]:
    starts, offset = [], 0
    for line in lines:
        starts.append(offset)
        offset += len(line) + 1
    return starts
