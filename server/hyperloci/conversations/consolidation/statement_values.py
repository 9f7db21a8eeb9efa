"""Statement values: what a statement sets, by sort: a day, a time of day, a length of time, a version, a count, one of
several tools; and where it says that something ends or is set (B.17).

Who changes their mind mostly leaves the subject out and says another value of the same sort: `16 november then`.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from hyperloci.text.language.dates import DateText
from hyperloci.text.language.vocabulary import vocabulary
from hyperloci.text.language.written_numbers import POINTED_NUMBER

_UNITS: Final = {
    "time": "ms|s|secs?|seconds?|mins?|minutes?|minuten?|h|hours?|stunden?|сек|секунд\\w{0,2}|мин|час\\w{0,2}",
    "days": "d|days?|tage?n?|weeks?|wochen?|months?|monate?|years?|jahre?|дн\\w{0,3}|день|недел\\w{1,2}|месяц\\w{0,3}",
    "size": "[kmgt]i?b|bytes?|мб|кб|гб",
    "rate": "hz|khz|mhz|fps|db",
    "share": "%|percent|prozent|процент\\w{0,3}",
    "money": "€|\\$|£|eur|euros?|usd|руб\\w{0,3}",
    "electric": "v|ma|ua|µa|mah|w",
    "length": "mm|cm|m|km|px|pt",
}
_AMOUNT: Final = rf"(?:{POINTED_NUMBER}|\d{{1,9}}(?:[.,]\d{{1,6}})?)"
_SORTS: Final = re.compile(
    r"(?P<clock>\b\d{1,2}:\d\d\b|\b\d{1,2}\s?(?:am|pm|uhr|o'clock)\b)"
    r"|(?P<ordinal>\b\d{1,2}(?:st|nd|rd|th)\b"
    r"|\b\d{1,2}\.\s?(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov|dez)\w{0,6})"
    + "".join(rf"|(?P<{name}>\b{_AMOUNT}\s?(?:{units})(?!\w))" for name, units in _UNITS.items())
    + rf"|(?P<version>\b(?:v|(?!{POINTED_NUMBER}))\d{{1,4}}\.\d{{1,4}}(?:\.\d{{1,6}})?(?![\w%]))"
    + rf"|(?P<count>\b(?:{POINTED_NUMBER}|\d{{1,9}})\b)",
    re.IGNORECASE,
)

DAY: Final = "day"

CueTable = Literal["ending", "setting", "pointing"]

_CUES_FILE: Final = Path(__file__).parent / "data" / "change_cues.toml"

_LONGEST_CUE: Final = 4
"""Words."""


def find_values(text: str) -> Mapping[str, frozenset[str]]:
    """Return the values that a text names, in lower case, by their sort."""
    found: dict[str, set[str]] = {}
    for match in _SORTS.finditer(text):
        sort = DAY if match.lastgroup == "ordinal" else str(match.lastgroup)
        found.setdefault(sort, set()).add(match[0].casefold())
    for date in DateText(text).find():
        if date.day is not None:
            found.setdefault(DAY, set()).add(f"{date.month}-{date.day}")
    return {sort: frozenset(values) for sort, values in found.items()}


def find_choices(words: Iterable[str]) -> Mapping[str, frozenset[str]]:
    """Return the well-known names among some words, by the purpose for which one of several is chosen.

    A name that is a plain word too (`main`, `rest`) counts where a capital tells it.
    """
    found: dict[str, set[str]] = {}
    for word in words:
        known = vocabulary().find(word)
        if known is not None and known.family and not (word.islower() and known.is_ordinary(word)):
            found.setdefault(known.family, set()).add(known.name)
    return {family: frozenset(names) for family, names in found.items()}


def find_cue_places(tokens: Sequence[str], table: CueTable) -> frozenset[int]:
    """Return the places of the words that belong to a cue of a table of `data/change_cues.toml`.

    Args:
        tokens: the words of a statement in lower case (`statement_features.split_words`).
        table: which cues.
    """
    cues = _load_cues()[table]
    return frozenset(
        place
        for size in range(1, _LONGEST_CUE + 1)
        for start in range(len(tokens) - size + 1)
        if " ".join(tokens[start : start + size]) in cues
        for place in range(start, start + size)
    )


@functools.cache
def _load_cues() -> Mapping[str, frozenset[str]]:
    tables = tomllib.loads(_CUES_FILE.read_text(encoding="utf-8"))
    return {name: frozenset(cues) for name, cues in tables.items()}
