"""Quantities and other values in a sentence, in a form that compares: 30 s equals 30,000 ms."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Final

from hyperloci.knowledge.contradictions.words import Word, analyse_word
from hyperloci.system.values import dataclass
from hyperloci.text.language.dates import UNIT_SECONDS, DateWords, clock_minutes, date_words
from hyperloci.text.language.vocabulary import vocabulary
from hyperloci.text.language.written_numbers import NUMBER, POINTED_NUMBER, THOUSAND, may_group_by_point, read_number

TOLERANCE: Final = 0.005
"""Quantities this near each other (relative) are the same."""

BINARY_SLACK: Final = 0.08
"""KB and GB are written for powers of 1,000 and of 1,024: up to 7.4 % apart at GB, the same size is meant."""

_LABEL_HEADS: Final = frozenset(
    """issue pr ticket chapter sprint step phase page section figur line milestone level task bug item row column rule
    lesson part stage iter""".split()  # noqa: SIM905
)
"""The number after these is a name (`sprint 4`), not a value: other numbers are other things."""

_VERSION_HEADS: Final = frozenset({"version", "v", "release", "releas"})
_PARTICIPLE_ENDS: Final = ("ed", "ing")
_ASSIGNERS: Final = frozenset("is are was were be = : to of at as equals by".split())  # noqa: SIM905

_QUANTITY: Final = re.compile(rf"^\$?({NUMBER})\s*(%|[a-zµ]+)?(?:/([a-z]+))?$")
_BARE_NUMBER: Final = re.compile(f"^(?:{NUMBER})$")
_VERSION: Final = re.compile(rf"^(?:v|(?!(?:{POINTED_NUMBER})$))([0-9]+(?:\.[0-9]+)+)$")
_ISO_DATE: Final = re.compile(r"^([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})$")
_PATH: Final = re.compile(r"^(?:~?/|\.{1,2}/)[\w.@/-]+$|^[\w.@-]+(?:/[\w.@-]+){2,}$|^[\w@-]+/[\w@-]+\.\w+$")
_HOST: Final = re.compile(r"^[a-z][\w-]*(?:\.[\w-]+)+$", re.IGNORECASE)
_MAX_COUNTED_WORDS: Final = 3
"""`12 conditional probability problems`: a longer run of words is not a noun phrase."""


@functools.cache
def _date_words() -> DateWords:
    return date_words("en")


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A value as it stands in a sentence.

    Attributes:
        kind: only values of one kind can differ (`time`, `count:thread`, `version:python`, `database`).
        size: of quantities, in the base unit.
        name: of everything else, in a form that compares.
        text: as written.
        start, end: first and past-last word.
        label: it names the topic and is not a statement about it.
        maybe_thousands: its point may group thousands (`1.500`), so that its size may be a thousand times as much.
    """

    kind: str
    size: float = 0.0
    name: str = ""
    text: str
    start: int
    end: int
    label: bool = False
    maybe_thousands: bool = False

    @property
    def sizes(self) -> tuple[float, ...]:
        """What its size may be."""
        return (self.size, THOUSAND * self.size) if self.maybe_thousands else (self.size,)


def are_same_value(a: Value, b: Value) -> bool:
    """Return whether two values of one kind may mean the same."""
    if a.name or b.name:
        return _names_agree(a.kind, a.name, b.name)
    slack = BINARY_SLACK if a.kind == "size" else TOLERANCE
    return any(abs(x - y) <= slack * max(abs(x), abs(y)) for x, y in product(a.sizes, b.sizes))


def _names_agree(kind: str, a: str, b: str) -> bool:
    if kind.startswith("version"):
        short, long = sorted((a, b), key=len)
        return long == short or long.startswith(short + ".")
    if kind == "name":
        one, other = set(a.split()), set(b.split())
        return one <= other or other <= one
    if kind == "date":  # a date without a year agrees with any year's
        return a == b or (a.split("-")[-2:] == b.split("-")[-2:] and ("0000" in a or "0000" in b))
    return a == b


def find_values(words: Sequence[Word]) -> list[Value]:
    """Return the values in a sentence, in order."""
    found: list[Value] = []
    at = 0
    while at < len(words):
        value = _read_value(words, at) if _may_begin_value(words[at].text) else None
        if value is None:
            at += 1
        else:
            found.append(value)
            at = value.end
    return found


