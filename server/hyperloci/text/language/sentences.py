"""Sentences of prose, notes and chats, in any language that parts them with stops.

One scanner for all that read sentences. A stop ends one unless it belongs to an abbreviation, an initial, a number or
inline code; so does a line break that somebody meant: an empty line, the next item of a list, a line with room left for
the word that follows it. What only wraps a line ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperloci.text.language.fences import mask_code
from hyperloci.text.language.tables import word_set

MIN_WRAP_CHARS: Final = 40
MAX_WRAP_CHARS: Final = 120
"""How wide people and their editors wrap lines."""

MAX_LOOKED_BACK: Final = 24
"""No abbreviation, with what stands before it, is longer."""

_BREAK: Final = re.compile(
    r"(?<![.!?…])(?P<stop>[.!?…]++)(?P<closed>[\"'”’»)\]*_]*+)(?P<gap>\s++)"
    r"|[。！？]++[」』”）]*+\s*+|(?P<line>\n\s*+)"
)
_INLINE_CODE: Final = re.compile(r"`[^`\n]++`")
_PARAGRAPH_END: Final = re.compile(r"\n[ \t\r]*+\n|\Z")
_MARKED: Final = re.compile(r"[ \t]*+(?:(?:[-*+•]|\d{1,3}+[.)]|\#{1,6}+)\s|[>|]|```|~~~)")
_STANDS_ALONE: Final = re.compile(r"[ \t]*+(?:\#{1,6}+\s|\|)")
_TABLE_ROW: Final = re.compile(r"\s*+\|.*\|\s*", re.DOTALL)
_LIST_MARK: Final = re.compile(r"\s*+(?:(?:\#{1,6}+|[-*+•](?:\s++\[[ xX]\])?+|\d{1,3}+[.)])\s++|>\s*+)++")
_EMPHASIS: Final = re.compile(
    r"(?<![\w*])(?P<stars>\*{1,3}+)(?=[^\s*])(?P<strong>[^*]*[^\s*])(?P=stars)(?![\w*])"
    r"|(?<![\w_])(?P<bars>_{1,2}+)(?=[^\s_]++\s)(?P<weak>[^_]*[^\s_])(?P=bars)(?!\w)"
)
_OPENED: Final = "\"'“«([*_"
"""What may stand before the first word of a sentence."""

_OPERATORS: Final = frozenset("=<>+&|/%×")
"""What no sentence begins with: `5! = 120`."""

Span = tuple[int, int]
"""Where something begins, and where what follows it does."""


def split_sentences(text: str, *, code: bool = False) -> list[str]:
    """Return the sentences of a text, each on one line, without list marks and emphasis.

    Tables and what holds no letter are left out.

    Args:
        text: prose, a note or a turn of a chat.
        code: read fenced code like the rest; else it is left out.
    """
    plain = text if code else mask_code(text)
    pieces = (plain[start:end] for start, end in sentence_spans(plain))
    return [_clean(piece) for piece in pieces if any(map(str.isalpha, piece)) and not _TABLE_ROW.fullmatch(piece)]


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[Span]:
    """Yield where the sentences of `text[start:end]` stand, each with the blanks after it: they tile it."""
    part = text[start:end]
    low = 0
    for cut in _Scanner(part).cuts():
        yield start + low, start + cut
        low = cut
    if low < len(part):
        yield start + low, start + len(part)


def _clean(piece: str) -> str:
    line = " ".join(piece.split())
    unmarked = line[mark.end() :] if (mark := _LIST_MARK.match(line)) else line
    return _EMPHASIS.sub(lambda match: match["strong"] or match["weak"], unmarked)


class _Scanner:
    """Looks for the ends of sentences in one text."""

    def __init__(self, text: str) -> None:
        # What stands in inline code ends no sentence; its backticks stay, as the beginning of a word.
        self._text = _INLINE_CODE.sub(lambda match: f"`{'x' * (len(match[0]) - 2)}`", text)
        self._paragraph_end = 0
        self._width = 0

    def cuts(self) -> Iterator[int]:
        """Yield the places where one sentence ends and another begins."""
        low = 0
        for match in _BREAK.finditer(self._text):
            if match.end() < len(self._text) and self._is_cut(match, low):
                low = match.end()
                yield low

    def _is_cut(self, match: re.Match[str], low: int) -> bool:
        if not match["stop"]:
            return match["line"] is None or self._is_meant(match.start(), match.end())
        wrapped = "\n" in match["gap"]
        return self._ends_sentence(match, low) or (wrapped and self._is_meant(match.start("gap"), match.end()))

    def _ends_sentence(self, match: re.Match[str], low: int) -> bool:
        stop, quoted = match["stop"], match["closed"].strip("*_")
        following = self._text[match.end() : match.end() + 4].lstrip(_OPENED)[:1]
        before = self._text[max(low, match.start() - MAX_LOOKED_BACK) : match.start()]
        if following in _OPERATORS or (following.islower() and (quoted or stop[-1] == "…" or stop.endswith(".."))):
            return False
        if stop[0] == "." and (not before or before[-1].isspace()):
            return False  # A path: `git add .`
        return stop != "." or bool(quoted) or _may_end(before, following)

    def _is_meant(self, at: int, after: int) -> bool:
        """Return whether a line break was meant: it ends a paragraph, parts items, or came before it had to."""
        gap = self._text[at:after]
        line = self._text.rfind("\n", 0, at) + 1
        if gap.count("\n") > 1 or _MARKED.match(self._text, at + gap.index("\n") + 1):
            return True
        word = self._text[after : after + MAX_WRAP_CHARS].split(None, 1)[0]
        length = at - line
        fits = length + 1 + len(word) <= self._width_around(at)
        return fits or length > MAX_WRAP_CHARS or _STANDS_ALONE.match(self._text, line) is not None

    def _width_around(self, at: int) -> int:
        """Return how long a line of the paragraph around a place may be. Places are asked for in order."""
        if at >= self._paragraph_end:
            start = max(self._text.rfind("\n\n", self._paragraph_end, at), self._paragraph_end)
            end = _PARAGRAPH_END.search(self._text, at)
            self._paragraph_end = end.start() if end else len(self._text)
            longest = max(map(len, self._text[start : self._paragraph_end].splitlines()))
            self._width = min(MAX_WRAP_CHARS, max(MIN_WRAP_CHARS, longest))
        return self._width


def _may_end(before: str, following: str) -> bool:
    """Return whether a full stop between these ends a sentence: it doesn't after an abbreviation or a list's number."""
    word = before.split()[-1].lstrip(_OPENED)
    lower = word.lower()
    if lower in word_set("sentences.abbreviations") or (before.strip() == word and word.isdigit() and len(word) <= 3):
        return False
    if lower in word_set("sentences.abbreviations_before_numbers"):
        return not following.isdigit()
    if lower in word_set("sentences.abbreviations_at_ends"):
        return not following.islower()
    if len(word) == 1 and word.isalpha() and lower not in word_set("sentences.one_letter_words"):
        return word.islower() and not following.islower()
    return True
