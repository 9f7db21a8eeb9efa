"""Whether a memory bears on a prompt at all: a ranking always has a first place, an answer needs a floor.

Measured on ten long chats with 20 questions each, and 60 everyday prompts ("thanks", "fix the typo", "run the tests"),
share of prompts with which something is injected (`python -m bench prompts`):

| floor | the chat's own questions | another chat's questions | everyday prompts |
|---|---|---|---|
| by meaning | 0.90 | 0.15 | 0.005 |
| by words, without vectors | 0.71 | 0.15 | 0.014 |
"""

from __future__ import annotations

from bisect import bisect
from itertools import pairwise
from typing import Final

from hyperloci.model.search import Hit, SearchAnswer
from hyperloci.retrieval.bearing import score_of, shared_terms
from hyperloci.store.analysis import query_terms, terms
from hyperloci.text.language.sentences import sentence_spans

MIN_QUERY_TERMS: Final = 3
"""Fewer say nothing to look for: it spares half the everyday prompts their search and costs 1 question in 200."""

MIN_COSINE: Final = 0.45
"""Of the bundled model: nine of ten questions have a memory above it, two everyday prompts of a hundred do."""

MIN_SHARED_TERMS: Final = 4
MIN_SHARED_PART: Final = 0.6
"""Without vectors a memory holds at least so many of the prompt's terms, and so large a part of them."""

QUERY_CHARS: Final = 1_000
"""What a prompt is about stands at its beginning; what follows is often pasted."""

CONTENT_SUBTYPES: Final = (
    "user_info",
    "preference",
    "constraint",
    "insight",
    "opinion",
    "procedure",
    "semantic",
    "decision",
    "dead_end",
    "outcome",
    "episode",
)
"""What was said and learnt. Files the assistant reads itself, and what a tool did is no answer to a prompt."""


EXCERPTED_CHARS: Final = 20_000
"""Of a longer text only so much is looked through."""


def query_of(prompt: str) -> str | None:
    """Return what to look for with a prompt; None where it says too little to look for anything."""
    query = prompt[:QUERY_CHARS]
    return query if len(query_terms(query)) >= MIN_QUERY_TERMS else None


def relevant(answer: SearchAnswer) -> list[Hit]:
    """Return the hits of a search (one that explains its hits) that bear on its query, in their order."""
    if answer.mode == "keyword":
        wanted = set(query_terms(answer.query))
        least = max(MIN_SHARED_TERMS, MIN_SHARED_PART * len(wanted))
        return [hit for hit in answer.results if shared_terms(hit, wanted) >= least]
    return [hit for hit in answer.results if (score_of(hit, "e1") or 0.0) >= MIN_COSINE]


def excerpt(text: str, query: str, limit: int) -> str:
    """Return the passage of a long text that holds most of a query's terms, at most `limit` characters of it."""
    if len(text) <= limit:
        return text
    wanted = set(query_terms(query))
    room = limit - 2
    starts = [start for start, _ in sentence_spans(text, 0, EXCERPTED_CHARS)]
    held = [wanted.intersection(terms(text[start:end])) for start, end in pairwise([*starts, EXCERPTED_CHARS])]
    best, most = 0, -1
    for first, start in enumerate(starts):
        last = bisect(starts, start + room) - 1
        count = len(set().union(*held[first : max(last, first + 1)]))
        if count > most:
            best, most = start, count
    passage = text[best : best + room].strip()
    return f"{'…' if best else ''}{passage}{'…' if best + room < len(text) else ''}"