@functools.lru_cache(maxsize=16_384)
def _may_begin_value(text: str) -> bool:
    """Return whether a value may begin with a word, whatever follows: with most words none does."""
    word = analyse_word(text)
    known = word.numeric or word.lower in _date_words().months or word.lower in vocabulary().choice_heads
    return known or _read_value([word], 0) is not None


def _read_value(words: Sequence[Word], at: int) -> Value | None:
    word = words[at]
    if word.numeric:
        value = (
            _read_date(words, at) or _read_clock(words, at) or _read_quantity(words, at) or _read_bare_number(words, at)
        )
        return replace(value, maybe_thousands=True) if value and may_group_by_point(word.lower) else value
    if word.lower in _date_words().months:
        return _read_month_day(words, at)
    if word.lower in _date_words().weekdays or word.lower in _date_words().plural_weekdays:
        return _named_value(words, at, 1, "weekday", word.lower.removesuffix("s"))
    if word.lower[0] == "v" and _VERSION.match(word.lower):
        return _version_value(words, at, word.lower[1:])
    return _read_family_member(words, at) or _read_path_or_host(words, at)


@functools.cache
def _read_units() -> Mapping[str, tuple[str, float]]:
    """Return each unit's dimension, and its size in the dimension's base unit."""
    tables = tomllib.loads((Path(__file__).parent / "data/units.toml").read_text(encoding="utf-8"))
    times = {word: ("time", UNIT_SECONDS[unit]) for word, unit in _date_words().units.items() if unit in UNIT_SECONDS}
    return times | {
        name: (dimension, size)
        for dimension, units in tables.items()
        for names, size in units.items()
        for name in names.split()
    }


def _named_value(words: Sequence[Word], start: int, length: int, kind: str, name: str) -> Value:
    text = " ".join(word.text for word in words[start : start + length])
    return Value(kind=kind, name=name, text=text, start=start, end=start + length)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _lower_word_at(words: Sequence[Word], at: int) -> str:
    return words[at].lower if 0 <= at < len(words) else ""


def _read_date(words: Sequence[Word], at: int) -> Value | None:
    iso = _ISO_DATE.match(words[at].lower)
    if iso:
        return _named_value(words, at, 1, "date", f"{int(iso[1]):04}-{int(iso[2]):02}-{int(iso[3]):02}")
    month = _date_words().months.get(_lower_word_at(words, at + 1))
    if month and _is_number(words[at].lower):
        year = _lower_word_at(words, at + 2)
        known = len(year) == 4 and _is_number(year)
        name = f"{year if known else '0000'}-{month:02}-{int(words[at].lower):02}"
        return _named_value(words, at, 3 if known else 2, "date", name)
    return None


def _read_month_day(words: Sequence[Word], at: int) -> Value | None:
    day = re.match(r"^([0-9]{1,2})(?:st|nd|rd|th)?$", _lower_word_at(words, at + 1))
    if not day or not words[at].text[0].isupper():
        return None
    comma = _lower_word_at(words, at + 2) == ","
    year = _lower_word_at(words, at + 2 + comma)
    known = len(year) == 4 and _is_number(year)
    length = 3 + comma if known else 2
    return _named_value(
        words,
        at,
        length,
        "date",
        f"{year if known else '0000'}-{_date_words().months[words[at].lower]:02}-{int(day[1]):02}",
    )


def _read_clock(words: Sequence[Word], at: int) -> Value | None:
    after = _lower_word_at(words, at + 1)
    half = after if after in ("am", "pm") else ""
    minutes = clock_minutes(words[at].lower + half)
    return (
        None
        if minutes is None
        else _named_value(words, at, 2 if half else 1, "clock", f"{minutes // 60:02}:{minutes % 60:02}")
    )


def _read_quantity(words: Sequence[Word], at: int) -> Value | None:
    """Return a number with a unit, the number of a name (`sprint 4`), or a number of things."""
    lower = words[at].lower
    match = _QUANTITY.match(lower)
    if lower in _date_words().numerals:
        amount, unit, rate = float(_date_words().numerals[lower]), None, None
    elif match:
        amount, unit, rate = read_number(match[1]), match[2], match[3]
    else:
        return None
    end = at + 1
    if unit is None and _lower_word_at(words, end).split("/")[0] in _read_units():
        unit, _, rate = _lower_word_at(words, end).partition("/")
        end += 1
    measured = _read_units().get(unit or "")
    if measured is not None:
        return _rate_quantity(words, at, end, measured[0], amount * measured[1], rate)
    return (
        None
        if unit or lower == "one"
        else _read_label_number(words, at, lower, amount) or _read_count(words, at, amount)
    )


