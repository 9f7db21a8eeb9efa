"""Figures: the numbers of a text, in digits and in words, as they are and in the units that code has them in.

`twenty minutes` is 1200 in a file that counts seconds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from hyperloci.text.language.dates import date_words, languages
from hyperloci.text.language.german_numerals import read_german_numeral
from hyperloci.text.language.written_numbers import POINTED_NUMBER, is_grouped_by_points, read_number

_FIGURE: Final = re.compile(
    rf"(?<![\d.])(?P<number>{POINTED_NUMBER}|\d{{1,12}}(?>(?:[_,]\d{{3}})*)(?:\.\d{{1,9}})?(?:e-?\d{{1,3}})?)"
    r"(?:\s{0,2}(?P<unit>[^\W\d_]{1,8}|%))?"
)
"""A number as programs have it (`1_000`, `1e-3`) or whose groups points part. A program has `0,20` and `4 100` for two
numbers each, so here they are two."""
_NUMERAL: Final = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")

_FACTORS: Final = {
    "ms": (0.001,),
    "s": (1_000.0,),
    "min": (60.0, 60_000.0),
    "h": (60.0, 3_600.0, 3_600_000.0),
    "day": (24.0, 1_440.0, 86_400.0),
    "week": (7.0, 168.0),
    "%": (0.01,),
    "kb": (1_024.0, 1_000.0),
    "mb": (1_024.0, 1_048_576.0),
    "gb": (1_024.0, 1_048_576.0, 1_073_741_824.0),
    "hundred": (100.0,),
    "thousand": (1_000.0,),
    "million": (1_000_000.0,),
}
"""By what a figure is multiplied where it stands in another unit, or is counted in hundreds."""

_UNITS: Final = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "sekunden", "секунд"), "s"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "minuten", "минут"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "stunden", "часов", "часа"), "h"),
    **dict.fromkeys(("d", "day", "days", "tage", "tagen", "дней"), "day"),
    **dict.fromkeys(("week", "weeks", "wochen", "недель"), "week"),
    **dict.fromkeys(("%", "percent", "prozent", "процентов"), "%"),
    **dict.fromkeys(("kb", "kib"), "kb"),
    **dict.fromkeys(("mb", "mib"), "mb"),
    **dict.fromkeys(("gb", "gib", "gi"), "gb"),
    "ms": "ms",
    **dict.fromkeys(("hundred", "hundert"), "hundred"),
    **dict.fromkeys(("k", "thousand", "tausend", "тысяч", "тысячи"), "thousand"),
    **dict.fromkeys(("million", "millionen", "миллиона", "миллионов"), "million"),
}

_SCALES: Final = frozenset({"hundred", "thousand", "million"})

_DIMENSIONS: Final = {
    **dict.fromkeys(("ms", "s", "min", "h", "day", "week"), "time"),
    **dict.fromkeys(("kb", "mb", "gb"), "size"),
    "%": "share",
}

_TENS: Final = 20
"""Numerals from here on are joined with the one behind them: `twenty five`."""

_MAX_ONCE: Final = 10
_HUNDRED: Final = 100
_THOUSAND: Final = 1_000

_MILLIONS: Final = {"million": 1_000_000, "millionen": 1_000_000, "миллион": 1_000_000, "полмиллиона": 500_000}
"""No dates are counted in them, so they stand in no table of those."""

_HALF: Final = "half"
"""`half a million`."""

_HALVES: Final = frozenset({_HALF, "halbe", "halben"})

_FORMAT: Final = "elf"
"""A German numeral, but in capitals and behind a dot a file's format: `ELF`, `app.elf`."""


@functools.lru_cache(maxsize=4_096)
def read_figures(text: str) -> frozenset[str]:
    """Return the numbers of a text in digits, those in words too, as they are and in the next units."""
    return frozenset(read_dimensions(text))


