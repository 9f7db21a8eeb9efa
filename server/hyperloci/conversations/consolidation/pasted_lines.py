"""Pasted lines: which lines of a turn the user did not write: a log, a ticket, a page, what somebody else said (B.17).

Who reports a failure or asks about a text pastes it around their own words, mostly without a fence. Shallow trees over
how a line and its neighbours are made, where it stands and how it differs from the turn's other lines (not what it
says) tell such lines. They are data (`data/pasted_lines.json`), trained by `python -m bench train_pasted_lines` on
messages with pastes, on what people say and on what tools print.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.knowledge.contradictions.forest import Forest
from hyperloci.store.keywords.analysis import stop_words
from hyperloci.system.values import dataclass

PASTED: Final = 0.7
"""Probability from which on a line is left out: what is lost of the user's own is never read, what is left in of a
paste is mostly no statement."""

MIN_WORDS: Final = 2
"""Of a line that is left out: a word alone says nothing, and a greeting looks like nothing else of a message."""

MAX_WORDS: Final = 12
LONG_WORDS: Final = 40
MAX_LINES: Final = 12
"""Words of a line and lines of a turn that are counted: more tell no more."""

_WEIGHTS_FILE: Final = Path(__file__).parent / "data" / "pasted_lines.json"
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LIST_ITEM: Final = re.compile(r"^\s*+(?:[-*•]|\(?\w{1,2}[.)])\s")
_INDENTED: Final = re.compile(r"^(?:\t| {2})\s*+(?!(?:[-*•]|\(?\w{1,2}[.)])\s)\S")
"""Who types begins a line at its margin, but for the items of a list."""

_QUOTES: Final = '"“„«'
_END_QUOTES: Final = '"”“»'

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
    "asks within": re.compile(r"\?"),
    "item": _LIST_ITEM,
    "indented": _INDENTED,
    "quote begins": re.compile(rf"^\s*+[{_QUOTES}'>]"),
    "introduces": re.compile(r":\s*+$"),
    "goes on": re.compile(r",\s*$"),
    "sentences": re.compile(r"[.!?]\s[^\W\d_a-zа-я]"),
    "dash": re.compile(r"[—–]"),
    "upper": re.compile(r"^\s*+[^\W\d_a-zа-яäöü]"),
    "lower": re.compile(r"^\s*+[a-zа-яäöü]"),
}

_STAMP: Final = re.compile(r"(?<![\w:.-])\d{1,2}:\d\d(?::\d\d)?(?:\s?[AaPp]\.?[Mm]\b\.?)?(?![\w:]|\.\d)")
MOST_STAMP_WORDS: Final = 5
"""Of a line that has a clock time and says no more than whose, and of which day, what follows is."""

MAX_STAMPS: Final = 4

_COMPARED: Final = ("lower", "ended", "letters", "digits", "small words", "words")
"""What differs between a user's own lines and a paste: most people write the one as they talk."""


@dataclass(frozen=True, slots=True)
class LineModel:
    """A trained model: the features that its trees read, in their order, and the log-odds before any tree."""

    features: tuple[str, ...]
    start: float
    forest: Forest

    def estimate(self, rows: Sequence[Mapping[str, float]]) -> list[float]:
        """Return the log-odds that each of some lines was pasted."""
        values = [[row.get(name, 0.0) for name in self.features] for row in rows]
        return [self.start + leaves for leaves in self.forest.sum_leaves(values)]


def find_pasted_lines(lines: Sequence[str]) -> list[bool]:
    """Return of each line of a turn whether it is a part of a paste. A turn of one line has nothing beside a paste."""
    found = [False] * len(lines)
    read = dict(read_line_features(lines))
    if len(read) > 1:
        least = math.log(PASTED / (1.0 - PASTED))
        for number, odds in zip(read, load_line_model().estimate(list(read.values())), strict=True):
            found[number] = odds > least and len(lines[number].split()) >= MIN_WORDS
    return found


def read_line_features(lines: Sequence[str]) -> Iterator[tuple[int, dict[str, float]]]:
    """Yield the number of each line that is not blank, with its features, and its neighbours'."""
    made = [(number, _read_signs(line)) for number, line in enumerate(lines) if line.strip()]
    stamps = [place for place, (number, _) in enumerate(made) if _is_stamp(lines[number])]
    sums = {name: math.fsum(signs.get(name, 0.0) for _, signs in made) for name in _COMPARED}
    for place, (number, signs) in enumerate(made):
        features = signs | _read_stamps(stamps, place)
        if len(made) > 1:
            features["lines"] = min(len(made), MAX_LINES) / MAX_LINES
            features["first"] = float(place == 0)
            features["last"] = float(place == len(made) - 1)
            for side, beside in (("before", place - 1), ("after", place + 1)):
                if 0 <= beside < len(made):
                    features |= {f"{side} {name}": value for name, value in made[beside][1].items()}
            for name in _COMPARED:
                value = signs.get(name, 0.0)
                features[f"more {name}"] = value - (sums[name] - value) / (len(made) - 1)
        yield number, features


def _is_stamp(line: str) -> bool:
    """Tell whether a line only says when, and maybe who: in chats and transcripts what was said stands below."""
    return _STAMP.search(line) is not None and len(_WORD.findall(line)) <= MOST_STAMP_WORDS


def _read_stamps(stamps: Sequence[int], place: int) -> dict[str, float]:
    """Return where a line stands among those that only say when: of a paste there are several."""
    before = [stamp for stamp in stamps if stamp <= place]
    if len(stamps) < 2:
        return {}
    found = {"stamps": min(len(stamps), MAX_STAMPS) / MAX_STAMPS}
    if before:
        found["since stamp"] = 1.0 / (1 + place - before[-1])
        found["between stamps"] = float(before[-1] != stamps[-1] or place == stamps[-1])
    return found


def _read_signs(line: str) -> dict[str, float]:
    """Return how a line is made: its signs, the shares of its letters, digits and small words, its length."""
    words = [word.lower() for word in _WORD.findall(line)]
    full = [char for char in line if not char.isspace()]
    size = max(1, len(full))
    found = {name: 1.0 for name, pattern in _SIGNS.items() if pattern.search(line)}
    bare = line.strip().rstrip(".")
    if len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _END_QUOTES:
        found["quoted"] = 1.0
    return found | {
        "letters": sum(map(str.isalpha, full)) / size,
        "digits": sum(map(str.isdigit, full)) / size,
        "small words": sum(word in stop_words() for word in words) / max(1, len(words)),
        "words": min(len(words), MAX_WORDS) / MAX_WORDS,
        "long": min(len(words), LONG_WORDS) / LONG_WORDS,
    }


@functools.cache
def load_line_model() -> LineModel:
    """Return the trained model."""
    read = json.loads(_WEIGHTS_FILE.read_text(encoding="utf-8"))
    return LineModel(tuple(read["features"]), read["start"], Forest(read["trees"]))
