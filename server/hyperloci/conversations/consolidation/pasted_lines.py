"""Pasted lines: which lines of a turn a machine wrote: a log, a trace, a build's output (B.17).

Who reports a failure pastes what they saw beneath their own words, mostly without a fence. A small linear model over
how a line is made (not what it says) tells such lines; its weights are data (`data/pasted_lines.json`), trained by
`python -m bench train_pasted_lines` on what people say and what tools print.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.store.keywords.analysis import stop_words

PASTED: Final = 0.7
"""Probability from which on a line is left out. In cross-validation over projects 84 % of the lines that tools print
pass it, and 4 % of those that people say (`bench train_pasted_lines`); most pasted ones stand beside others."""

MIN_WORDS: Final = 3
"""Of a line that tells how it was made: `ok` is printed and said."""

BESIDE: Final = 0.3
"""What a neighbour's log-odds count: pastes are blocks, and one of their lines may read like a sentence."""

MOST_ODDS: Final = 3.0
"""A neighbour is no surer than this."""

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "pasted_lines.json"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LIST_ITEM: Final = re.compile(r"\s*+(?:[-*•]|\(?\w{1,2}[.)])\s")
_INDENTED: Final = re.compile(r"(?:\t| {2})\s*+(?!(?:[-*•]|\(?\w{1,2}[.)])\s)\S")
"""Who types begins a line at its margin, but for the items of a list."""

_SIGNS: Final = {
    "time": re.compile(r"\d{1,2}:\d\d:\d\d|^\W?\d{1,2}:\d\d\W|\d{4}-\d\d-\d\d"),
    "bracketed": re.compile(r"^\s*[\[<({]"),
    "path": re.compile(r"/[\w.-]++/|[\w-]\.\w{1,5}:\d"),
    "shouts": re.compile(r"\b[A-Z]{4,}\b"),
    "labelled": re.compile(r"^\s*[\w.-]+(?:\s\w+)?:\s"),
    "assigned": re.compile(r"\w=\S|::|->|=>|0x[\da-f]+|\w\(\w*\)"),
    "joined": re.compile(r"\w_\w|[a-z][A-Z]|\w\.\w+\.\w"),
    "columns": re.compile(r"\S {2,}\S|\s\|\s"),
    "ended": re.compile(r"[.!?]['\")»”]?\s*$"),
    "asked": re.compile(r"\?\s*$"),
}


def find_pasted_lines(lines: Sequence[str]) -> list[bool]:
    """Return of each line of a turn whether it is a part of a paste. A turn of one line has nothing above a paste."""
    if len(lines) < 2:
        return [False] * len(lines)
    odds = [_weigh(line) for line in lines]
    least = math.log(PASTED / (1.0 - PASTED))
    return [
        _INDENTED.match(lines[number]) is not None
        or (
            bool(lines[number].strip())
            and value + BESIDE * sum(max(-MOST_ODDS, min(MOST_ODDS, odds[at])) for at in _neighbours(lines, number))
            > least
        )
        for number, value in enumerate(odds)
    ]


def read_line_features(line: str) -> dict[str, float]:
    """Return how a line is made: its signs, the shares of its letters, digits and small words, its length."""
    words = [word.lower() for word in _WORD.findall(line)]
    full = [char for char in line if not char.isspace()]
    size = max(1, len(full))
    found = {name: 1.0 for name, pattern in _SIGNS.items() if pattern.search(line)}
    if _LIST_ITEM.match(line):
        found["item"] = 1.0
    return found | {
        "": 1.0,
        "letters": sum(map(str.isalpha, full)) / size,
        "digits": sum(map(str.isdigit, full)) / size,
        "small words": sum(word in stop_words() for word in words) / max(1, len(words)),
        "words": min(len(words), 12) / 12,
        "lower": float(line[:1].islower()),
    }


def _neighbours(lines: Sequence[str], number: int) -> list[int]:
    return [at for at in (number - 1, number + 1) if 0 <= at < len(lines) and lines[at].strip()]


def _weigh(line: str) -> float:
    """Return the log-odds that a line was pasted; of a word or two only the lines around them tell."""
    if len(line.split()) < MIN_WORDS:
        return 0.0
    weights = load_line_weights()
    return math.fsum(weights.get(name, 0.0) * value for name, value in read_line_features(line).items())


@functools.cache
def load_line_weights() -> Mapping[str, float]:
    """Return the trained weights; the intercept under ''."""
    found: Mapping[str, float] = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return found
