"""German numerals: numbers in one word, however long: `zwölfhundert`, `zweihundertfünfundzwanzig`, `anderthalb`.

Other languages join theirs with blanks, so each of their words stands in a table (`[dates.numerals]` of a language).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Final

_ONES: Final = ("ein", "zwei", "drei", "vier", "fuenf", "sechs", "sieben", "acht", "neun")
_TEENS: Final = (
    *("zehn", "elf", "zwoelf", "dreizehn", "vierzehn", "fuenfzehn"),
    *("sechzehn", "siebzehn", "achtzehn", "neunzehn"),
)
_TENS: Final = ("zwanzig", "dreissig", "vierzig", "fuenfzig", "sechzig", "siebzig", "achtzig", "neunzig")
_SCALES: Final = (("tausend", 1_000), ("hundert", 100))

_SPELLINGS: Final = str.maketrans({"ü": "ue", "ö": "oe", "ß": "ss"})

_ARTICLE: Final = "ein"
"""A figure only within a longer word: `ein Problem`, `einundzwanzig`."""

_AND_A_HALF: Final = "einhalb"


@functools.lru_cache(maxsize=16_384)
def read_german_numeral(word: str) -> float | None:
    """Return the number that a word in lower case means; None where it is none, or an article."""
    return None if word == _ARTICLE else _read_from(word.translate(_SPELLINGS), _SCALES)


def _read_from(word: str, scales: tuple[tuple[str, int], ...]) -> float | None:
    """Return the number of a word that holds no larger scale than the first of those given."""
    if not scales:
        return _small_numerals().get(word)
    (name, size), smaller = scales[0], scales[1:]
    before, scale, after = word.partition(name)
    if not scale:
        return _read_from(word, smaller)
    many = _read_from(before, smaller) if before else 1.0
    rest = _read_from(after.removeprefix("und"), smaller) if after else 0.0
    return None if many is None or rest is None else many * size + rest


@functools.cache
def _small_numerals() -> Mapping[str, float]:
    """Return the numbers below a hundred, and those with a half."""
    ones = {word: float(number) for number, word in enumerate(_ONES, 1)}
    teens = {word: float(number) for number, word in enumerate(_TEENS, 10)}
    tens = {word: 10.0 * number for number, word in enumerate(_TENS, 2)}
    joined = {f"{one}und{ten}": tens[ten] + ones[one] for one in ones for ten in tens}
    whole = ones | teens | tens | joined | {"eins": 1.0, "zwo": 2.0}
    halves = {f"{word}{_AND_A_HALF}": number + 0.5 for word, number in whole.items()}
    return whole | halves | {"anderthalb": 1.5}
