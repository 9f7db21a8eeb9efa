"""Negation: how often a text denies: with one more or less, two texts of the same words do not say the same."""

from __future__ import annotations

import re
from typing import Final

from hyperloci.text.language.word_tables import word_set

_WORD: Final = re.compile(r"\w++(?>(?:'\w++)*)")
_CONTRACTED: Final = "n't"


def count_negations(text: str) -> int:
    """Return how many words of a text deny."""
    words = _WORD.findall(text.casefold().replace("’", "'"))
    return sum(word.endswith(_CONTRACTED) or word in word_set("sentences.negators") for word in words)
