"""Edited lines: what an edit changed, where a line or two say it: `RETRIES = 3` became `RETRIES = 5` (B.17).

What somebody decides in a word (`make it 5`) is done at once, and the edit says what it was before. So a turn that
edits a file keeps those lines, if they are few and short; never more of a file, and nothing of one that holds secrets,
nor of a line that holds one or may.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Final

from hyperloci.text.sanitize.sanitizer import sanitize

Change = tuple[Sequence[str], Sequence[str]]
"""Lines that went, and those that came in their place."""


MAX_CHANGES: Final = 3
"""An edit that changes more sets no value; it writes code."""

MAX_LINES: Final = 3
"""Lines on each side of a change: of more, none says what it is about."""

MAX_CHARS: Final = 90
"""Of a side of a change, and two thirds of what an action's line has room for, of all (`tool_use.MAX_LINE_CHARS`)."""

MAX_ALL_CHARS: Final = 260

MAX_READ_CHARS: Final = 1_000
"""Of a side with its blanks: what is longer is no line that a person wrote."""

MAX_WORD_CHARS: Final = 40
"""A longer word is no name and no figure, but encoded data."""

_MAY_HOLD_SECRET: Final = re.compile(
    r"pass|pwd|secret|token|credential|api.?key|auth|bearer|cookie|jwt|dsn|private|key|salt|(?<![a-z])(?:pin|pat)s?(?![a-z])"
    r"|://[^/\s]{1,200}@",
    re.IGNORECASE,
)
"""What names a secret, or is one's beside: nobody recognises every secret by itself (`secret: hunter2`)."""

_NAMED: Final = re.compile(r"[\s=:(<>]")
"""A line of more than one word, or one that sets or calls something: it says what its value is."""

_NAMELESS: Final = re.compile(r"^(?:value|default|data|content|text|val)[\"']?\s*[:=]\s*", re.IGNORECASE)
"""Keys that stand below the name of what they set: `- name: DB_PASSWORD`, `value: ...`."""

_FIGURES: Final = re.compile(r"\d+(?:[.,:]\d+)*")
_WORD: Final = re.compile(r"[^\W_]")
_SPACE: Final = re.compile(r"\s+")


def describe_edited_lines(changes: Iterable[Change]) -> str:
    """Return what some changes of lines made of what, '' where they are many or long.

    Args:
        changes: the lines that went, and those that came in their place.
    """
    told: list[str] = []
    for old, new in changes:
        sides = [_join_lines(lines) for lines in (old, new)]
        if len(told) == MAX_CHANGES or not all(map(_is_short, sides)):
            return ""
        if _may_tell_secret(*sides):
            continue
        told.append(f"`{sides[0]}` became `{sides[1]}`")
    text = ", ".join(told)
    return text if len(text) <= MAX_ALL_CHARS else ""


def find_changes(before: Sequence[str], after: Sequence[str]) -> list[Change]:
    """Return the lines of a text that another one has otherwise; what was only added or only removed is left out."""
    if len(before) == len(after):
        return [((one,), (other,)) for one, other in zip(before, after, strict=True) if one != other]
    start = _count_same(before, after)
    end = _count_same(before[start:][::-1], after[start:][::-1])
    gone, came = before[start : len(before) - end], after[start : len(after) - end]
    return [(gone, came)] if gone and came else []


def find_patched_changes(lines: Iterable[str]) -> list[Change]:
    """Return the same of the lines of a patch, which begin with `-`, `+` or a blank."""
    found: list[tuple[list[str], list[str]]] = []
    previous = " "
    for line in lines:
        sign = line[:1]
        if sign in {"-", "+"}:
            if previous not in {"-", sign}:
                found.append(([], []))
            found[-1][sign == "+"].append(line[1:])
        previous = sign
    return [change for gone, came in found if gone and came for change in find_changes(gone, came)]


def may_name_secret(side: str) -> bool:
    """Tell whether a line has a word that names a secret, be its value a figure or anything else."""
    return _MAY_HOLD_SECRET.search(side) is not None


def _join_lines(lines: Sequence[str]) -> str:
    if len(lines) > MAX_LINES or sum(map(len, lines)) > MAX_READ_CHARS:
        return ""
    return " ".join(filter(None, (_SPACE.sub(" ", line).strip() for line in lines)))


def _is_short(side: str) -> bool:
    return (
        _WORD.search(side) is not None
        and len(side) <= MAX_CHARS
        and "`" not in side
        and max(map(len, side.split())) <= MAX_WORD_CHARS
    )


def _may_tell_secret(old: str, new: str) -> bool:
    """Tell whether a change may give a secret away: it is recognised as one, or named so and more than a figure.

    So may a value that stands alone on its line: what it is called stands on another one.
    """
    if any(sanitize(side).text != side or _stands_alone(side) for side in (old, new)):
        return True
    is_named = _MAY_HOLD_SECRET.search(old) or _MAY_HOLD_SECRET.search(new)
    return is_named is not None and _FIGURES.sub("", old) != _FIGURES.sub("", new)


def _stands_alone(side: str) -> bool:
    value = _NAMELESS.sub("", side.strip(" \t-*,;\"'")).strip("\"'")
    return _NAMED.search(value) is None and _FIGURES.fullmatch(value) is None


def _count_same(before: Sequence[str], after: Sequence[str]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
