"""Activities: what a request would have done (release, migrate, log), and which memories bind the doing of it.

A request to "cut 4.12.1" shares no word with "tag only after the build is green". `data/activities.json` holds what
developers ask for, and what is told about the same: `asked` are words of requests, `told` words of memories that bind
such work; `both` are in either. English, Russian and German; a word stands for its stem, "a b" for the two side by
side. Every line is what people say of any project: names of products stand there only where they name the activity
itself (npm, tag).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from hyperloci.conversations.unasked.prompt_terms import PhraseIndex

_FILE: Final = Path(__file__).parent / "data" / "activities.json"

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
def read_activities() -> Mapping[str, Mapping[str, Sequence[str]]]:
    """Return the phrases of each activity: asked, told, and both."""
    tables: Mapping[str, Mapping[str, Sequence[str]]] = json.loads(_FILE.read_text(encoding="utf-8"))
    return tables


@functools.cache
def _load_phrases(side: str) -> PhraseIndex:
    return PhraseIndex.of(
        (phrase, activity)
        for activity, words in read_activities().items()
        for phrase in (*words["both"], *words.get(side, ()))
    )
