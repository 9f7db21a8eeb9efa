"""Relevance: whether a memory has anything to do with the question.

A ranking always has a first place, an answer needs a floor.

A hit passes by its meaning (helped a little by its words), by its words where it has no vector, or because it contains
every word of the question. Neither the score of a hit nor its share of a perfect BM25 makes a floor by itself: a
question about something else finds its two or three common words together in some memory. A score of 0.25, the floor
before, let 0.28 to 0.41 of the questions about other subjects through, for no more answers.

Measured for questions on three conversations of LoCoMo, two chats of BEAM, the documents of three repositories and 500
functions, each asked its own questions, questions about other subjects, and 60 everyday requests of which most are two
or three words long ("fix the typo"): the share with which anything passes, and of its own questions the share for
which the answer does, where the search found it (`python -m bench floor`):

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
floor than a tool that is called on purpose. Measured for prompts on ten long chats with 20 questions each and the same
everyday requests, the share of prompts with which something is injected (`python -m bench prompts`):

| floor | the chat's own questions | another chat's questions | everyday prompts |
|---|---|---|---|
| by meaning | 0.90 | 0.15 | 0.005 |
| by words, without vectors | 0.71 | 0.15 | 0.014 |
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from hyperloci.model.search import Hit
from hyperloci.spaces.space import SPACES
from hyperloci.store.keywords.analysis import analyse_query, analyse_text
from hyperloci.text.language.sentences import sentence_spans


@dataclass(frozen=True, slots=True, kw_only=True)
class RelevanceFloor:
    """What a hit needs to be relevant.

    Attributes:
        min_meaning: the cosine (of the bundled model) that is enough by itself.
        words_help: how much of its share of a perfect BM25 is added to the cosine.
        min_shared_terms, min_shared_part: without a vector it holds so many of the query's terms, and such a part.
        all_terms_suffice: one that holds every term of the query passes, whatever its cosine.
    """

    min_meaning: float
    words_help: float = 0.0
    min_shared_terms: int
    min_shared_part: float
    all_terms_suffice: bool = False

    def admits(self, hit: Hit, wanted: Collection[str]) -> bool:
        """Return whether a hit is relevant to a query of these terms."""
        cosine = space_score(hit, "e1")
        if cosine is not None and cosine + self.words_help * (space_score(hit, "e6") or 0.0) >= self.min_meaning:
            return True
        if cosine is not None and not self.all_terms_suffice:
            return False
        shared = count_shared_terms(hit, wanted)
        if self.all_terms_suffice and shared == len(wanted):
            return shared > 0
        return cosine is None and shared >= max(self.min_shared_terms, self.min_shared_part * len(wanted))


QUESTION_FLOOR: Final = RelevanceFloor(
    min_meaning=0.35, words_help=0.2, min_shared_terms=2, min_shared_part=0.5, all_terms_suffice=True
)
"""For a question that is asked on purpose. At a cosine of 0.4 an answer in 20 is lost, at 0.3 twice as many unrelated
questions are answered; with a help of 0.1 an answer in 25 is lost, with 0.3 half as many unrelated questions again are
answered for an answer in 100."""

PROMPT_FLOOR: Final = RelevanceFloor(min_meaning=0.45, min_shared_terms=4, min_shared_part=0.6)
"""For a prompt that asks nothing of the memory: nine of ten questions have a memory above its cosine, two everyday
prompts of a hundred do."""

MIN_QUERY_TERMS: Final = 3
"""Prompts with fewer are not searched: it spares half the everyday prompts their search and costs 1 question in 200."""

QUERY_CHARS: Final = 1_000
"""What a prompt is about stands at its beginning; what follows is often pasted."""

EXCERPTED_CHARS: Final = 20_000
"""Characters of a longer text that are searched."""


def select_relevant(query: str, hits: Sequence[Hit], floor: RelevanceFloor) -> list[Hit]:
    """Return those hits of a search (one that explains its hits) that are relevant to its query, in their order."""
    wanted = frozenset(analyse_query(query))
    return [hit for hit in hits if floor.admits(hit, wanted)]


def count_shared_terms(hit: Hit, wanted: Collection[str]) -> int:
    """Return how many of the terms a hit holds, its place (headings, symbol) included."""
    source = hit.source
    text = " ".join((hit.content, *source.section_path, source.symbol or ""))
    return len(set(wanted).intersection(analyse_text(text)))


def space_score(hit: Hit, space: str) -> float | None:
    """Return a hit's score in one space; None where the space didn't see it."""
    scores = (hit.explain or {}).get("embedder_scores", {})
    value = scores.get(SPACES[space].category, {}).get(space) if isinstance(scores, dict) else None
    return float(value) if isinstance(value, (int, float)) else None


def query_from_prompt(prompt: str) -> str | None:
    """Return what to look for with a prompt; None if it says too little."""
    query = prompt[:QUERY_CHARS]
    return query if len(analyse_query(query)) >= MIN_QUERY_TERMS else None


def find_excerpt(text: str, query: str, limit: int) -> str:
    """Return the passage of a long text that holds most of a query's terms, at most `limit` characters of it."""
    if len(text) <= limit:
        return text
    wanted = set(analyse_query(query))
    room = limit - 2
    starts = [start for start, _ in sentence_spans(text, 0, EXCERPTED_CHARS)]
    held = [wanted.intersection(analyse_text(text[start:end])) for start, end in pairwise([*starts, EXCERPTED_CHARS])]
    best, most = 0, -1
    for first, start in enumerate(starts):
        last = bisect(starts, start + room) - 1
        count = len(set().union(*held[first : max(last, first + 1)]))
        if count > most:
            best, most = start, count
    passage = text[best : best + room].strip()
    return f"{'…' if best else ''}{passage}{'…' if best + room < len(text) else ''}"
