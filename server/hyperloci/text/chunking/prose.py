"""Prose chunker: cuts prose into overlapping windows of words (E.04), at paragraphs if possible.

The unit is an `Atom`: a piece that is better not cut (a paragraph, a list item, a sentence of a long paragraph, a code
block). Atoms tile what they came from; windows are runs of atoms, and a window but the first begins with the last words
of the one before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.lines import MAX_CHUNK_CHARS, Span, line_windows
from hyperloci.text.language.sentences import sentence_spans

MIN_CHUNK_CHARS = 100
"""A shorter piece says too little to stand alone (D.05)."""

SOLID_CHARS = MAX_CHUNK_CHARS - 200
"""A code block of so many characters is kept whole (D.05); the rest of a chunk is room for the heading above it."""

WINDOW_WORDS = 200
"""Words in a window (E.04): about the 256 tokens that MiniLM reads."""

OVERLAP_WORDS = 50
"""Words a window repeats of the one before it (E.04), so that a thought across the cut is whole in one of them."""

WHOLE_WORDS = WINDOW_WORDS + OVERLAP_WORDS
"""Up to so many words a text stays whole: a second window would be mostly overlap."""

_MIN_OVERLAP_WORDS = 15
"""An overlap may start at a sentence that leaves it so many words; fewer would not carry a thought."""

_CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD: Final = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")
"""A word; each CJK character is one, as it is for the tokenizer, since no spaces part them."""

_LINE_END: Final = re.compile(r"\n")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t\r]*\n\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """A piece that a window takes whole.

    Attributes:
        start, end: character offsets; an atom ends where the next one starts.
        words: how many words are in it.
        solid: whether it is code, a table or HTML, into which no overlap may reach.
    """

    start: int
    end: int
    words: int
    solid: bool = False


def count_words(text: str, start: int, end: int) -> int:
    """Count the words of `text[start:end]`."""
    return sum(1 for _ in _WORD.finditer(text, start, end))


def prose_atoms(text: str, start: int, end: int) -> list[Atom]:
    """Cut one paragraph into atoms: itself, if it fits a window, else its sentences, else runs of words."""
    words = count_words(text, start, end)
    if words <= WINDOW_WORDS and end - start <= MAX_CHUNK_CHARS:
        return [Atom(start=start, end=end, words=words)] if start < end else []
    atoms: list[Atom] = []
    for first, last in sentence_spans(text, start, end):
        for low, high in _cut_sentence(text, first, last):
            atoms.append(Atom(start=low, end=high, words=count_words(text, low, high)))
    return atoms


def solid_atoms(text: str, start: int, end: int) -> list[Atom]:
    """Keep a code block, table or HTML block whole; one above `SOLID_CHARS` is cut at lines, never truncated (D.05)."""
    spans = [(start, end)] if end - start <= SOLID_CHARS else line_windows(text, start, end)
    return [Atom(start=low, end=high, words=count_words(text, low, high), solid=True) for low, high in spans]


def paragraph_atoms(text: str, start: int, end: int) -> list[Atom]:
    """Cut plain text into atoms at its blank lines."""
    paragraphs = _split_after(_PARAGRAPH_END, text, start, end)
    return [atom for low, high in paragraphs for atom in prose_atoms(text, low, high)]


def pack_atoms(text: str, atoms: Sequence[Atom]) -> list[Span]:
    """Pack atoms that tile a text into windows of about `WINDOW_WORDS` words and at most `MAX_CHUNK_CHARS` characters.

    The spans' union is that of the atoms; a window overlaps the one before it by at most `OVERLAP_WORDS` words.
    """
    if not atoms:
        return []
    if _fits_one_window(atoms):
        return [(atoms[0].start, atoms[-1].end)]
    windows: list[Span] = []
    first, start = 0, atoms[0].start
    while first < len(atoms):
        if atoms[first].end - start > MAX_CHUNK_CHARS:
            start = atoms[first].start
        after = _fill_window(text, atoms, first, start)
        windows.append((start, atoms[after - 1].end))
        start = _find_overlap_start(text, atoms, after, start)
        first = after
    return windows


def windows_of_text(text: str) -> list[Span]:
    """Cut a plain text (no markup that is understood) into windows at its paragraphs."""
    return pack_atoms(text, paragraph_atoms(text, 0, len(text)))


def _fits_one_window(atoms: Sequence[Atom]) -> bool:
    words = sum(atom.words for atom in atoms)
    return words <= WHOLE_WORDS and atoms[-1].end - atoms[0].start <= MAX_CHUNK_CHARS


def _fill_window(text: str, atoms: Sequence[Atom], first: int, start: int) -> int:
    """Return the index behind the last atom of the window that begins at `start`, with `first` its first new atom."""
    words = count_words(text, start, atoms[first].end)
    after = first + 1
    while after < len(atoms) and atoms[after].end - start <= MAX_CHUNK_CHARS:
        too_small = words < OVERLAP_WORDS or atoms[after - 1].end - start < MIN_CHUNK_CHARS
        if not too_small and words + atoms[after].words > WINDOW_WORDS and not _is_tail(atoms, after, start):
            break
        words += atoms[after].words
        after += 1
    return after


def _is_tail(atoms: Sequence[Atom], after: int, start: int) -> bool:
    """Say whether what is left is no more than an overlap and fits the window, so that it needs none of its own."""
    if atoms[-1].end - start > MAX_CHUNK_CHARS:
        return False
    words = 0
    for atom in atoms[after:]:
        words += atom.words
        if words > OVERLAP_WORDS:
            return False
    return True


def _find_overlap_start(text: str, atoms: Sequence[Atom], after: int, window_start: int) -> int:
    """Return where the next window begins: up to `OVERLAP_WORDS` words before its first new atom."""
    cut = atoms[after - 1].end
    low = window_start
    for index in range(after - 1, -1, -1):
        if atoms[index].solid:
            low = max(low, atoms[index].end)
            break
        if atoms[index].start <= low:
            break
    words = [match.start() for match in _WORD.finditer(text, low, cut)]
    if low == window_start and len(words) <= OVERLAP_WORDS:
        return cut
    words = words[-OVERLAP_WORDS:]
    if not words:
        return cut
    if len(words) > _MIN_OVERLAP_WORDS:
        latest = words[-_MIN_OVERLAP_WORDS]
        _, sentence_end = next(sentence_spans(text, words[0], cut))
        line_end = _LINE_END.search(text, words[0], latest)
        if sentence_end <= latest:
            return sentence_end
        if line_end:
            return line_end.end()
    return words[0]


def _split_after(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[Span]:
    low = start
    for match in pattern.finditer(text, start, end):
        if match.end() < end:
            yield low, match.end()
            low = match.end()
    if low < end:
        yield low, end


def _cut_sentence(text: str, start: int, end: int) -> Iterator[Span]:
    """Keep a sentence whole, or cut a run-on one (a log, a list without markup) at its lines, or at its words."""
    if end - start <= MAX_CHUNK_CHARS and count_words(text, start, end) <= WINDOW_WORDS:
        yield start, end
        return
    for low, high in _split_after(_LINE_END, text, start, end):
        yield from _cut_line(text, low, high)


def _cut_line(text: str, start: int, end: int) -> Iterator[Span]:
    """Cut a long line into runs of at most `WINDOW_WORDS` words and `MAX_CHUNK_CHARS` characters."""
    low, words = start, 0
    for match in _WORD.finditer(text, start, end):
        if words and (words == WINDOW_WORDS or match.end() - low > MAX_CHUNK_CHARS):
            yield from line_windows(text, low, match.start(), MAX_CHUNK_CHARS)
            low, words = match.start(), 0
        while match.end() - low > MAX_CHUNK_CHARS:
            yield low, low + MAX_CHUNK_CHARS
            low += MAX_CHUNK_CHARS
        words += 1
    yield from line_windows(text, low, end, MAX_CHUNK_CHARS)
