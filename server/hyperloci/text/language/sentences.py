"""Sentences of prose, notes and chats, in any language that parts them with stops.

One scanner for all readers of sentences. A stop ends one unless it belongs to an abbreviation, an initial, a number or
inline code; so does a line break that somebody meant: an empty line, the next item of a list, a line with room left for
the word that follows it. What only wraps a line ends nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from hyperloci.system.late_patterns import compile_late
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.ordinal_months import ORDINAL_MONTHS
from hyperloci.text.language.told_languages import is_rather_english
from hyperloci.text.language.word_tables import read_languages, word_set

_MIN_WRAP_CHARS: Final = 40
_MAX_WRAP_CHARS: Final = 120
"""How wide people and their editors wrap lines."""

_MAX_LOOKED_BACK: Final = 24
"""No abbreviation, with what stands before it, is longer."""

_MAX_TOLD_BY: Final = 80
"""How far the words stand that tell the language around a number."""

_BREAK: Final = compile_late(
    r"(?<![.!?…])(?P<stop>[.!?…]++)(?P<closed>[\"'”’»)\]*_]*+)(?P<gap>\s++)"
    r"|[。！？]++[」』”）]*+\s*+|(?P<line>\n\s*+)"
)
_INLINE_CODE: Final = compile_late(r"`[^`\n]++`")
_PARAGRAPH_END: Final = compile_late(r"\n[ \t\r]*+\n\s*+")
_MARKED: Final = compile_late(r"[ \t]*+(?:(?:[-*+•]|\d{1,3}+[.)]|\#{1,6}+)\s|[>|]|```|~~~)")
_STANDS_ALONE: Final = compile_late(r"[ \t]*+(?:\#{1,6}+\s|\|)")
_TABLE_ROW: Final = compile_late(r"\s*+\|.*\|\s*", re.DOTALL)
_LIST_MARK: Final = compile_late(r"\s*+(?>(?:(?:\#{1,6}+|[-*+•](?>(?:\s++\[[ xX]\])?)|\d{1,3}+[.)])\s++|>\s*+)+)")
_EMPHASIS: Final = compile_late(
    r"(?P<code>`[^`\n]++`)"
    r"|(?<![\w*])(?P<stars>\*{1,3}+)(?=[^\s*])(?P<strong>[^*]*[^\s*])(?P=stars)(?![\w*])"
    r"|(?<![\w_])__(?=[^\s_]++\s)(?P<bold>[^_]*[^\s_])__(?!\w)"
)
"""One underscore is part of a name (`_private and other_`) more often than it leans a word; inline code has neither."""

_COUNTED: Final = compile_late(r"(\d{1,2})(?:\.\d{1,2})?")
LAST_ORDINAL: Final = 31
"""The last day of a month; what is counted higher is an amount more often."""

_ORDINAL: Final = compile_late(r"(?<!\d)\d{1,2}$")
_DOTTED: Final = compile_late(r"[^\W\d_](?:\.[^\W\d_])+")
"""Letters joined by dots, without the last one: `z.B`, `d.w.z`."""

_WORD: Final = compile_late(r"[^\W\d_]+")

_FIRST_ITEM: Final = "1"
"""What a list within a line begins with."""

_OPENED: Final = "\"'“«([*_"
"""What may stand before the first word of a sentence."""

_OPERATORS: Final = frozenset("=<>+&|/%×")
"""What no sentence begins with: `5! = 120`."""


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


def sentence_spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """Yield where the sentences of `text[start:end]` stand, each with the blanks after it: they tile it."""
    # What stands in inline code ends no sentence; its backticks stay, as the beginning of a word.
    plain = _INLINE_CODE.sub(lambda match: f"`{'x' * (len(match[0]) - 2)}`", text[start:end])
    first = 0
    while first < len(plain):
        gap = _PARAGRAPH_END.search(plain, first)
        last = gap.end() if gap else len(plain)
        cuts = [first, *_cuts(plain, first, last), last]
        yield from ((start + low, start + high) for low, high in pairwise(cuts))
        first = last


def _clean(piece: str) -> str:
    line = " ".join(piece.split())
    unmarked = line[mark.end() :] if (mark := _LIST_MARK.match(line)) else line
    return drop_emphasis(unmarked)


def drop_emphasis(line: str) -> str:
    """Return a line without the stars and underscores around what is emphasised; inline code keeps its own."""
    return _EMPHASIS.sub(lambda match: match["code"] or match["strong"] or match["bold"], line)


def _cuts(text: str, start: int, end: int) -> Iterator[int]:
    """Yield the places within a paragraph where one sentence ends and another begins."""
    longest = max(map(len, text[start:end].splitlines()))
    width = min(_MAX_WRAP_CHARS, max(_MIN_WRAP_CHARS, longest))
    low = start
    for match in _BREAK.finditer(text, start, end):
        if match.end() < end and _is_cut(text, match, low, width):
            low = match.end()
            yield low


def _is_cut(text: str, match: re.Match[str], low: int, width: int) -> bool:
    if match["stop"] and _ends_sentence(text, match, low):
        return True
    if match["stop"] and "\n" not in match["gap"]:
        return False
    at = match.start("gap") if match["stop"] else match.start()
    return match.lastgroup is None or _is_meant(text, at, match.end(), width)


def _ends_sentence(text: str, match: re.Match[str], low: int) -> bool:
    stop, quoted = match["stop"], match["closed"].strip("*_")
    after = text[match.end() : match.end() + _MAX_LOOKED_BACK].lstrip(_OPENED)
    following = after[:1]
    before = text[max(low, match.start() - _MAX_LOOKED_BACK) : match.start()]
    if following in _OPERATORS or (following.islower() and (quoted or stop[-1] == "…" or stop.endswith(".."))):
        return False
    if stop[0] == "." and (not before or before[-1].isspace()):
        return False  # A path: `git add .`
    if stop == "." and _ORDINAL.search(before):
        around = text[max(low, match.start() - _MAX_TOLD_BY) : match.end() + _MAX_TOLD_BY]
        if _is_month(after) or (_is_counted(before, after) and not _is_english(around)):
            return False  # `am 3. Juli`, `die 2. Variante`
    return stop != "." or bool(quoted) or _may_end(before, following)


def _is_month(after: str) -> bool:
    """Return whether a text begins with a month of a language that writes a day with a full stop."""
    word = _WORD.match(after)
    return word is not None and word[0].lower() in ORDINAL_MONTHS


def _is_counted(before: str, after: str) -> bool:
    """Return whether a number with a full stop belongs to what follows: `die 2. Variante`, `am 12.10. früh`.

    A word that begins a sentence shows that it stands for itself: `Nimm die 2. Danach ...`.
    """
    words = before.split()[-2:]
    if len(words) < 2 or words[0].lstrip(_OPENED).lower() not in word_set("sentences.before_ordinals"):
        return False
    number = _COUNTED.fullmatch(words[1])
    if number is None or int(number[1]) > LAST_ORDINAL:
        return False  # `Port ab 80.`
    word = _WORD.match(after)
    return word is not None and (word[0].islower() or word[0].lower() not in word_set("sentences.first_words"))


def _is_english(around: str) -> bool:
    """Return whether the words around a number are English rather than of a language that counts with a full stop.

    `I am 12. My brother is 9.`
    """
    words = [word.lower() for word in _WORD.findall(around)]
    counting = (language for language, tables in read_languages().items() if "before_ordinals" in tables["sentences"])
    return all(is_rather_english(language, words) for language in counting)


def _is_meant(text: str, at: int, after: int, width: int) -> bool:
    """Return whether a line break was meant: it parts items, or came where the next word would still have fitted."""
    line = text.rfind("\n", 0, at) + 1
    if _MARKED.match(text, text.index("\n", at) + 1) or _STANDS_ALONE.match(text, line):
        return True
    length = at - line
    word = len(text[after : after + _MAX_WRAP_CHARS].split(None, 1)[0])
    return length > _MAX_WRAP_CHARS or length + 1 + word <= width


def _may_end(before: str, following: str) -> bool:
    """Return whether a full stop between these ends a sentence: it doesn't after an abbreviation or a list's number."""
    word = before.split()[-1].lstrip(_OPENED)
    lower = word.lower()
    if lower in word_set("sentences.abbreviations") or (before.strip() == word and word.isdigit() and len(word) <= 3):
        return False
    if word == _FIRST_ITEM and before.rstrip().removesuffix(word).rstrip().endswith(":"):
        return False  # `three rules: 1. Never push 2. ...`
    if lower in word_set("sentences.abbreviations_before_numbers"):
        return not following.isdigit()
    if lower in word_set("sentences.abbreviations_at_ends") or _DOTTED.fullmatch(word):
        return not following.islower()
    if len(word) == 1 and word.isalpha() and lower not in word_set("sentences.one_letter_words"):
        return word.islower() and not following.islower()
    return True
