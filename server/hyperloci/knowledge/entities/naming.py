"""Naming: whether capitalised words that no list knows name something, by a linear scorer over how they stand.

English has capitals where nothing is named: at the heads of sentences, list items and titles. Weights and words are
data (`knowledge/data/naming.toml`).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hyperloci.store.keywords.analysis import analyse_text, stop_words
from hyperloci.system.late_patterns import compile_late
from hyperloci.text.language.vocabulary import vocabulary
from hyperloci.text.language.word_tables import word_set

_FILE: Final = Path(__file__).parent.parent / "data" / "naming.toml"
_LAST_WORD: Final = compile_late(r"(?<![^\W\d_])([^\W\d_]++)[ \t]*+[\"'`“]?+$")
_ACTS: Final = compile_late(
    r"\s(?:is|was|has|had|does|did|uses|needs|can|will|would|should|supports|handles|breaks|fails|works|wants|said|says)\b"
)
_LOOKED_BACK: Final = 40

MIN_ENDING_STEM: Final = 3
"""Letters before an ending that make it one: `Red` does not end in `ed`."""


@functools.cache
def _load() -> Mapping[str, Any]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))


@functools.cache
def _words(table: str) -> frozenset[str]:
    return frozenset(_load()["words"][table].split())


@functools.cache
def _plain_terms() -> frozenset[str]:
    """Return the index terms of words that name nothing by themselves."""
    listed = " ".join(_words("plain") | word_set("goal.imperatives") | word_set("goal.done"))
    return frozenset(analyse_text(listed)) | stop_words()


def is_name(text: str, start: int, parts: Sequence[str]) -> bool:
    """Return whether capitalised words at a place of a text name something."""
    weights: Mapping[str, float] = _load()["weights"]
    return weights["bias"] + sum(weights[name] for name in _list_features(text, start, parts)) > 0


def _list_features(text: str, start: int, parts: Sequence[str]) -> Iterator[str]:
    end = start + len(" ".join(parts))
    if all(map(_is_plain, parts)):
        yield "plain"
    elif len(parts) > 1:
        yield "several"
    if len(parts) == 1 and _is_derived(parts[0]):
        yield "derived"
    if _stands_alone(" ".join(parts).lower(), text):
        yield "lower_elsewhere"
    before = _LAST_WORD.search(text[max(0, start - _LOOKED_BACK) : start])
    word = before[1].lower() if before else ""
    if word in word_set("summary.determiners"):
        yield "determiner"
    if word in _words("naming"):
        yield "naming"
    if text[end : end + 2] in ("'s", "’s"):
        yield "possessive"
    if _ACTS.match(text, end):
        yield "acts"


def _is_plain(word: str) -> bool:
    return word.islower() or vocabulary().is_common(word) or _plain_terms().issuperset(analyse_text(word))


def _is_derived(word: str) -> bool:
    lower = word.lower()
    return any(lower.endswith(ending) and len(lower) - len(ending) >= MIN_ENDING_STEM for ending in _words("endings"))


def _stands_alone(word: str, text: str) -> bool:
    """Return whether a text has a word, or some, not as a part of another."""
    at = text.find(word)
    while at >= 0:
        around = text[at - 1 : at] + text[at + len(word) : at + len(word) + 1]
        if not any(sign.isalnum() or sign in "_/.-" for sign in around):
            return True
        at = text.find(word, at + 1)
    return False
