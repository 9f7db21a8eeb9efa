"""Partition: divides a parsed source file into the pieces that become chunks (D.06).

The pieces tile the file: every character is in exactly one. A piece begins at the start of a line if the code allows
it. A definition's piece starts at its leading comment and ends with its last line; the blank lines behind it and the
lone bracket that closes what is around it go with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from tree_sitter import Node

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.definitions import Definition
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS, Span, is_blank, line_windows
from hyperloci.text.chunking.outline import Outline
from hyperloci.text.chunking.prose import MIN_CHUNK_CHARS

SPLIT_CHARS = 3_000
"""Aim of the parts of a longer definition: below the limit, so that a short last part fits the one before."""

_MAX_DEPTH: Final = 60
"""Nesting that is followed; code nested deeper (generated, or hostile) is cut at lines."""


_LEADING: Final = ("comment", "attribute_item")
"""How the grammars' kinds end of what belongs to what stands below it; Rust alone has attributes that stand alone."""


@dataclass(frozen=True, slots=True)
class CodePiece:
    """A run of characters that belongs to one definition, or (None) to the module itself.

    Attributes:
        start, end: character offsets.
        owner: index of the definition.
        is_head: whether the owner begins here.
        is_loose: whether it is code between definitions.
    """

    start: int
    end: int
    owner: int | None
    is_head: bool
    is_loose: bool


def partition_outline(outline: Outline) -> list[CodePiece]:
    """Return the pieces of a file, in order; they tile it exactly. Pieces above the limit are cut at statements."""
    plan = _PartitionPlan.from_outline(outline)
    raw = plan.pieces_of_scope(None, 0, len(outline.source.text), 0)
    return [part for piece in _join_small_pieces(outline.source.text, raw) for part in _cut_piece(outline, piece)]


@dataclass(frozen=True, slots=True)
class _PartitionPlan:
    """Which definitions are chunks of their own, under which."""

    outline: Outline
    children: dict[int | None, list[int]]

    @classmethod
    def from_outline(cls, outline: Outline) -> _PartitionPlan:
        children: dict[int | None, list[int]] = {}
        for number, item in enumerate(outline.definitions):
            if item.chunked:
                children.setdefault(_find_chunked_parent(outline, item.parent), []).append(number)
        return cls(outline, children)

    def pieces_of_scope(self, owner: int | None, start: int, end: int, depth: int) -> Iterator[CodePiece]:
        """Yield the pieces between `start` and `end`, the extent of `owner`."""
        numbers = self._inner_definitions(owner, start, end) if depth < _MAX_DEPTH else []
        if not numbers:
            yield CodePiece(start, end, owner, is_head=True, is_loose=owner is None)
            return
        cursor = start
        for place, number in enumerate(numbers):
            low, high = self._extent_of(number, cursor, end)
            if place + 1 < len(numbers):
                high = max(low, min(high, self._extent_of(numbers[place + 1], low, end)[0]))
            if low > cursor:
                yield CodePiece(cursor, low, owner, is_head=cursor == start, is_loose=owner is None or cursor > start)
            yield from self.pieces_of_scope(number, low, high, depth + 1)
            cursor = high
        if cursor < end:
            yield CodePiece(cursor, end, owner, is_head=False, is_loose=True)

    def _inner_definitions(self, owner: int | None, start: int, end: int) -> list[int]:
        """Return the definitions that get pieces of their own in `owner`; a function that fits a chunk stays whole."""
        if owner is not None and end - start <= MAX_CHUNK_CHARS and _is_function(self.outline.definitions[owner]):
            return []
        return self.children.get(owner, [])

    def _extent_of(self, number: int, low: int, high: int) -> Span:
        """Return a definition's characters in whole lines, as far as `low` and `high` allow."""
        item, source = self.outline.definitions[number], self.outline.source
        line = source.lines.start_of_line_at(item.lead)
        start = line if not source.text[line : item.lead].strip() else item.lead
        return max(low, start), source.lines.start_of_next_line(max(item.start, item.end - 1), high)


def _find_chunked_parent(outline: Outline, number: int | None) -> int | None:
    while number is not None and not outline.definitions[number].chunked:
        number = outline.definitions[number].parent
    return number


