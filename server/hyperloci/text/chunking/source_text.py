"""Source text: a source file in characters and in bytes, for a parser that works on bytes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from tree_sitter import Node

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.lines import LineIndex, Span

_BLOCK_BYTES: Final = 1_024
"""Distance of the known points of the byte to character map: a look-up counts half of it on average."""

_CONTINUATION_BYTES: Final = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True)
class SourceText:
    """A decoded file, the bytes that tree-sitter gets of it, and the way from the one to the other."""

    text: str
    data: bytes
    lines: LineIndex
    to_char: Callable[[int], int]

    @classmethod
    def from_text(cls, text: str) -> SourceText:
        """Prepare a text. A lone surrogate, which has no UTF-8, goes to the parser as one `?`."""
        data = text.encode("utf-8", "replace")
        return cls(text, data, LineIndex.from_text(text), _map_bytes_to_chars(text, data))

    def text_of(self, node: Node) -> str:
        """Return a node's text."""
        return self.text_between(node.start_byte, node.end_byte)

    def text_between(self, start: int, end: int) -> str:
        """Return the text between two byte offsets."""
        return self.data[start:end].decode("utf-8", "replace")

    def span_of(self, node: Node) -> Span:
        """Return a node's extent in characters."""
        return self.to_char(node.start_byte), self.to_char(node.end_byte)


def _map_bytes_to_chars(text: str, data: bytes) -> Callable[[int], int]:
    """Return the function from byte to character offsets: itself for ASCII, else through blocks of known counts."""
    if len(text) == len(data):
        return int
    starts = range(0, len(data), _BLOCK_BYTES)
    counts = (len(data[start : start + _BLOCK_BYTES].translate(None, _CONTINUATION_BYTES)) for start in starts)
    known = list(accumulate(counts, initial=0))

    def to_char(offset: int) -> int:
        block = offset // _BLOCK_BYTES
        return known[block] + len(data[block * _BLOCK_BYTES : offset].translate(None, _CONTINUATION_BYTES))

    return to_char


@dataclass(frozen=True, slots=True)
class SpanNesting:
    """Spans that contain one another or don't meet, outer before inner, in the order of their beginnings."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    parents: tuple[int | None, ...]

    @classmethod
    def from_spans(cls, spans: Sequence[Span]) -> SpanNesting:
        """Find each span's parent. The spans must be sorted by start, longer ones first."""
        parents: list[int | None] = []
        open_ones: list[int] = []
        for start, end in spans:
            while open_ones and (spans[open_ones[-1]][1] < end or spans[open_ones[-1]][1] <= start):
                open_ones.pop()
            parents.append(open_ones[-1] if open_ones else None)
            open_ones.append(len(parents) - 1)
        return cls(tuple(start for start, _ in spans), tuple(end for _, end in spans), tuple(parents))

    def find_innermost(self, offset: int) -> int | None:
        """Return the index of the innermost span that holds an offset."""
        number: int | None = bisect_right(self.starts, offset) - 1
        if number == -1:
            return None
        while number is not None and self.ends[number] <= offset:
            number = self.parents[number]
        return number
