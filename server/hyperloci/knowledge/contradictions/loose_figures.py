"""Loose figures: every number, span and point in time of a statement, read without its grammar.

`quantities` reads what a rule may lean on; this reads more and is wrong more often, for features that are weighed.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Final

from hyperloci.system.values import dataclass
from hyperloci.text.language.written_numbers import (
    NUMBER,
    SPACED_NUMBER,
    THOUSAND,
    is_grouped_by_points,
    may_group_by_point,
    read_number,
)

CACHED_TEXTS: Final = 2_048
"""As many as there are profiles: the same memories are candidates again and again."""

MAX_CHARS: Final = 600
"""What `statement_profile` reads of a statement."""

TOLERANCE: Final = 0.04
"""A month is 30 or 31 days, `a bit over 9 metres` 30 feet: amounts so near are the same."""

COUNT: Final = "count"
VERSION: Final = "version"
SPAN: Final = "span"
CLOCK: Final = "clock"
PERCENT: Final = "percent"
MONEY: Final = "money"

NOON: Final = 12 * 60

_TOKEN: Final = re.compile(
    SPACED_NUMBER + r"|\d{1,18}(?:[.,:]\d{1,18}){0,6}|[^\W\d_]{1,40}(?:['’][^\W\d_]{1,10})?|[%€$£]"
)
_CLOCK: Final = re.compile(r"(\d{1,2}):(\d\d)")
_NUMBER: Final = re.compile(NUMBER)
_CURRENCY: Final = "€$£"
_EACH: Final = frozenset({"a", "an", "each", "every", "per"})
_UNSURE_MONTHS: Final = frozenset({"may", "march"})
_WHOLE: Final = frozenset({"half", "single", "pair", "couple"})
_WORDS_OF_TEN: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class LooseFigure:
    """An amount of a dimension, in its base unit: seconds, minutes of the day, bytes; a version has a name instead.

    Where the point of a number may group thousands (`1.500`), the amount may be a thousand times as much.
    """

    dimension: str
    amount: float = 0.0
    name: str = ""
    thing: str = ""
    maybe_thousands: bool = False

    @property
    def amounts(self) -> tuple[float, ...]:
        """What its amount may be."""
        return (self.amount, THOUSAND * self.amount) if self.maybe_thousands else (self.amount,)

    @property
    def is_point(self) -> bool:
        """Whether it is a point in time, which is the same or is not, and has no size."""
        return self.dimension == CLOCK or self.dimension in _read_tables().points


@dataclass(frozen=True, slots=True)
class _Tables:
    numerals: Mapping[str, float]
    multipliers: Mapping[str, float]
    spans: Mapping[str, float]
    rhythms: Mapping[str, float]
    units: Mapping[str, tuple[str, float]]
    points: Mapping[str, Mapping[str, float]]


_Read = tuple[LooseFigure, int] | None
"""A figure and the place after it."""


@functools.lru_cache(maxsize=CACHED_TEXTS)
def read_loose_figures(text: str) -> tuple[LooseFigure, ...]:
    """Return the figures of a statement, in order."""
    written = _TOKEN.findall(text[:MAX_CHARS])
    tokens, found, at = [token.lower() for token in written], [], 0
    while at < len(tokens):
        readers = _READERS if _may_begin_figure(tokens[at]) else ()
        read = next(filter(None, (reader(tokens, written, at) for reader in readers)), None)
        if read is not None:
            found.append(read[0])
        at = at + 1 if read is None else read[1]
    return tuple(found)


@functools.lru_cache(maxsize=16_384)
def _may_begin_figure(token: str) -> bool:
    """Return whether a figure may begin with a token in lower case, whatever follows: with most words none does."""
    tables = _read_tables()
    words = (tables.numerals, tables.rhythms, _EACH, ("once",), *tables.points.values())
    return token[0].isdecimal() or any(token in table for table in words)


def are_equal_figures(a: LooseFigure, b: LooseFigure) -> bool:
    """Return whether two figures may be the same amount; a share is a percentage, a version begins as another."""
    if a.dimension != b.dimension:
        return _is_share_of(a, b) or _is_share_of(b, a) or _is_plain_number_of(a, b) or _is_plain_number_of(b, a)
    if a.name or b.name:
        return a.name.startswith(b.name) or b.name.startswith(a.name)
    if a.is_point:
        return a.amount == b.amount
    return any(abs(x - y) <= TOLERANCE * max(x, y) for x, y in product(a.amounts, b.amounts))


def _is_share_of(a: LooseFigure, b: LooseFigure) -> bool:
    return a.dimension == COUNT and b.dimension == PERCENT and abs(100 * a.amount - b.amount) < TOLERANCE


def _is_plain_number_of(a: LooseFigure, b: LooseFigure) -> bool:
    if a.dimension != COUNT:
        return False
    number = f"{a.amount:g}"
    return (b.dimension == MONEY and a.amount == b.amount) or (b.dimension == VERSION and b.name.startswith(number))


def _read_clock(tokens: Sequence[str], _written: Sequence[str], at: int) -> _Read:
    match, after = _CLOCK.fullmatch(tokens[at]), tokens[at + 1] if at + 1 < len(tokens) else ""
    if match is None and not (tokens[at].isdecimal() and after in ("am", "pm")):
        return None
    minutes = int(match[1]) * 60 + int(match[2]) if match else int(tokens[at]) * 60
    if after in ("am", "pm"):
        minutes = minutes % NOON + (NOON if after == "pm" else 0)
    return LooseFigure(dimension=CLOCK, amount=minutes), at + 1 + (after in ("am", "pm"))


def _read_point(tokens: Sequence[str], written: Sequence[str], at: int) -> _Read:
    token = tokens[at]
    if token in _UNSURE_MONTHS and not written[at].istitle():
        return None
    for dimension, names in _read_tables().points.items():
        if token in names:
            return LooseFigure(dimension=dimension, amount=names[token]), at + 1
    return None


def _read_rhythm(tokens: Sequence[str], _written: Sequence[str], at: int) -> _Read:
    """Read `weekly`, `a month`, `every hour`, `once a day`: each is the span itself."""
    tables, token = _read_tables(), tokens[at]
    if token in tables.rhythms:
        return LooseFigure(dimension=SPAN, amount=tables.rhythms[token]), at + 1
    if token not in _EACH and token != "once":
        return None
    place = at + 2 if at + 2 < len(tokens) and tokens[at + 1] in _EACH else at + 1
    if place >= len(tokens) or len(tokens[place]) <= 2 or tokens[place] not in tables.spans:
        return None
    return LooseFigure(dimension=SPAN, amount=tables.spans[tokens[place]]), place + 1


def _read_number(tokens: Sequence[str], _written: Sequence[str], at: int) -> _Read:
    if tokens[at].count(".") > 1 and not is_grouped_by_points(tokens[at]):
        return LooseFigure(dimension=VERSION, name=tokens[at]), at + 1
    read = _read_digits(tokens, at) or _read_numeral(tokens, at)
    if read is None:
        return None
    figure, end = _read_dimension(tokens, at, *read)
    return (replace(figure, maybe_thousands=True) if may_group_by_point(tokens[at]) else figure), end


def _read_dimension(tokens: Sequence[str], at: int, amount: float, end: int) -> tuple[LooseFigure, int]:
    """Return what an amount that ends there is of, by its unit."""
    unit = tokens[end] if end < len(tokens) else ""
    tables = _read_tables()
    if unit in tables.spans:
        return LooseFigure(dimension=SPAN, amount=amount * tables.spans[unit]), end + 1
    if unit in tables.units and (tokens[at][0].isdecimal() or len(unit) > 2):
        dimension, size = tables.units[unit]
        return LooseFigure(dimension=dimension, amount=amount * size), end + 1
    if at and tokens[at - 1] in _CURRENCY:
        return LooseFigure(dimension=MONEY, amount=amount), end
    if tokens[at] == "half":
        return LooseFigure(dimension=PERCENT, amount=100 * amount), end
    return LooseFigure(dimension=COUNT, amount=amount, thing=unit), end


def _read_digits(tokens: Sequence[str], at: int) -> tuple[float, int] | None:
    if not tokens[at][0].isdecimal():
        return None
    plain = tokens[at].replace(":", "")
    if not _NUMBER.fullmatch(plain):
        return None
    amount = read_number(plain)
    times = _read_tables().multipliers.get(tokens[at + 1], 0.0) if at + 1 < len(tokens) else 0.0
    return (amount * times, at + 2) if times else (amount, at + 1)


def _read_numeral(tokens: Sequence[str], at: int) -> tuple[float, int] | None:
    tables, end = _read_tables(), at + 1
    if tokens[at] not in tables.numerals:
        return None
    amount = tables.numerals[tokens[at]]
    if tokens[at] == "one" and not (end < len(tokens) and tokens[end] in tables.spans):
        return None
    while end < len(tokens) and tokens[end] in tables.numerals and tokens[end] not in _WHOLE:
        more = tables.numerals[tokens[end]]
        amount = amount * more if more >= _WORDS_OF_TEN else amount + more
        end += 1
    return amount, end + (tokens[at] == "half" and end < len(tokens) and tokens[end] in _EACH)


_READERS: Final[tuple[Callable[[Sequence[str], Sequence[str], int], _Read], ...]] = (
    _read_clock,
    _read_point,
    _read_rhythm,
    _read_number,
)


@functools.cache
def _read_tables() -> _Tables:
    read = tomllib.loads((Path(__file__).parent / "data/loose_units.toml").read_text(encoding="utf-8"))
    units = {
        name: (dimension, size) for dimension, sizes in read["units"].items() for name, size in _spread(sizes).items()
    }
    return _Tables(
        numerals=read["numerals"],
        multipliers=read["multipliers"],
        spans=_spread(read["spans"]),
        rhythms=_spread(read["rhythms"]),
        units=units,
        points={dimension: _spread(names) for dimension, names in read["points"].items()},
    )


def _spread(table: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(value) for names, value in table.items() for name in names.split()}
