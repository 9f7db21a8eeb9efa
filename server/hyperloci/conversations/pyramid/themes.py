"""Themes: what a run of turns is about: names and noun phrases that stand in several of them, or nothing.

A word by itself is no theme: "using", "sure" and "good" stand in most turns. Without a tagger, a noun phrase is told by
the article or possessive before it, a name by how it is written or by the vocabulary.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hyperloci.conversations.pyramid.turn_sentences import content_terms
from hyperloci.knowledge.entities.recognition import extract_entities
from hyperloci.model.turn import Turn, TurnKind
from hyperloci.retrieval.relevance import is_everyday
from hyperloci.store.keywords.analysis import stop_words
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.word_tables import word_set

MAX_THEMES: Final = 5
MAX_THEME_WORDS: Final = 3
MAX_THEME_CHARS: Final = 40

MIN_TURNS: Final = 2
"""A phrase of one turn is a detail of it."""

_EDGES: Final = "\"'“”«»()[]{}<>*`.,;:!?…#|"
_ENDS: Final = ".,;:!?)"
_NO_HEADS: Final = ("ing", "ed", "ly")
"""Endings of words that are a verb's or an adverb's more often than a noun's."""

Rarity = Callable[[str], float]
"""The inverse document frequency of an index term in this memory."""


def extract_themes(turns: Sequence[Turn], rarity: Rarity) -> tuple[str, ...]:
    """Return what turns are about: the names and noun phrases that stand in several of them and are rare elsewhere."""
    written = _count_candidates(turns)
    texts = [set(content_terms(mask_code(turn.text))) for turn in turns]
    held = {key: sum(terms.issuperset(key.split()) for terms in texts) for key in written}
    scores = {key: held[key] * _phrase_weight(key, rarity) for key in written if held[key] >= MIN_TURNS}
    best: list[str] = []
    for key in sorted(scores, key=lambda key: (-scores[key], key)):
        words = set(key.split())
        if not any(words & set(other.split()) for other in best):
            best.append(key)
        if len(best) == MAX_THEMES:
            break
    return tuple(written[key].most_common(1)[0][0] for key in best)


def _count_candidates(turns: Sequence[Turn]) -> dict[str, Counter[str]]:
    """Return what may be a theme, by its index terms, in all its spellings."""
    written: dict[str, Counter[str]] = {}
    for turn in turns:
        if turn.kind is TurnKind.TEXT:
            for phrase in _list_candidates(turn.text):
                key = " ".join(content_terms(phrase))
                if key and len(phrase) <= MAX_THEME_CHARS:
                    written.setdefault(key, Counter())[phrase] += 1
    return written


def _list_candidates(text: str) -> Iterator[str]:
    yield from (named.name for named in extract_entities(text) if named.sure)
    yield from _split_noun_phrases(mask_code(text))


def _split_noun_phrases(text: str) -> Iterator[str]:
    """Yield the runs of words after an article or possessive, up to the next stop word or mark."""
    run: list[str] | None = None
    for token in text.split():
        word = token.strip(_EDGES)
        if word.lower() in word_set("summary.determiners"):
            yield from _phrases_of(run)
            run = []
            continue
        if run is None:
            continue
        plain = len(word) > 2 and word.lower() not in stop_words() and word.isalpha()
        run = [*run, word.lower() if word.istitle() else word] if plain else run
        if not plain or token[-1:] in _ENDS:
            yield from _phrases_of(run)
            run = None
    yield from _phrases_of(run)


def _phrases_of(run: list[str] | None) -> Iterator[str]:
    if run and len(run) <= MAX_THEME_WORDS and not run[-1].endswith(_NO_HEADS) and not all(map(is_everyday, run)):
        yield " ".join(run)


def _phrase_weight(key: str, rarity: Rarity) -> float:
    words = key.split()
    return sum(map(rarity, words)) / math.sqrt(len(words))
