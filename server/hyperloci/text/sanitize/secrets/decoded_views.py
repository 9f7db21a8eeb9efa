"""Decoded views: other readings of a text in which a secret may show (escapes, joined literals, base64).

A view knows where each of its characters came from, so that a secret found in it can be redacted in the text.
"""

from __future__ import annotations

import binascii
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final

from hyperloci.system.values import dataclass

MAX_DECODED: Final = 16_384
"""Characters of one base64 run that are decoded: a secret stands in a short one, or at the start of a long one."""


@cache
def _escape_pattern() -> re.Pattern[str]:
    return re.compile(
        r"\\u00(?P<unicode>[2-7][0-9a-fA-F])|&(?P<name>quot|apos|amp|lt|gt);|&#(?P<number>[0-9]{2,3});|%(?P<percent>[2-7][0-9a-fA-F])"
    )


_NAMED: Final = {"quot": '"', "apos": "'", "amp": "&", "lt": "<", "gt": ">"}
_MARKS: Final = ("\\u00", "&quot;", "&#", "%2", "%3", "%4", "%5", "%6", "%7")
_COLOUR_MARKS: Final = ("001b[", "001B[", "x1b[", "x1B[", "33[", "\\e[", "^[[", "\x1b[", "[0m", "[39m")
_PIECE: Final = r"[A-Za-z0-9+/_=.-]"


@cache
def _splice_pattern() -> re.Pattern[str]:
    return re.compile(
        rf"[\"'`](?<={_PIECE}{{8}}.)(?:[ \t]*(?:\+|\.|&)?[ \t]*(?:_|\\)?\n[ \t]*(?:\+|\.|&)?[ \t]*|[ \t]*[+.&][ \t]*)"
        rf"[rbfu@]?[\"'`](?={_PIECE}{{12}})"
    )


"""Between two pieces of a literal that are words without blanks."""


@cache
def _joint_pattern() -> re.Pattern[str]:
    """Return what stands between two literals of any length, with a mark that joins them or none."""
    return re.compile(
        rf"[\"'`](?<={_PIECE}.)\s{{0,80}}+(?:(?:\+|\.{{1,2}}|&|\|\||<>|<<|~|\\\n|_\n)\s{{0,80}}+)?"
        rf"[rbfu@]?[\"'`](?={_PIECE})"
    )


@cache
def _continuation_pattern() -> re.Pattern[str]:
    return re.compile(rf"[ \t]?\\\n[ \t]*(?={_PIECE})")


@cache
def _fold_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<={_PIECE}{{16}})\n[ \t]+(?={_PIECE}{{16,256}}[ \t]*(?:\n|\Z))")


@cache
def _colour_pattern() -> re.Pattern[str]:
    """Return what a terminal shows as colours, with its escape character written out, or lost on the way."""
    numbers = r"[0-9]{1,3}(?:;[0-9]{1,3}){0,8}"
    return re.compile(rf"(?:\\{{1,8}}(?:u001[bB]|x1[bB]|0?33|e)|\^\[|\x1b)\[(?:{numbers})?[mK]|\[{numbers}m")


@cache
def _backslash_pattern() -> re.Pattern[str]:
    """Return the backslashes that JSON in JSON in JSON puts before quotes, and PHP before slashes."""
    return re.compile(r"\\(?:\\{0,63}+(?=/)|\\{3,63}+(?=[\"']))")


@cache
def _word_diff_patterns() -> tuple[re.Pattern[str], ...]:
    """Return what `git diff --word-diff` puts round words that changed: what is not in the new text, and in the old."""
    return (
        re.compile(r"\[-(?:[^\n\[]|\[(?!-)){0,512}?-\]|\{\+|\+\}"),
        re.compile(r"\{\+(?:[^\n{]|\{(?!\+)){0,512}?\+\}|\[-|-\]"),
    )


@cache
def _run_pattern() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9+/_-]{20,}+={0,2}")


_TEXT_BYTES: Final = frozenset((9, 10, 13, *range(32, 127)))


@cache
def _user_and_password_pattern() -> re.Pattern[str]:
    return re.compile(r"[\w.@+-]{1,64}:(?P<value>[^\s:]{6,128})\s*\Z")


