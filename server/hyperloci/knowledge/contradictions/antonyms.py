"""Antonyms as developers use them, and the prefixes that make more of them (`encrypted`, `unencrypted`)."""

from __future__ import annotations

import functools
import itertools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hyperloci.knowledge.contradictions.words import stem_of

_PREFIXES: Final = ("un", "non-", "non", "de-", "in", "im", "dis", "a")
_ADJECTIVE_ENDS: Final = ("ble", "al", "ate", "ive", "id", "ect", "ent", "ant", "it", "act", "ete", "ed", "ly", "ful")
"""`in-`, `im-` and `a-` turn only adjectives around: `import` is not the opposite of `port`."""

_COUNTING: Final = ("single", "multi")
_MIN_STEM_CHARS: Final = 4
"""Shorter words with a prefix are other words (`unit`, `nona`)."""


@functools.cache
def read_opposites() -> frozenset[tuple[str, str]]:
    """Return the pairs of `data/antonyms.toml`, of words and of their stems, both ways round."""
    text = (Path(__file__).parent / "data/antonyms.toml").read_text(encoding="utf-8")
    pairs = [line.split() for line in tomllib.loads(text)["pairs"]]
    found = {pair for a, b in pairs for pair in ((a, b), (stem_of(a), stem_of(b)))}
    return frozenset(found | {(b, a) for a, b in found})


@functools.cache
def _words_with_opposites() -> frozenset[str]:
    return frozenset(one for one, _ in read_opposites())


def has_opposite(word: str) -> bool:
    """Return whether a word or stem has an opposite in the table."""
    return word in _words_with_opposites()


@functools.lru_cache(maxsize=16_384)
def are_opposites(a: str, b: str) -> bool:
    """Return whether two words in lower case mean the opposite; symmetric, never true of a word and itself."""
    if a == b:
        return False
    one, other = stem_of(a), stem_of(b)
    if one != other and not read_opposites().isdisjoint({(a, b), (one, other)}):
        return True
    return _is_formed_opposite(a, b) or _is_formed_opposite(b, a)


@functools.lru_cache(maxsize=16_384)
def list_opposite_keys(word: str) -> frozenset[str]:
    """Return texts of which two words that mean the opposite have at least one in common.

    So opposites among many words are found by looking keys up; whether two words with a common key are opposites,
    `are_opposites` says.
    """
    stem, partners = stem_of(word), _find_partners()
    roots = {stem_of(word.removeprefix(prefix)) for prefix in _PREFIXES if word.startswith(prefix)}
    ends = {word.removesuffix(end) for end in ("less", "ful") if word.endswith(end)}
    counted = {word.removeprefix(start).lstrip("-") for start in _COUNTING if word.startswith(start)}
    return frozenset({word, stem, *partners.get(word, ()), *partners.get(stem, ()), *roots, *ends, *counted})


@functools.cache
def _find_partners() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for one, other in read_opposites():
        found.setdefault(one, set()).add(other)
    return {one: frozenset(others) for one, others in found.items()}


def pair_opposites(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Return the places of words of two lists, in lower case, that mean the opposite, in the order of the lists."""
    # Mostly there are none, and to see that takes a tenth of finding out which.
    if (
        set[str]()
        .union(*map(list_opposite_keys, left))
        .isdisjoint(itertools.chain.from_iterable(map(list_opposite_keys, right)))
    ):
        return []
    places: dict[str, list[int]] = {}
    for at, word in enumerate(right):
        for key in list_opposite_keys(word):
            places.setdefault(key, []).append(at)
    return [
        (at, other)
        for at, word in enumerate(left)
        if not places.keys().isdisjoint(keys := list_opposite_keys(word))
        for other in sorted({place for key in keys for place in places.get(key, ())})
        if are_opposites(word, right[other])
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