def _is_function(item: Definition) -> bool:
    return item.kind in {"function", "method"}


def _join_small_pieces(text: str, pieces: Iterator[CodePiece]) -> list[CodePiece]:
    """Join blank space and small loose code to the piece before it; at the top of the file to the one behind it."""
    joined: list[CodePiece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is None:
            joined.append(piece)
        elif _is_small(text, piece) and _may_grow(last, piece.end):
            joined[-1] = replace(last, end=piece.end)
        elif _is_small(text, last) and (len(joined) == 1 or is_blank(text[last.start : last.end])):
            joined[-1] = replace(piece, start=last.start)
        else:
            joined.append(piece)
    return joined


def _is_small(text: str, piece: CodePiece) -> bool:
    size = len(text[piece.start : piece.end].strip())
    return size == 0 or (piece.is_loose and size < MIN_CHUNK_CHARS)


def _may_grow(piece: CodePiece, end: int) -> bool:
    """Say whether a piece may reach to `end`: it fits a chunk then, or does not fit one anyhow and will be cut."""
    return end - piece.start <= MAX_CHUNK_CHARS or piece.end - piece.start > MAX_CHUNK_CHARS


# Cutting what is too long


def _cut_piece(outline: Outline, piece: CodePiece) -> list[CodePiece]:
    if piece.end - piece.start <= MAX_CHUNK_CHARS:
        return [piece]
    spans = _statement_spans(outline, outline.root, piece.start, piece.end, 0)
    if len(spans) > 1 and spans[-1][1] - spans[-1][0] < MIN_CHUNK_CHARS:
        spans[-2:] = [(spans[-2][0], spans[-1][1])]
    return [replace(piece, start=low, end=high, is_head=piece.is_head and low == piece.start) for low, high in spans]


def _statement_spans(outline: Outline, node: Node, start: int, end: int, depth: int) -> list[Span]:
    """Tile `start` to `end` with spans of at most `SPLIT_CHARS` characters that begin where the node's children do.

    Nothing is cut off that is too small for a chunk of its own, such as a function's header above one long statement.
    """
    spans: list[Span] = []
    cursor = start
    for child, low, high in _iter_segments(outline, node, start, end):
        if high - cursor <= SPLIT_CHARS:
            continue
        if low - cursor >= MIN_CHUNK_CHARS:
            spans.append((cursor, low))
            cursor = low
        if high - cursor > SPLIT_CHARS:
            inner = _split_child_node(outline, child, cursor, high, depth)
            spans += inner[:-1]
            cursor = inner[-1][0]
    # What is left is too long only where the node has no child: white space that the grammar passes over.
    return spans + line_windows(outline.source.text, cursor, end, SPLIT_CHARS)


def _split_child_node(outline: Outline, child: Node, start: int, end: int, depth: int) -> list[Span]:
    if child.child_count and depth < _MAX_DEPTH:
        return _statement_spans(outline, child, start, end, depth + 1)
    return line_windows(outline.source.text, start, end, SPLIT_CHARS)


def _iter_segments(outline: Outline, node: Node, start: int, end: int) -> Iterator[tuple[Node, int, int]]:
    """Yield a node's children with the characters from the line each begins on to where the next one's line begins.

    Children that share a line share a segment: the first one's, unless a later one is the larger. A comment or an
    attribute shares the segment of what stands right below it: of a long table, the comment may be all that says what
    it is.
    """
    text, lines = outline.source.text, outline.source.lines
    held: Node | None = None
    low = behind = start
    for child in node.children:
        first, last = outline.source.span_of(child)
        if last <= start or first >= end:
            continue
        line = lines.start_of_line_at(first)
        is_below = line > low and not text[line:first].strip()
        if held is not None and is_below and not _leads(held, text[behind:line]):
            yield held, low, line
            held, low = child, line
        elif held is None or _leads(held, "") or child.end_byte - child.start_byte > held.end_byte - held.start_byte:
            held = child
        behind = last
    if held is not None:
        yield held, low, end


def _leads(node: Node, gap: str) -> bool:
    """Say whether a node is a comment on, or an attribute of, what begins behind the gap."""
    return node.type.endswith(_LEADING) and gap.count("\n") <= 1
