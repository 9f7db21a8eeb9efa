"""Whether a memory bears on what was asked at all: a ranking always has a first place, an answer needs a floor.

A hit passes by its meaning (helped a little by its words), by its words where it has no vector, or because it holds
every word that was asked for. Neither the score of a hit nor its share of a perfect BM25 makes a floor by itself: a
question about something else finds its two or three common words together in some memory. A score of 0.25, the floor
before, let 0.28 to 0.41 of the questions about other subjects through, for no more answers.

Measured on three conversations of LoCoMo, two chats of BEAM, the documents of three repositories and 500 functions,
each asked its own questions, questions about other subjects, and 60 everyday requests of which most are two or three
words long ("fix the typo"): the share with which anything passes, and of its own questions the share for which the
answer does, where the search found it (`python -m bench floor`):

| | own questions | answers | other subjects | everyday |
|---|---|---|---|---|
| short turns | 1.00 | 0.99 | 0.07 | 0.33 |
| long turns | 1.00 | 0.94 | 0.15 | 0.59 |
| documents | 0.99 | 0.93 | 0.07 | 0.55 |
| code | 0.97 | 0.87 | 0.15 | 0.56 |
| short turns, without vectors | 0.93 | 0.84 | 0.03 | 0.25 |
| long turns, without vectors | 0.89 | 0.81 | 0.24 | 0.77 |
| documents, without vectors | 0.98 | 0.95 | 0.07 | 0.69 |
| code, without vectors | 0.61 | 0.32 | 0.05 | 0.46 |

An everyday request passes mostly by holding all of its two words; a hook, which asks with every prompt, has a stricter
floor (`lifecycle.relevance`) than a tool that is called on purpose.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from hyperloci.model.search import Hit
from hyperloci.spaces.space import SPACES
from hyperloci.store.analysis import query_terms, terms

MIN_MEANING: Final = 0.35
"""The cosine (of the bundled model) that is enough by itself: at 0.4 an answer in 20 is lost, at 0.3 twice as many
unrelated questions are answered."""

WORDS_HELP: Final = 0.2
"""How much of the share of a perfect BM25 is added to the cosine: with 0.1 an answer in 25 is lost, with 0.3 half as
many unrelated questions again are answered for an answer in 100."""

MIN_SHARED_PART: Final = 0.5
MIN_SHARED_TERMS: Final = 2
"""Without a vector a memory holds at least this part of the query's terms, and so many."""


def bearing(query: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return those hits of a search (one that explains its hits) that bear on its query, in their order."""
    wanted = frozenset(query_terms(query))
    return [hit for hit in hits if _bears(hit, wanted)]


def _bears(hit: Hit, wanted: Collection[str]) -> bool:
    cosine = score_of(hit, "e1")
    if cosine is not None and cosine + WORDS_HELP * (score_of(hit, "e6") or 0.0) >= MIN_MEANING:
        return True
    shared = shared_terms(hit, wanted)
    if shared == len(wanted):
        return shared > 0
    return cosine is None and shared >= MIN_SHARED_TERMS and shared >= MIN_SHARED_PART * len(wanted)


def shared_terms(hit: Hit, wanted: Collection[str]) -> int:
    """Return how many of the terms a hit holds, its place (headings, symbol) included."""
    source = hit.source
    text = " ".join((hit.content, *source.section_path, source.symbol or ""))
    return len(set(wanted).intersection(terms(text)))


def score_of(hit: Hit, space: str) -> float | None:
    """Return a hit's score in one space; None where the space didn't see it."""
    scores = (hit.explain or {}).get("embedder_scores", {})
    value = scores.get(SPACES[space].category, {}).get(space) if isinstance(scores, dict) else None
    return float(value) if isinstance(value, (int, float)) else None