@dataclass(frozen=True, slots=True)
class AlternativeReading:
    """Another reading of a text.

    Attributes:
        text: the reading.
        change_positions: places in it behind each change.
        shifts: how far the original is ahead from each of those places on.
    """

    text: str
    change_positions: tuple[int, ...]
    shifts: tuple[int, ...]

    def original_position(self, place: int) -> int:
        """Return where in the original text the character at `place` begins."""
        number = bisect_right(self.change_positions, place) - 1
        return place + (self.shifts[number] if number >= 0 else 0)

    def changed_windows(self, margin: int) -> Iterator[tuple[int, int]]:
        """Yield the stretches that lie within `margin` characters of a change, from line to line, joined."""
        first = last = 0
        for start in self.change_positions:
            if start - margin > last:
                if last:
                    yield first, last
                first = max(last, self.text.rfind("\n", last, start - margin) + 1)
            last = min(len(self.text), start + margin)
        yield first, last


def alternative_readings(text: str) -> Iterator[AlternativeReading]:
    """Yield the readings that differ from `text`."""
    if any(mark in text for mark in _MARKS):
        yield from _replace_matches(text, _escape_pattern(), _unescape)
    yield from _replace_matches(text, _splice_pattern(), _replace_with_nothing)
    if "\\\n" in text:
        yield from _replace_matches(
            text, _continuation_pattern(), lambda match: " " if match.group()[0] in " \t" else ""
        )
    if "\\/" in text or "\\\\\\\\" in text:
        yield from _replace_matches(text, _backslash_pattern(), _replace_with_nothing)
    if any(mark in text for mark in _COLOUR_MARKS):
        yield from _replace_matches(text, _colour_pattern(), _replace_with_nothing)
    if ("{+" in text and "+}" in text) or ("[-" in text and "-]" in text):
        for pattern in _word_diff_patterns():
            yield from _replace_matches(text, pattern, _replace_with_nothing)
    if ": >" in text or ": |" in text:
        yield from _replace_matches(text, _fold_pattern(), _replace_with_nothing)


def joined_literals(text: str) -> Iterator[AlternativeReading]:
    """Yield the reading in which literals side by side are one, however short.

    Many texts have such literals that are not joined: only what has the format of a token may be sought there.
    """
    yield from _replace_matches(text, _joint_pattern(), _replace_with_nothing)


def find_encoded_secrets(
    text: str, words: str, holds_secret: Callable[[str], bool], is_password: Callable[[str], bool]
) -> Iterator[tuple[int, int]]:
    """Yield the base64 runs of `text` that say a secret when decoded; `words` holds the long words of it."""
    if not any(_looks_decodable(word[:20]) for word in words.split("\n")):
        return
    for match in _run_pattern().finditer(text):
        decoded = _decode_run(match.group()) if _looks_decodable(match.group()[:20]) else ""
        if decoded and (
            holds_secret(decoded)
            or "PRIVATE KEY" in decoded
            or ((pair := _user_and_password_pattern().match(decoded)) and is_password(pair["value"]))
        ):
            yield match.span()


def _replace_matches(
    text: str, pattern: re.Pattern[str], make: Callable[[re.Match[str]], str]
) -> Iterator[AlternativeReading]:
    pieces: list[str] = []
    starts: list[int] = []
    shifts: list[int] = []
    last = size = 0
    for match in pattern.finditer(text):
        new = make(match)
        pieces += (text[last : match.start()], new)
        size += match.start() - last + len(new)
        last = match.end()
        starts.append(size)
        shifts.append(last - size)
    if pieces:
        pieces.append(text[last:])
        yield AlternativeReading("".join(pieces), tuple(starts), tuple(shifts))


def _replace_with_nothing(_: re.Match[str]) -> str:
    return ""


def _unescape(match: re.Match[str]) -> str:
    if match["name"]:
        return _NAMED[match["name"]]
    number = int(match["number"]) if match["number"] else int(match["unicode"] or match["percent"], 16)
    return chr(number) if 32 <= number < 127 else match.group()


def _looks_decodable(head: str) -> bool:
    """Tell whether the first characters of a run decode to text: random ones do once in a hundred thousand."""
    try:
        decoded = binascii.a2b_base64(head[:16].replace("-", "+").replace("_", "/"))
    except binascii.Error:
        return False
    return len(decoded) >= 12 and _TEXT_BYTES.issuperset(decoded)


def _decode_run(run: str) -> str:
    head = run[:MAX_DECODED].rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return binascii.a2b_base64(head + "=" * (-len(head) % 4)).decode("utf-8", "ignore")
    except binascii.Error:
        return ""
