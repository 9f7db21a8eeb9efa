"""Settings: cuts a file of settings into its tables, so that each is found by its own name (D.05).

What TOML, INI, YAML, JSON and Makefiles share is that a block begins with its name at the margin and goes on deeper or
below it: no parser of five formats is needed, and a broken file is cut like a whole one. Runs of single settings stay
together; a block too long for one chunk, and a file of very many blocks, which is data, is cut by lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hyperloci.system.values import dataclass
from hyperloci.text.chunking.lines import Span, line_windows

MAX_BLOCKS: Final = 40
"""Named blocks of a file that somebody wrote to set something: of 171 files in seven repositories none has more."""

LEAST_CHARS: Final = 80
"""Single settings of fewer characters between two blocks are no chunk: `.PHONY: test` belongs to what it announces."""

_TABLE: Final = re.compile(r"\[{1,2}\s*+([^\[\]\n]{1,120})\]{1,2}")
_KEY: Final = re.compile(r"[\"']?([\w@./*$-][\w@./*$ -]{0,119}?)[\"']?\s*+[:=]")
_COMMENT: Final = ("#", ";", "//")


@dataclass(frozen=True, slots=True)
class SettingsBlock:
    """Some lines of a file of settings; `name` is that of their table or key, empty where they have none."""

    span: Span
    name: str


def cut_settings(text: str) -> list[SettingsBlock]:
    """Cut a file of settings into adjacent blocks of at most `lines.WINDOW_CHARS` characters."""
    blocks = _join_single_settings(_list_blocks(text))
    if sum(1 for block in blocks if block.name) > MAX_BLOCKS:
        blocks = [SettingsBlock((0, len(text)), "")]
    return [SettingsBlock(span, block.name) for block in blocks for span in line_windows(text, *block.span)]


def _list_blocks(text: str) -> list[SettingsBlock]:
    """Return the blocks, those of one line without a name; together they are the text."""
    starts = list(_find_starts(text))
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, ""))
    ends = [start for start, _ in starts[1:]] + [len(text)]
    return [SettingsBlock((start, end), name) for (start, name), end in zip(starts, ends, strict=True)]


def _find_starts(text: str) -> Iterator[tuple[int, str]]:
    """Yield where each block begins, comments right above it with it, and its name if it has lines below that."""
    lines = text.splitlines(keepends=True)
    margin, tables = _find_margin(text), any(_TABLE.match(line) for line in lines)
    offset = begun = 0
    for number, line in enumerate(lines):
        if not line.strip().startswith(_COMMENT):
            found = (_TABLE if tables else _KEY).match(line, margin) if not line[:margin].strip() else None
            if found is not None:
                goes_on = tables or _is_below(lines[number + 1 : number + 2], margin)
                yield begun, found[1].strip() if goes_on else ""
            begun = offset + len(line)
        offset += len(line)


def _is_below(following: list[str], margin: int) -> bool:
    """Return whether the line after a name belongs to it: it stands deeper, or is an item of its list."""
    return any(len(line) - len(line.lstrip()) > margin or line[margin:].startswith("- ") for line in following)


def _find_margin(text: str) -> int:
    """Return how deep the names of blocks stand: at the margin, in JSON one step in."""
    if not text.lstrip("\ufeff \t\r\n").startswith(("{", "[\n", "[\r")):
        return 0
    depths = [len(line) - len(line.lstrip()) for line in text.splitlines() if line[:1].isspace() and line.strip()]
    return min(depths, default=0)


def _join_single_settings(blocks: list[SettingsBlock]) -> list[SettingsBlock]:
    """Return the blocks, single settings joined to each other; what is shorter than a block, to the one behind it."""
    joined: list[SettingsBlock] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last is None or last.name:
            joined.append(block)
        elif not block.name or last.span[1] - last.span[0] < LEAST_CHARS:
            joined[-1] = SettingsBlock((last.span[0], block.span[1]), block.name)
        else:
            joined.append(block)
    return joined
