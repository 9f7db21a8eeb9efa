"""Space scorer: one question against one set of memories, space by space: the nearest, and the score of each."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.sources.source_factors import find_source_factors
from hyperloci.spaces import temporal
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.spaces.space import SPACES, SpaceKind
from hyperloci.spaces.space_similarity import score_space
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query, analyse_search, analyse_text
from hyperloci.store.memories.nodes import NodeSource
from hyperloci.store.memories.traversal import INWARD
from hyperloci.store.search.keyword_search import RESCORED, KeywordQuery
from hyperloci.store.vectors.bits import BoolArray, FloatArray, unpack_signs
from hyperloci.text.language.questions import is_question

Ranked = dict[NodeKey, float]
"""Scores by memory, best first."""

SCANNED: Final = ("e7", "e9", "e10")
"""Spaces beside E1 that can be scanned as a whole."""

EXACT_UP_TO: Final = 20_000
"""Memories whose every row is scored when a space without an index is asked to lead; of more, those that the indexed
spaces found."""

WIDE_POOL: Final = 2_000
"""How many those are."""

_RECENT: Final = re.compile(
    r"\b(latest|newest|most recent(ly)?|recent(ly)?|last time|these days|nowadays|lately|currently?|so far|up to date|"
    r"right now|as of now|at present|today's|at (the|this) moment(?! (of|when|that|the|it|we|i|he|she|they)\b)|"
    r"now(?=\W*$)|недавно|последн\w+|сейчас|теперь|текущ\w+|(на|в) данный момент|в настоящее время)\b"
    r"|^\W*(what|which|who|whose|where|how|is|are|do|does|did|has|have|can|should)\b[^.!;]*\bnow\b(?! (that|and)\b)",
    re.IGNORECASE,
)
"""Questions that want the newest of what they find: E2 has a say in them and in no others. `now` is one's own only in a
question or at an end: a heading such as `requests now carry an id` tells of a change."""


class SpaceScorer:
    """Scores of one question in one store; each space is computed at most once for a set of memories."""

    def __init__(
        self,
        store: Store,
        text: str,
        seen: QueryFingerprint | None,
        allowed: BoolArray,
        *,
        now: int,
        without: Collection[str] = (),
    ) -> None:
        self._store = store
        self._terms = analyse_query(text)
        self.text = text
        self._seen = seen
        self.allowed = allowed
        self._now = now
        self._without = frozenset(without)
        self._source_factors: dict[NodeKey, float] = {}
        self._sources: dict[NodeKey, NodeSource] = {}
        self._model = None if seen is None else store.vectors.find_model(seen.model_id)

    @property
    def has_vectors(self) -> bool:
        """Whether the question was encoded by the model of the stored fingerprints."""
        return self._seen is not None and self._model is not None

    @property
    def term_count(self) -> int:
        """How many terms the question has."""
        return len(self._terms)

    @functools.cached_property
    def _words_found(self) -> KeywordQuery | None:
        # Who asks a question wants its answer, not where it was asked before.
        quoted = () if is_question(self.text) else analyse_text(self.text)
        return self._store.keyword_search.prepare_query(analyse_search(self.text), self.allowed, quoted=quoted)

    @property
    def _keyword_query(self) -> KeywordQuery | None:
        """The question's words in E6; without any, nothing is likely and all shares are 0."""
        return None if "e6" in self._without else self._words_found

    def load_candidates(self, spaces: Mapping[str, Ranked]) -> dict[NodeKey, SearchCandidate]:
        """Return what is known of the memories that any of several spaces found."""
        return self._store.nodes.get_candidates(dict.fromkeys(itertools.chain.from_iterable(spaces.values())))

    # -- nearest memories --------------------------------------------------------------------------------------------

    def find_likely(self) -> list[NodeKey]:
        """E6: return the memories whose words of the question weigh most."""
        return [] if self._keyword_query is None else self._keyword_query.find_likely(RESCORED).tolist()

    def search_keywords(self, limit: int, also: Iterable[NodeKey] = ()) -> Ranked:
        """E6: return the best by BM25 as shares of a perfect answer's, and what `also` names whatever its rank."""
        if self._keyword_query is None:
            return {}
        best, ceiling = self._keyword_query.rank_best(limit, also=also), self._keyword_query.ceiling
        return {NodeKey(key): score / ceiling for key, score in best.items() if score > 0}

    def search_space(self, space: str, limit: int, among: BoolArray | None = None, *, roughly: bool = False) -> Ranked:
        """Return the nearest in one space; a space without an index looks at all memories of a small set.

        Args:
            space: where to look.
            limit: how many at most.
            among: look among these instead of all that the conditions allow.
            roughly: estimated scores will do, because every candidate is scored in this space afterwards.
        """
        allowed = self.allowed if among is None else among
        if self._seen is None or self._model is None or space in self._without:
            return {}
        if space != "e1" and not self._applies_to(space):
            return {}
        if space == "e13":
            return self._search_sparse(limit, allowed)
        if space == "e9":
            return self._search_spelling(limit, allowed, roughly=roughly)
        column = SPACES[space].columns[0] if SPACES[space].columns else ""
        if (space == "e1" or space in SCANNED) and column in self._seen.dense:
            return self._search_vectors(column, self._seen.dense[column], limit, allowed, roughly=roughly)
        return self._score_all_allowed(space, limit, allowed)

    def _search_vectors(
        self, column: str, query: FloatArray, limit: int, allowed: BoolArray, *, roughly: bool
    ) -> Ranked:
        assert self._model is not None
        return _to_ranked(
            *self._store.vectors.find_nearest(query, allowed, self._model, limit, space=column, roughly=roughly)
        )

    def _search_spelling(self, limit: int, allowed: BoolArray, *, roughly: bool) -> Ranked:
        if self._seen is None or self._seen.bits is None or self._model is None:
            return {}
        votes = self._seen.dense.get("e9")
        if votes is None:
            votes = unpack_signs([self._seen.bits], 8 * len(self._seen.bits))[0]
        return self._search_vectors("e9", votes, limit, allowed, roughly=roughly)

    def _search_sparse(self, limit: int, allowed: BoolArray) -> Ranked:
        if self._seen is None or self._model is None:
            return {}
        seen = self._seen
        return _to_ranked(
            *self._store.sparse_index.find_best("e13", seen.terms, allowed, limit, by_rarity=seen.weigh_terms)
        )

    def _score_all_allowed(self, space: str, limit: int, allowed: BoolArray) -> Ranked:
        keys: Sequence[int] = np.flatnonzero(allowed).tolist()
        if len(keys) > EXACT_UP_TO:
            keys = [*self.search_space("e1", WIDE_POOL, allowed), *self.search_keywords(WIDE_POOL)]
        found = self.score_spaces([space], self._store.nodes.get_candidates(keys))[space]
        best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return dict(best[:limit])

    # -- scores of given memories ------------------------------------------------------------------------------------

    def upper_bounds(self, keys: NDArray[np.int64]) -> NDArray[np.float64]:
        """E6: return the share of a perfect answer's BM25 that no memory exceeds, keys ascending."""
        return (
            np.zeros(len(keys))
            if self._keyword_query is None
            else self._keyword_query.upper_bounds(keys) / self._keyword_query.ceiling
        )

    def normalised_bm25(self, keys: Iterable[NodeKey]) -> Ranked:
        """E6: return the BM25 of memories as shares of a perfect answer's; those without any are left out."""
        if self._keyword_query is None:
            return {}
        scores, ceiling = self._keyword_query.score_bm25(set(keys)), self._keyword_query.ceiling
        return {NodeKey(key): score / ceiling for key, score in scores.items() if score > 0}

    def estimate_cosines(self, keys: NDArray[np.int64]) -> FloatArray:
        """E1: return the cosines of memories by their codes alone; nan for those without a vector yet."""
        if self._seen is None or self._model is None or "e1" in self._without:
            return np.full(len(keys), np.nan, np.float32)
        return self._store.vectors.estimate_cosines(self._seen.dense["e1"], keys, self._model)

    def cosines(self, keys: Sequence[NodeKey]) -> Ranked:
        """E1: return the cosines of these memories; those without a vector yet are left out."""
        if self._seen is None or self._model is None or not keys or "e1" in self._without:
            return {}
        return _to_ranked(
            *self._store.vectors.find_nearest_exactly(
                self._seen.dense["e1"], np.array(keys, np.int64), self._model, len(keys)
            )
        )

    def score_spaces(self, spaces: Iterable[str], nodes: Mapping[NodeKey, SearchCandidate]) -> dict[str, Ranked]:
        """Return how near memories are in several spaces (all but E1 and E6); what a space does not see is left out."""
        wanted = [space for space in spaces if space not in self._without]
        answers: dict[str, Ranked] = {space: {} for space in wanted}
        answers |= {
            space: self._score_times(space, nodes) for space in wanted if SPACES[space].kind is SpaceKind.COMPUTED
        }
        if "e13" in wanted:
            answers["e13"] = self._score_sparse(nodes)
        stored = [space for space in wanted if SPACES[space].columns and self._applies_to(space)]
        return answers | self._score_stored_rows(stored, list(nodes))

    def applicable_spaces(self) -> tuple[str, ...]:
        """Return the spaces that the question has something to say in, E1 and E6 left out."""
        asked = [space for space in SPACES if space not in ("e1", "e6") and space not in self._without]
        return tuple(space for space in asked if self._applies_to(space))

    def _applies_to(self, space: str) -> bool:
        if space == "e2":
            return _RECENT.search(self.text) is not None
        if space == "e3":
            return temporal.moment_of(self.text) is not None
        if self._seen is None or self._model is None or space == "e4":
            return False
        if space == "e9":
            return self._seen.bits is not None
        if space == "e12":
            return self._seen.tokens is not None
        if space == "e13":
            return bool(self._seen.terms)
        return any(column in self._seen.dense for column in SPACES[space].columns)

    def find_source_factors(self, keys: Iterable[NodeKey]) -> dict[NodeKey, float]:
        """Return what the kinds of source that the question asks for make of these memories' scores."""
        known, wanted = self._source_factors, list(keys)
        if missing := [key for key in wanted if key not in known]:
            sources = self._store.nodes.get_sources(missing)
            self._sources.update(sources)
            known.update(find_source_factors(self.text, sources))
        return {key: known.get(key, 1.0) for key in wanted}

    @property
    def sources(self) -> Mapping[NodeKey, NodeSource]:
        """Where the memories stand whose factors were looked up."""
        return self._sources

    def score_line_commits(self, keys: Sequence[NodeKey]) -> Ranked:
        """E1: return the cosine of the nearest commit of those that wrote the lines of each of these, if any did."""
        written = self._store.line_commits.find_commits(keys)
        near = self.cosines(sorted({commit for commits in written.values() for commit in commits}))
        return {
            key: max((near[commit] for commit in commits if commit in near), default=0.0)
            for key, commits in written.items()
        }

    def find_callers(self, keys: Iterable[NodeKey]) -> dict[NodeKey, set[NodeKey]]:
        """Return what calls each of these pieces of code, if anything does."""
        callers: dict[NodeKey, set[NodeKey]] = {}
        for crossing in self._store.traversal.iterate_crossings(keys, label="calls", direction=INWARD):
            callers.setdefault(crossing.source, set()).add(crossing.target)
        return callers

    def are_explicit(self, keys: NDArray[np.int64]) -> BoolArray:
        """Return for each of `keys`, ascending, whether the memory was remembered on purpose."""
        told = np.zeros(len(keys), np.bool_)
        told[np.searchsorted(keys, list(self._store.nodes.find_explicit(keys.tolist())))] = True
        return told

    @functools.cached_property
    def has_unknown_words(self) -> bool:
        """Whether the question has a word that stands in no memory: it may be one of theirs, misspelled."""
        known = () if self._words_found is None else self._words_found.weights
        return any(term not in known for term in analyse_search(self.text) if term[0].isalnum())

    def _score_stored_rows(self, spaces: Sequence[str], keys: Sequence[NodeKey]) -> dict[str, Ranked]:
        if self._seen is None or self._model is None or not spaces:
            return {space: {} for space in spaces}
        columns = [column for space in spaces for column in SPACES[space].columns]
        rows = self._store.vectors.get_rows(keys, columns, model_key=self._model)
        found = list(rows)
        answers = {}
        start = 0
        for space in spaces:
            end = start + len(SPACES[space].columns)
            answers[space] = _drop_missing(
                found, score_space(space, self._seen, [rows[key][start:end] for key in found])
            )
            start = end
        return answers

    def _score_sparse(self, nodes: Mapping[NodeKey, SearchCandidate]) -> Ranked:
        if self._seen is None:
            return {}
        keys, seen = list(nodes), self._seen
        scores = self._store.sparse_index.score_memories("e13", seen.terms, keys, by_rarity=seen.weigh_terms)
        return {key: score for key, score in zip(keys, scores.tolist(), strict=True) if score > 0}

    def _score_times(self, space: str, nodes: Mapping[NodeKey, SearchCandidate]) -> Ranked:
        times = np.array([node.event_time for node in nodes.values()], np.int64)
        if not len(times):
            return {}
        if space == "e2":
            values = temporal.score_recency(times, self._now)
        elif space == "e3" and (moment := temporal.moment_of(self.text)) is not None:
            values = temporal.score_rhythm(times, moment)
        else:
            return {}
        return _drop_missing(list(nodes), values)


def _drop_missing(keys: Sequence[NodeKey], scores: NDArray[np.float32]) -> Ranked:
    """Return the scores of those that the space sees."""
    # What isn't equal to itself is nan.
    return {key: value for key, value in zip(keys, scores.tolist(), strict=True) if value == value}


def _to_ranked(keys: NDArray[np.int64], scores: NDArray[np.float32]) -> Ranked:
    return dict(zip(keys.tolist(), scores.tolist(), strict=True))