@functools.lru_cache(maxsize=4_096)
def read_dimensions(text: str) -> Mapping[str, str]:
    """Return the same with what each counts: `time`, `size`, `share` or '' where that is not told."""
    found: dict[str, str] = {}
    for value, unit in _list_figures(text):
        name = _UNITS.get(unit.casefold(), "")
        # One of anything is mostly no figure (`one more thing`); one of a unit is.
        values = [value * factor for factor in _FACTORS.get(name, ())] if value == 1 and name else []
        for each in values or [value, *(value * factor for factor in _FACTORS.get(name, ()))]:
            key = f"{each:.12g}"
            found[key] = found.get(key) or _DIMENSIONS.get(name, "")
    return found


@functools.lru_cache(maxsize=4_096)
def read_said_figures(text: str) -> frozenset[str]:
    """Return the numbers of a text in digits, those in words too, only as they are said."""
    return frozenset(f"{value:.12g}" for value, unit in _list_figures(text) if value != 1 or not _UNITS.get(unit))


def _list_figures(text: str) -> Iterator[tuple[float, str]]:
    """Yield each number with the word behind it."""
    for match in _FIGURE.finditer(text):
        number = match["number"]
        is_grouped = is_grouped_by_points(number)
        yield (
            read_number(number) if is_grouped else float(number.replace("_", "").replace(",", "")),
            match["unit"] or "",
        )
    yield from _list_numerals([_read_word(text, match) for match in _NUMERAL.finditer(text)])


def _read_word(text: str, match: re.Match[str]) -> str:
    """Return a word in lower case, '' for what is no numeral though it looks like one."""
    word, before = match[0].casefold(), text[max(0, match.start() - 3) : match.start()]
    # What is counted in hundreds after digits is their unit: `5 thousand`.
    if _UNITS.get(word) in _SCALES and before.rstrip()[-1:].isdigit():
        return ""
    return "" if word == _FORMAT and (match[0].isupper() or before[-1:] == ".") else word


def _list_numerals(words: Sequence[str]) -> Iterator[tuple[float, str]]:
    """Yield the numbers of words in order, and the tens and hundreds that larger ones begin with, with their units."""
    total = current = 0.0
    for at, word in enumerate(words):
        value = _read_numeral(word)
        following = words[at + 1] if at + 1 < len(words) else ""
        if value is None:
            total = current = 0.0
            continue
        if _UNITS.get(word) in _SCALES:
            current = (current or _read_half(words, at)) * value
        elif current and value < (_MAX_ONCE if current % _HUNDRED else _HUNDRED) and current >= _TENS:
            current += value
        else:
            current = float(value)
        if value >= _THOUSAND:
            total, current = total + current, 0.0
        # One of anything is mostly no figure; of a unit it is.
        if total + current > 1 or following in _UNITS:
            yield total + current, following


def _read_numeral(word: str) -> float | None:
    """Return the number that a word means, or two that a hyphen joins."""
    numerals = _numerals()
    tens, _, ones = word.partition("-")
    if tens in numerals and ones in numerals:
        return numerals[tens] + numerals[ones]
    return numerals[word] if word in numerals else read_german_numeral(word)


def _read_half(words: Sequence[str], at: int) -> float:
    """Return how many of a scale a half before it means: `half a million`, `two and a half million`; 1 without one."""
    before = list(words[max(0, at - 4) : at])
    if before[-2:] == [_HALF, "a"] or not _HALVES.isdisjoint(before[-1:]):
        whole = _numerals().get(before[-4], 0) if before[-3:] == ["and", "a", _HALF] and len(before) == 4 else 0
        return whole + 0.5
    return 1.0


@functools.cache
def _numerals() -> Mapping[str, int]:
    """Return the numbers in words of the languages that have a table of them."""
    found = {word: number for language in languages() for word, number in date_words(language).numerals.items()}
    return {word: number for word, number in found.items() if number > 0} | _MILLIONS
