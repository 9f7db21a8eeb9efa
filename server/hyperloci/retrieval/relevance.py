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
| short turns | 1.00 | 0.97 | 0.05 | 0.00 |
| long turns | 1.00 | 0.94 | 0.11 | 0.00 |
| documents | 0.98 | 0.91 | 0.11 | 0.01 |
| code | 0.97 | 0.90 | 0.10 | 0.00 |
| short turns, without vectors | 0.94 | 0.84 | 0.03 | 0.00 |
| long turns, without vectors | 0.89 | 0.84 | 0.21 | 0.00 |
| documents, without vectors | 0.97 | 0.90 | 0.10 | 0.01 |
| code, without vectors | 0.63 | 0.47 | 0.07 | 0.00 |

Before words of small talk and of any program's chores were no subject, 0.25 to 0.77 of the everyday requests passed,
mostly by holding all of their two words. A hook, which asks with every prompt, has a stricter floor than a tool that is
called on purpose. Measured for prompts on ten long chats with 20 questions each and the same everyday requests,
the share of prompts with which something is injected (`python -m bench prompts`):

| floor | the chat's own questions | another chat's questions | everyday prompts |
|---|---|---|---|
| by meaning | 0.90 | 0.15 | 0.005 |
| by words, without vectors | 0.71 | 0.15 | 0.014 |
"""

from __future__ import annotations

import functools
import tomllib
from bisect import bisect
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from hyperloci.model.kinds import NodeType
from hyperloci.model.search import Hit
from hyperloci.spaces.space import SPACES
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query, analyse_text
from hyperloci.system.values import dataclass
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


TOPIC_SHARE: Final = 0.01
"""Of a memory's texts: a topic of small talk that so many hold is what the program is about. `weather` stands in a
thousandth of SQLAlchemy's."""

ERRAND_MEANING: Final = 0.45
"""Cosine from which on what somebody told bears on an everyday request; that of `PROMPT_FLOOR`, for the same reason."""

DOCUMENTS: Final = frozenset({"markdown", "text", "section"})

_EVERYDAY: Final = Path(__file__).parent / "data" / "everyday.toml"

TermShare = Callable[[str], float]
"""The share of a memory's texts that hold an index term."""


def make_term_share(store: Store) -> TermShare:
    """Return a function that gives the share of a memory's texts that hold a term."""

    def measure(term: str) -> float:
        total = store.keywords.count_texts()
        return store.keyword_search.count_frequencies([term]).get(term, 0) / total if total else 0.0

    return measure


@functools.cache
def _everyday_terms(table: str) -> frozenset[str]:
    """Return the index terms of a table of everyday words, in all languages."""
    languages = tomllib.loads(_EVERYDAY.read_text(encoding="utf-8"))[table].values()
    return frozenset(term for words in languages for term in analyse_text(words))


def is_smalltalk(text: str) -> bool:
    """Return whether all words of a text are of courtesy and small talk, which name nothing."""
    return all(term in _everyday_terms("smalltalk") for term in analyse_text(text))


def is_everyday(word: str) -> bool:
    """Return whether a word is one of small talk or of requests that any program gets (`test`, `fix`)."""
    return all(term in _everyday_terms("smalltalk") or term in _everyday_terms("errand") for term in analyse_text(word))


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a question: of its subject, and of what is done to any program (`fix the typo`)."""

    subject: frozenset[str]
    errand: frozenset[str]


def sort_terms(query: str, share: TermShare) -> QueryTerms:
    """Return the terms of a question by what they tell; those of courtesy and small talk tell nothing."""
    asked = {term for term in analyse_query(query) if not (term.isdigit() and len(term) < MIN_TELLING_DIGITS)}
    rest = asked - _everyday_terms("smalltalk")
    idle = {term for term in rest & _everyday_terms("leisure") if share(term) < TOPIC_SHARE}
    errand = rest & _everyday_terms("errand")
    return QueryTerms(frozenset(rest - idle - errand), frozenset(errand))


MIN_TELLING_DIGITS: Final = 3
"""`2 + 2` is about nothing, 404 is."""


def select_for_question(query: str, hits: Sequence[Hit], share: TermShare) -> list[Hit]:
    """Return the hits of a search (one that explains its hits) that are relevant to a question asked on purpose.

    A question without a subject gets what somebody told alone, and one of small talk nothing.
    """
    terms = sort_terms(query, share)
    if terms.subject:
        return [hit for hit in hits if _bears_on_subject(hit, terms)]
    return [hit for hit in hits if terms.errand and _bears_on_errand(hit, terms.errand)]


def _bears_on_subject(hit: Hit, terms: QueryTerms) -> bool:
    """Return whether a hit passes the floor and is about the subject: by meaning, or by enough of its words."""
    asked = terms.subject | terms.errand
    if not (QUESTION_FLOOR.admits(hit, terms.subject) or QUESTION_FLOOR.admits(hit, asked)):
        return False
    cosine = space_score(hit, "e1")
    if cosine is not None and cosine >= QUESTION_FLOOR.min_meaning:
        return True
    if len(terms.subject) == 1 and not _is_told(hit) and terms.subject.isdisjoint(_place_terms(hit)):
        return not terms.subject.isdisjoint(_text_terms(hit)) and count_shared_terms(hit, asked) > 1
    return 2 * count_shared_terms(hit, terms.subject) >= len(terms.subject)


def _bears_on_errand(hit: Hit, errand: frozenset[str]) -> bool:
    """Return whether what somebody told, or a section named so, bears on a request without a subject."""
    if not _is_told(hit):
        return hit.subtype in DOCUMENTS and len(errand) > 1 and errand <= _place_terms(hit)
    cosine = space_score(hit, "e1")
    return (cosine is not None and cosine >= ERRAND_MEANING) or 2 * count_shared_terms(hit, errand) > len(errand)


def _is_told(hit: Hit) -> bool:
    """Return whether somebody told it: a fact, a decision, a dead end; not a commit, a turn, a file."""
    return hit.subtype in ("dead_end", "outcome") or (
        hit.type in (NodeType.FACT, NodeType.DECISION) and hit.subtype != "commit"
    )


def _place_terms(hit: Hit) -> set[str]:
    source = hit.source
    return set(analyse_text(" ".join((*source.section_path, source.symbol or "", source.path or ""))))


def _text_terms(hit: Hit) -> set[str]:
    return set(analyse_text(hit.content))


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
