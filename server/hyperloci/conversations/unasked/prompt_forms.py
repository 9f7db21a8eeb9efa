"""Prompt forms: what kind of request a prompt is, by its first words and by what stands in it."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Final

from hyperloci.conversations.unasked.prompt_terms import PhraseIndex, analyse_terms, read_table

SMALL_TALK: Final = "small_talk"
LOOK: Final = "look"
EXPLAIN: Final = "explain"
CHORE: Final = "chore"

BEGINNING_TERMS: Final = 4
"""A request may have so many words in front of a phrase: a name, "please can you", "ok so". A single word stands first:
`git status`, but not `why does git hang when we release`."""

MAX_TERMS: Final = 12
"""A longer prompt says more than its form: of the first 1,958 labelled prompts (`bench/data/prompt_kinds.jsonl`) up
to here 151 of those that have a form need nothing and 13 are requests for work, of longer ones 12 and 23."""


def find_forms(terms: Sequence[str]) -> frozenset[str]:
    """Return the forms that a prompt has, by their names; a prompt may have several, or none."""
    if all(term in _small_talk() for term in terms):
        return frozenset({SMALL_TALK})
    return frozenset(_find_forms(terms))


def _find_forms(terms: Sequence[str]) -> Iterator[str]:
    if len(terms) > MAX_TERMS:
        return
    begins = _phrases("begins")
    places = range(BEGINNING_TERMS)
    start = next((place for place in places if begins.labels_at(terms, place, least=1 if place == 0 else 2)), 0)
    denied = _phrases("not_with").labels_in(terms)
    found = begins.labels_at(terms, start) | _phrases("holds").labels_in(terms)
    yield from found - denied


@functools.cache
def _phrases(key: str) -> PhraseIndex:
    return PhraseIndex.of(
        (phrase, form) for form, table in read_table("prompt_forms").items() for phrase in table.get(key, ())
    )


@functools.cache
def _small_talk() -> frozenset[str]:
    return frozenset(term for word in read_table("prompt_forms")[SMALL_TALK]["words"] for term in analyse_terms(word))
