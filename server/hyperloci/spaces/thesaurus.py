"""Thesaurus of programming: groups of words that mean the same."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path

from hyperloci.store.keywords.analysis import analyse_text


def find_synonyms(stem: str) -> tuple[str, ...]:
    """Return the other words for a word, given its stem."""
    return _synonyms().get(stem, ())


@functools.cache
def _synonyms() -> Mapping[str, tuple[str, ...]]:
    text = (Path(__file__).parent / "data/thesaurus.toml").read_text(encoding="utf-8")
    table: dict[str, dict[str, None]] = {}
    for group in tomllib.loads(text)["groups"]:
        first, *others = group.split()
        table.setdefault(analyse_text(first)[0], {}).update(dict.fromkeys(others))
        for word in others:
            table.setdefault(analyse_text(word)[0], {}).update({first: None})
    return {stem: tuple(words) for stem, words in table.items()}
