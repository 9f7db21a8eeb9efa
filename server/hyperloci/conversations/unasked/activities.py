"""Activities: what a request would have done (release, migrate, log), and which memories bind the doing of it."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Final

from hyperloci.conversations.unasked.prompt_terms import PhraseIndex, read_table

_VERSION: Final = re.compile(r"(?<![\w.])v?\d{1,4}\.\d{1,4}(?:\.\d{1,4})?(?![\w.])")

_VERSIONED: Final = frozenset({"release", "upgrade"})
"""What a request that names a version is about."""


def find_asked_activities(text: str, terms: Sequence[str]) -> frozenset[str]:
    """Return the activities that a prompt asks for."""
    found = _load_phrases("asked").labels_in(terms)
    return found | _VERSIONED if _VERSION.search(text) else found


def find_told_activities(terms: Sequence[str]) -> frozenset[str]:
    """Return the activities that a memory speaks of."""
    return _load_phrases("told").labels_in(terms)


@functools.cache
def _load_phrases(side: str) -> PhraseIndex:
    return PhraseIndex.of(
        (phrase, activity)
        for activity, words in read_table("activities").items()
        for phrase in (*words["both"], *words.get(side, ()))
    )
