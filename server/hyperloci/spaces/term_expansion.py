"""Term expansion (E13) by rule: a memory's own terms, weighted; a question's terms and their synonyms.

SPLADE learns both sides (Formal et al. 2021). Here a memory keeps the stems of its words and of its identifiers' parts,
weighed as BM25 weighs them, and the question brings the other words: those of a thesaurus of programming, the nearest
words of the model's own vocabulary, where an encoder offers it, and aliases of names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Protocol

from hyperloci.spaces.thesaurus import find_synonyms
from hyperloci.store.keywords.analysis import analyse_query as _analysed
from hyperloci.store.keywords.analysis import analyse_text as _all_terms
from hyperloci.store.keywords.analysis import stop_terms, stop_words
from hyperloci.text.language.vocabulary import vocabulary

MAX_TERMS: Final = 96
"""Terms a memory keeps, the heaviest: ten bytes each, and of a longer text the rest says little that these don't."""

_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.5
_USUAL_LENGTH: Final = 80
"""BM25's k1 and b; its mean length is fixed, so that a weight does not change as the memory grows."""

SYNONYM_WEIGHT: Final = 0.1
NEIGHBOUR_WEIGHT: Final = 0.1
"""What another word counts beside the question's own; a neighbour's cosine is a factor more. Half as much as its own
costs 8 to 20 points of recall@5 on CoSQA, a sixteenth to an eighth gains a point of recall@100
(docs/benchmarks/embedding.md)."""

ALIAS_WEIGHT: Final = 0.1
"""Another name of the same thing is surer than a word used like it, but rare spellings weigh much by their rarity: 0.4
costs three points of recall@5 on CoSQA, whose every question says "python". E11 sees aliases as what they are."""

MAX_NEIGHBOURS: Final = 4


class WordNeighbours(Protocol):
    """A vocabulary that knows which words lie near each other."""

    def nearest_words(self, word: str, count: int) -> list[tuple[str, float]]:
        """Return the nearest words and their cosines, best first; none for a word it does not hold."""
        ...


def weigh_terms(text: str) -> dict[str, float]:
    """Return a memory's heaviest terms with their weights, 0..2.2; no stop words."""
    counts = Counter(term for term in _all_terms(text) if term not in stop_terms())
    length = sum(counts.values())
    norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / _USUAL_LENGTH)
    weights = {term: count * (_SATURATION + 1) / (count + norm) for term, count in counts.items()}
    heaviest = sorted(weights.items(), key=lambda item: -item[1])[:MAX_TERMS]
    return dict(heaviest)


def expand_query(text: str, neighbours: WordNeighbours | None = None) -> dict[str, float]:
    """Return a question's terms with their weights: its own count 1, other words for them less."""
    own = _analysed(text)
    weights = dict.fromkeys(own, 1.0)
    words = [word.strip(".,:;?!()[]{}\"'`").lower() for word in text.split()]
    for word in dict.fromkeys(words):
        if not word or word in stop_words():
            continue
        for other, weight in _related_words(word, neighbours):
            for term in _all_terms(other):
                if term not in stop_terms():
                    weights.setdefault(term, weight)
    return weights


def _related_words(word: str, neighbours: WordNeighbours | None) -> Iterable[tuple[str, float]]:
    """Return what stands for the same as a word, with its weight, the surest first."""
    if (known := vocabulary().find(word)) is not None:
        yield from ((spelling, ALIAS_WEIGHT) for spelling in known.spellings)
    for stem in _all_terms(word)[:1]:
        yield from ((other, SYNONYM_WEIGHT) for other in find_synonyms(stem))
    if neighbours is not None:
        yield from (
            (other, NEIGHBOUR_WEIGHT * cosine) for other, cosine in neighbours.nearest_words(word, MAX_NEIGHBOURS)
        )
