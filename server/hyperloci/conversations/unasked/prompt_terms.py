"""Prompt terms: the words of prompts and memories in one form, and phrases to be found among them."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hyperloci.store.keywords.analysis import analyse_text, stop_terms
from hyperloci.system.values import dataclass

STEM_CHARS: Final = 5
"""Of a word in other letters than a-z, for want of a stemmer: behind them Russian and German words are inflected."""

_FOLDER: Final = Path(__file__).parent / "data"


def analyse_terms(text: str) -> tuple[str, ...]:
    """Return the stems of a text's words, in order."""
    return fold_terms(analyse_text(text))


def fold_terms(terms: Iterable[str]) -> tuple[str, ...]:
    """Return index terms, those in other letters cut to what they have in common."""
    terms = tuple(terms)
    if all(map(str.isascii, terms)):
        return terms  # No function of Python's runs for each: a prompt asks it of every memory that may decide it.
    return tuple(term if term.isascii() else term[:STEM_CHARS] for term in terms)


@functools.cache
def list_stop_terms() -> frozenset[str]:
    """Return the terms that say nothing of what a text is about."""
    return frozenset(fold_terms(stop_terms()))


@functools.cache
def read_table(name: str) -> Mapping[str, Any]:
    """Return a table of this package's data, by the name of its file."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class PhraseIndex:
    """Phrases with labels, by their first term."""

    entries: Mapping[str, tuple[tuple[tuple[str, ...], str], ...]]

    @classmethod
    def of(cls, phrases: Iterable[tuple[str, str]]) -> PhraseIndex:
        """Make one of (phrase, label), phrases as people write them."""
        entries: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for phrase, label in phrases:
            terms = analyse_terms(phrase)
            entries.setdefault(terms[0], []).append((terms, label))
        return cls({first: tuple(some) for first, some in entries.items()})

    def labels_at(self, terms: Sequence[str], place: int, *, least: int = 1) -> frozenset[str]:
        """Return the labels of the phrases that begin at a place of a text, of those of at least so many terms."""
        found = self.entries.get(terms[place], ()) if place < len(terms) else ()
        return frozenset(
            label
            for phrase, label in found
            if len(phrase) >= least and tuple(terms[place : place + len(phrase)]) == phrase
        )

    def labels_in(self, terms: Sequence[str]) -> frozenset[str]:
        """Return the labels of the phrases that stand in a text."""
        # A prompt asks it of every memory that may decide it.
        labels = set[str]()
        for place, term in enumerate(terms):
            for phrase, label in self.entries.get(term, ()):
                if len(phrase) == 1 or tuple(terms[place : place + len(phrase)]) == phrase:
                    labels.add(label)
        return frozenset(labels)
