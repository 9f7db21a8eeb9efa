"""Topic names from the texts of their members: class-based TF-IDF (Grootendorst 2022, BERTopic)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

from hyperloci.store.keywords.analysis import analyse_text, stop_words

NAME_TERMS: Final = 3
KEPT_TERMS: Final = 8
"""Words in a name, and words kept beside it."""

READ_CHARS: Final = 1_000
"""Of each member, its beginning: that is where a text says what it is about."""

MAX_KEPT_RANK: Final = 8
"""A known topic keeps its name while every word of it is among so many of the most telling: names don't flicker."""

EMPTY_WORDS: Final = frozenset(
    """also best better between difference different get getting issue let like lot make making may must need new
    non old one problem thing things two use used using via want way within without work working works yes""".split()  # noqa: SIM905
)
"""Frequent words that never name a topic."""

MIN_CHARS: Final = 2
MAX_CHARS: Final = 40

_WORD: Final = re.compile(r"[^\W\d_](?:[\w+#]|[.-](?=\w))*")


def find_naming_words(text: str) -> dict[str, str]:
    """Return the words of a text that may name a topic, as written, by the index term they have in common."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text[:READ_CHARS]):
        lower = word.lower()
        if MIN_CHARS <= len(word) <= MAX_CHARS and lower not in stop_words() and lower not in EMPTY_WORDS:
            stems = analyse_text(lower)
            found.setdefault(stems[0] if stems else lower, lower)
    return found


def find_telling_terms(classes: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the most telling words of each class of texts, best first.

    A word weighs `share of the class's texts that hold it x log(1 + mean texts a class / texts that hold it)`: each
    text counts once, so that none names a topic by repeating itself.
    """
    held = [Counter[str]() for _ in classes]
    written: dict[str, Counter[str]] = {}
    for counter, texts in zip(held, classes, strict=True):
        for text in texts:
            found = find_naming_words(text)
            counter.update(found.keys())
            for stem, word in found.items():
                written.setdefault(stem, Counter())[word] += 1
    everywhere = sum(held, Counter[str]())
    mean = sum(len(texts) for texts in classes) / max(1, len(classes))
    return [
        _best_terms(counter, len(texts), everywhere, mean, written)
        for counter, texts in zip(held, classes, strict=True)
    ]


def _best_terms(
    counter: Counter[str], size: int, everywhere: Counter[str], mean: float, written: dict[str, Counter[str]]
) -> tuple[str, ...]:
    def weight(stem: str) -> float:
        return counter[stem] / size * math.log(1 + mean / everywhere[stem])

    # What one member alone says is not what the topic is about.
    shared = [stem for stem, count in counter.items() if count > 1 or size == 1]
    ranked = sorted(shared, key=lambda stem: (-weight(stem), stem))
    return tuple(min(written[stem].items(), key=lambda item: (-item[1], item[0]))[0] for stem in ranked[:KEPT_TERMS])


def choose_name(found: Sequence[str], known: str = "") -> str:
    """Return a topic's name: the one it has while that still tells, else its most telling words."""
    if known and set(known.split(", ")) <= set(found[:MAX_KEPT_RANK]):
        return known
    return ", ".join(found[:NAME_TERMS])