def _read_label_number(words: Sequence[Word], at: int, lower: str, amount: float) -> Value | None:
    before = words[at - 1] if at else None
    if before is None or not before.topical:
        return None
    if before.stem not in _LABEL_HEADS and (before.verb or before.lower.endswith(_PARTICIPLE_ENDS)):
        return None
    if before.name and (at > 1 or _VERSION.match(lower)) and before.stem not in _LABEL_HEADS:
        return _version_value(words, at, lower)
    if not _is_number(lower):
        return None
    text = f"{before.text} {words[at].text}"
    label = before.stem in _LABEL_HEADS
    return Value(kind=f"number of {before.stem}", size=amount, text=text, start=at, end=at + 1, label=label)


def _rate_quantity(words: Sequence[Word], at: int, end: int, kind: str, amount: float, rate: str | None) -> Value:
    """Return a quantity, per unit of time where it says so."""
    if (
        not rate
        and _lower_word_at(words, end) in ("per", "a", "each", "every")
        and _lower_word_at(words, end + 1) in _read_units()
    ):
        rate = _lower_word_at(words, end + 1)
        end += 2
    per = _read_units().get(rate or "")
    if per is not None and per[0] == "time":
        kind, amount = f"{kind} per time", amount / per[1]
    text = " ".join(word.text for word in words[at:end])
    return Value(kind=kind, size=amount, text=text, start=at, end=end)


def _read_count(words: Sequence[Word], at: int, amount: float) -> Value | None:
    """Return a number of things; the thing is the last word of the noun phrase after it."""
    end = at + 1
    while end < len(words) and words[end].topical and end - at <= _MAX_COUNTED_WORDS:
        end += 1
    if end == at + 1:
        return None
    head = words[end - 1].lower.partition("/")
    kind = f"count of {words[end - 1].stem}" if not head[1] else f"count of {head[0].rstrip('s')}"
    value = _rate_quantity(words, at, at + 1, kind, amount, head[2])
    if value.kind == kind and end < len(words):
        tail = _rate_quantity(words, at, end, kind, amount, None)
        if tail.kind != kind:
            return Value(kind=tail.kind, size=tail.size, text=tail.text, start=at, end=tail.end)
    return Value(kind=value.kind, size=value.size, text=" ".join(w.text for w in words[at:end]), start=at, end=at + 1)


def _read_bare_number(words: Sequence[Word], at: int) -> Value | None:
    """Return a bare number: a version, or what is assigned."""
    lower = words[at].lower
    match, number = _VERSION.match(lower), _BARE_NUMBER.match(lower)
    before = words[at - 1] if at else None
    if match and not (before is not None and before.lower in _ASSIGNERS):
        return _version_value(words, at, match[1])
    if before is None or before.lower not in _ASSIGNERS or number is None:
        return None
    kind = _counted_kind(words, at) or "number"
    return Value(kind=kind, size=read_number(lower), text=words[at].text, start=at, end=at + 1)


def _counted_kind(words: Sequence[Word], at: int) -> str:
    """Return the kind of the count that `the number of workers is 8` gives, or nothing."""
    for place in range(at - 2):
        if words[place].lower == "number" and words[place + 1].lower == "of":
            head = place + 2
            while head + 1 < at and words[head + 1].topical and not words[head + 1].lower.endswith(_PARTICIPLE_ENDS):
                head += 1
            return f"count of {words[head].stem}"
    return ""


def _version_value(words: Sequence[Word], at: int, name: str) -> Value:
    before = words[at - 1] if at else None
    of = "" if before is None or before.stem in _VERSION_HEADS or not before.topical else before.stem
    return _named_value(words, at, 1, f"version {of}".strip(), name)


def _read_family_member(words: Sequence[Word], at: int) -> Value | None:
    """Return a member of a family of alternatives, the longest name that begins here."""
    known_names = vocabulary()
    for length in (3, 2, 1) if words[at].lower in known_names.choice_heads else (1,):
        known = known_names.find(" ".join(word.lower for word in words[at : at + length]))
        if known is not None and known.family:
            return _named_value(words, at, length, known.family, known.name)
    return None


def _read_path_or_host(words: Sequence[Word], at: int) -> Value | None:
    lower = words[at].lower
    if not words[at].name or len(lower) < 4:
        return None
    if _PATH.match(lower):
        return _named_value(words, at, 1, "path", lower.rstrip("/"))
    return _named_value(words, at, 1, "host", lower) if _HOST.match(lower) and any(c.isdigit() for c in lower) else None
