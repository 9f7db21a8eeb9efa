"""Antonyms as developers use them, and the prefixes that make more of them (`encrypted`, `unencrypted`)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hyperloci.knowledge.contradictions.words import stem_of
from hyperloci.system.values import dataclass

_PREFIXES: Final = ("un", "non-", "non", "de-", "in", "im", "dis", "a")
_ADJECTIVE_ENDS: Final = ("ble", "al", "ate", "ive", "id", "ect", "ent", "ant", "it", "act", "ete", "ed", "ly", "ful")
"""`in-`, `im-` and `a-` turn only adjectives around: `import` is not the opposite of `port`."""

_COUNTING: Final = ("single", "multi")
_MIN_STEM_CHARS: Final = 4
"""Shorter words with a prefix are other words (`unit`, `nona`)."""


@functools.cache
def _read_opposites() -> dict[str, tuple[str, ...]]:
    """Return the opposites of each word of `data/antonyms.toml`, and those of its stem, which are stems."""
    text = (Path(__file__).parent / "data/antonyms.toml").read_text(encoding="utf-8")
    pairs = [line.split() for line in tomllib.loads(text)["pairs"]]
    found: dict[str, dict[str, None]] = {}
    for one, other in (pair for a, b in pairs for pair in ((a, b), (stem_of(a), stem_of(b)))):
        found.setdefault(one, {})[other] = None
        found.setdefault(other, {})[one] = None
    return {one: tuple(others) for one, others in found.items()}


def has_opposite(word: str) -> bool:
    """Return whether a word or stem has an opposite in the table."""
    return word in _read_opposites()


@functools.lru_cache(maxsize=16_384)
def are_opposites(a: str, b: str) -> bool:
    """Return whether two words in lower case mean the opposite; symmetric, never true of a word and itself."""
    if a == b:
        return False
    one, other, opposites = stem_of(a), stem_of(b), _read_opposites()
    if one != other and (b in opposites.get(a, ()) or other in opposites.get(one, ())):
        return True
    return _is_formed_opposite(a, b) or _is_formed_opposite(b, a)


@functools.lru_cache(maxsize=16_384)
def _find_keys(word: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return what a word is known by, and what its opposites are known by as far as the word itself tells.

    Of two words that mean the opposite, one tells what the other is known by.
    """
    stem, opposites = stem_of(word), _read_opposites()
    roots = {stem_of(word.removeprefix(prefix)) for prefix in _PREFIXES if word.startswith(prefix)}
    ends = {word.removesuffix(end) for end in ("less", "ful") if word.endswith(end)}
    counted = {word.removeprefix(start).lstrip("-") for start in _COUNTING if word.startswith(start)}
    told = {*opposites.get(word, ()), *opposites.get(stem, ()), *roots, *ends, *counted}
    return frozenset({word, stem, *ends, *counted}), frozenset(told)


@dataclass(frozen=True, slots=True)
class OpposableWords:
    """Words in lower case, what they are known by, and what they tell of their opposites."""

    words: tuple[str, ...]
    known_by: frozenset[str]
    told: frozenset[str]


def find_opposable(words: Sequence[str]) -> OpposableWords:
    """Return words, in lower case, so that opposites among them and others are soon found."""
    keys = [_find_keys(word) for word in words]
    none = frozenset[str]()
    return OpposableWords(tuple(words), none.union(*(own for own, _ in keys)), none.union(*(told for _, told in keys)))


def pair_opposites(left: OpposableWords, right: OpposableWords) -> list[tuple[int, int]]:
    """Return the places of words of two lists that mean the opposite, in the order of the lists."""
    # Mostly there are none, and to see that takes a hundredth of comparing each with each.
    if left.told.isdisjoint(right.known_by) and right.told.isdisjoint(left.known_by):
        return []
    likely = _list_likely(right, left)
    return [
        (at, place) for at, one in _list_likely(left, right) for place, other in likely if are_opposites(one, other)
    ]


def _list_likely(words: OpposableWords, others: OpposableWords) -> list[tuple[int, str]]:
    """Return the words that one of the others may be the opposite of, with their places."""
    keys = ((at, word, *_find_keys(word)) for at, word in enumerate(words.words))
    return [
        (at, word)
        for at, word, known_by, told in keys
        if not (told.isdisjoint(others.known_by) and known_by.isdisjoint(others.told))
    ]


def _is_formed_opposite(longer: str, shorter: str) -> bool:
    """Return whether `longer` is made of `shorter`, or of its root, to mean the opposite."""
    if longer.endswith("less") and shorter.endswith("ful") and longer[:-4] == shorter[:-3] and longer[:-4]:
        return True
    for first, second in (_COUNTING, _COUNTING[::-1]):
        if longer.startswith(first) and shorter.startswith(second):
            return longer.removeprefix(first).lstrip("-") == shorter.removeprefix(second).lstrip("-")
    return any(
        longer.startswith(prefix)
        and len(shorter) >= _MIN_STEM_CHARS
        and stem_of(longer.removeprefix(prefix)) == stem_of(shorter)
        and (prefix in ("un", "non", "non-", "de-") or shorter.endswith(_ADJECTIVE_ENDS))
        for prefix in _PREFIXES
    )
