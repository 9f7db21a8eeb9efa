"""Cleaning: removes control characters, hidden text, private blocks and our own injected context (SPEC-02.34).

Visible characters stay unchanged: there is no Unicode normalisation. Invisible characters are removed unless a script
or an emoji needs them, because they can hide instructions from a reader and split words so that redaction misses them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from hyperloci.system.late_patterns import compile_late

PRIVATE_MARK: Final = "[private]"
"""What stands where a `<private>` block stood."""

INJECTED_TAG: Final = "hyperloci-memory"
"""The element that wraps every context we inject; its opening tag must stand at the start of a line."""

_ESCAPE: Final = compile_late(
    r"\x1b[\]PX^_][^\x07\x1b\x9c\n]*+(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC and their text, if it ends
    r"|\x1b\[[0-?]*+[ -/]*+[@-~]"  # CSI: colours, cursor
    r"|\x9b[0-9;?]++[@-~]"  # 8-bit CSI, only with parameters: alone it is more likely a misread cp1252 quotation mark
    r"|\x1b[ -/]*+[0-~]"  # two-character sequences, and the head of one that never ends
)
_CONTROL: Final = compile_late(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATE: Final = compile_late(r"[\ud800-\udbff][\udc00-\udfff]|[\ud800-\udfff]")

_HIDDEN: Final = (
    "\u00ad\u034f\u061c\u17b4\u17b5\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
_SOMETIMES_NEEDED: Final = "\u115f\u1160\u180b-\u180f\u200b-\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_UK_FLAGS: Final = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in region) for region in ("gbeng", "gbsct", "gbwls")
)
"""The three flags that Unicode spells with tag characters. Any other run of tags is hidden text."""
_INVISIBLE: Final = compile_late(f"(?<=\U0001f3f4)(?:{_UK_FLAGS})\U000e007f|[{_HIDDEN}{_SOMETIMES_NEEDED}]")

Ranges = tuple[tuple[str, str], ...]
_EMOJI: Final[Ranges] = (
    ("\u00a9", "\u00a9"), ("\u00ae", "\u00ae"), ("\u203c", "\u203c"), ("\u2049", "\u2049"), ("\u2122", "\u2122"),
    ("\u2139", "\u2139"), ("\u2190", "\u21ff"), ("\u2300", "\u23ff"), ("\u2460", "\u24ff"), ("\u25a0", "\u27bf"),
    ("\u2900", "\u297f"), ("\u2b00", "\u2bff"), ("\u3030", "\u303d"), ("\u3297", "\u3299"),
    ("\U0001f000", "\U0001faff"),
)  # fmt: skip
_IDEOGRAPHS: Final[Ranges] = (
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uf900", "\ufaff"),
    ("\U00020000", "\U0003ffff"),
)
_STANDARD_VARIANTS: Final[Ranges] = (*_IDEOGRAPHS, ("\u2190", "\u22ff"), ("\u1000", "\u109f"), ("\ua840", "\ua877"))
_JOINING: Final[Ranges] = (
    ("\u0620", "\u08ff"), ("\u0900", "\u0dff"), ("\u0f00", "\u109f"), ("\u1780", "\u17b3"), ("\u17b6", "\u17ff"),
    ("\u1820", "\u18af"), ("\ua840", "\ua877"), ("\ufb50", "\ufdff"), ("\ufe70", "\ufefc"),
    ("\U00010a00", "\U00010aff"),
    ("\U00011000", "\U00011fff"), ("\U0001e900", "\U0001e95f"),
)  # fmt: skip
_UNSPACED: Final[Ranges] = (("\u0e00", "\u0eff"), ("\u1000", "\u109f"), ("\u1780", "\u17ff"), ("\u1980", "\u19df"))
_MONGOLIAN: Final[Ranges] = (("\u1800", "\u180a"), ("\u1810", "\u18af"))
_JAMO: Final[Ranges] = (("\u1100", "\u115e"), ("\u1161", "\u11ff"), ("\ua960", "\ua97f"), ("\ud7b0", "\ud7ff"))


def clean_text(text: str) -> str:
    """Return `text` without what a reader cannot see; idempotent (SPEC-02.34).

    Gone: NUL and the other control characters but newline and tab, terminal escape sequences, bidi controls,
    zero-width and tag characters, stray variation selectors. Carriage returns become newlines and lone surrogates
    U+FFFD. Kept: the joiners and selectors that emoji sequences, Indic, Arabic, Mongolian and South-East Asian scripts
    and Han variants are written with, one after each character that can carry it.
    """
    if _CONTROL.search(text):
        text = _ESCAPE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        text = _CONTROL.sub("", text)
    if text.isascii():
        return text
    return _drop_hidden(_SURROGATE.sub(_decode_surrogates, text))


def strip_private_blocks(text: str, *, is_cut: bool = False, is_file: bool = False) -> tuple[str, int]:
    """Replace every `<private>...</private>` by `[private]`; return the text and the number of blocks.

    Case, attributes, blanks and escapes (`&lt;private&gt;`, `\\u003cprivate\\u003e`) do not matter, blocks may nest,
    and one that is never closed reaches to the end. Only a tag that is all of a code span is then no more than written
    about, and of a file one that is all of a literal in quotes; not where the text `is_cut`, as what was cut off may
    close it.
    """
    if "private" not in text.lower():
        return text, 0
    return _cut_blocks(
        text, _PRIVATE_TAG.finditer(text), PRIVATE_MARK, allows_mentions=not is_cut, quotes="\"'" if is_file else ""
    )


def has_private_tag(text: str) -> bool:
    """Tell whether a private block begins or ends in a text, however its tag is written or hidden."""
    text = clean_text(text)
    return "private" in text.lower() and _PRIVATE_TAG.search(text) is not None


def strip_injected_context(text: str, *, is_file: bool = False) -> str:
    """Remove the context blocks that we injected, so that a memory is never captured a second time.

    In a file, what stands in a fenced block of code is a sample and stays.
    """
    if INJECTED_TAG not in text:
        return text
    searched = text
    if is_file:
        from hyperloci.text.language.code_fences import mask_code  # hooks read no files

        searched = mask_code(text)
    return _cut_blocks(text, _INJECTED_TAG.finditer(searched), "", allows_mentions=False)[0]


_LESS: Final = r"(?:<|＜|&lt;|&#0{0,4}60;|&#x0{0,4}3c;|\\{1,8}(?:u00|x)3c|%3c)"
_GREATER: Final = r"(?:>|＞|&gt;|&#0{0,4}62;|&#x0{0,4}3e;|\\{1,8}(?:u00|x)3e|%3e)"
_ATTRIBUTE: Final = rf"(?:\"[^\"]{{0,200}}+\"|'[^']{{0,200}}+'|(?!{_GREATER}|/{_GREATER}|{_LESS})[\s\S])"
_PRIVATE_TAG: Final = compile_late(
    rf"{_LESS}\s{{0,8}}+(?:(?P<close>\\{{0,8}}/\s{{0,8}}+private\s{{0,8}}+)|private(?P<attributes>\s(?>{_ATTRIBUTE}{{0,500}}))?(?P<empty>/?))"
    rf"{_GREATER}",
    re.IGNORECASE,
)
"""The tag as it is written, and as HTML, JSON and addresses escape it."""
_INJECTED_TAG: Final = compile_late(
    # An opening tag in the middle of a line is somebody writing about it, as this comment does.
    rf"(?P<close></{INJECTED_TAG}>\n?)"
    rf"|(?:^|(?<=</{INJECTED_TAG}>))[ \t]{{0,16}}<{INJECTED_TAG}(?:[ \t][^>\n]{{0,500}})?>",
    re.MULTILINE,
)


_RUN: Final = compile_late(r"`+|\n")


def _cut_blocks(
    text: str, tags: Iterable[re.Match[str]], mark: str, *, allows_mentions: bool, quotes: str = ""
) -> tuple[str, int]:
    opened: list[re.Match[str]] = []
    blocks: list[tuple[int, int]] = []

    def cut(start: int, end: int) -> None:
        while blocks and blocks[-1][0] >= start:
            blocks.pop()
        blocks.append((start, end))

    for match in tags:
        if match["close"]:
            if opened:
                cut(opened.pop().start(), match.end())
        elif match.groupdict().get("empty"):
            cut(*match.span())
        else:
            opened.append(match)
    if opened and allows_mentions:
        # Where closed blocks are gone: a text that was stripped is judged as it was.
        code = _find_code(_fill_blocks(text, blocks, lambda length: " " * length))
        # What a tag's attributes say may be what is private.
        opened = [
            match
            for match in opened
            if match["attributes"] or not (match.span() in code or _is_quoted(text, match, quotes))
        ]
    if opened:
        cut(opened[0].start(), len(text))
    return _fill_blocks(text, blocks, lambda _: mark), len(blocks)


def _fill_blocks(text: str, blocks: Sequence[tuple[int, int]], fill: Callable[[int], str]) -> str:
    """Replace blocks by what `fill` makes of their lengths."""
    kept: list[str] = []
    last = 0
    for start, end in blocks:
        kept += (text[last:start], fill(end - start))
        last = end
    return "".join((*kept, text[last:]))


def _is_quoted(text: str, match: re.Match[str], quotes: str) -> bool:
    """Tell whether one of some quotation marks stands right before a match and again right behind it."""
    before, behind = text[max(0, match.start() - 1) : match.start()], text[match.end() : match.end() + 1]
    return bool(before) and before == behind and before in quotes


def _find_code(text: str) -> set[tuple[int, int]]:
    """Return where the code is that stands in backticks on one line; as many end it as began it."""
    found: set[tuple[int, int]] = set()
    begun: re.Match[str] | None = None
    for run in _RUN.finditer(text):
        if run[0] == "\n":
            begun = None
        elif begun is None:
            begun = run
        elif len(run[0]) == len(begun[0]):
            found.add((begun.end(), run.start()))
            begun = None
    return found


def _decode_surrogates(match: re.Match[str]) -> str:
    halves = match.group()
    if len(halves) == 1:
        return "\ufffd"
    return halves.encode("utf-16-le", "surrogatepass").decode("utf-16-le")


def _drop_hidden(text: str) -> str:
    kept: list[str] = []
    last, before = 0, ""
    for match in _INVISIBLE.finditer(text):
        start, end = match.span()
        if start > last:
            kept.append(text[last:start])
            before = text[start - 1]
        last = end
        hidden = match.group()
        if len(hidden) > 1 or _is_needed(hidden, before, text[end : end + 1]):
            kept.append(hidden)
            before = hidden[-1]
    kept.append(text[last:])
    return "".join(kept)


def _is_needed(character: str, before: str, after: str) -> bool:
    """Tell whether an invisible character shapes what is seen; `before` is the last one kept, `after` the next."""
    if character in "\u200c\u200d" and _is_in_ranges(before, _JOINING):
        return True
    if character == "\u200d":
        return (before in ("\ufe0f", "\U000e007f") or _is_in_ranges(before, _EMOJI)) and _is_in_ranges(after, _EMOJI)
    if character in "\ufe0e\ufe0f":
        return _is_in_ranges(before, _EMOJI) or (before != "" and before in "0123456789#*" and after == "\u20e3")
    if character == "\u200b":
        return _is_in_ranges(before, _UNSPACED) and _is_in_ranges(after, _UNSPACED)
    if "\ufe00" <= character <= "\ufe02":
        return _is_in_ranges(before, _STANDARD_VARIANTS)
    if "\u180b" <= character <= "\u180f":
        return _is_in_ranges(before, _MONGOLIAN)
    if character in "\u115f\u1160":
        return _is_in_ranges(before, _JAMO) or _is_in_ranges(after, _JAMO)
    return character >= "\U000e0100" and _is_in_ranges(before, _IDEOGRAPHS)


def _is_in_ranges(character: str, ranges: Ranges) -> bool:
    return character != "" and any(low <= character <= high for low, high in ranges)
