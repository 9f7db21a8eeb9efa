"""One search: conditions, keyword and vector candidates, fusion, explanation (B.04-B.08, E.06, E.08)."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.graph.related import related
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.retrieval.ids import by_id
from hyperloci.retrieval.intent import Intent, classify
from hyperloci.retrieval.scoring import MEANING, PROFILES, Scores, combine
from hyperloci.retrieval.where import Around, Conditions
from hyperloci.store import Store
from hyperloci.store.analysis import query_terms
from hyperloci.store.filters import BoolArray
from hyperloci.store.keyword_search import KeywordHits

logger = logging.getLogger(__name__)

MAX_LIMIT: Final = 50
MAX_QUERY_CHARS: Final = 10_000

POOL: Final = 200
"""Candidates a space: with fewer, hits are lost that the other space would have lifted; more change nothing."""

AROUND_LIMIT: Final = 2_000
"""Nodes a relation filter reaches at most: three unbounded hops are half of a large graph."""

STRATEGIES: Final = ("e1_only", "multi_space")
"""E.06: meaning alone, or all spaces that see a memory."""


NO_WORDS: Final = KeywordHits({}, 1.0)


Encoded = tuple[str, NDArray[np.float32]]
"""A model's id and the query's unit vector."""


class QueryEncoder(Protocol):
    """What turns a query into a vector; the embedder's client, or a stand-in."""

    def embed_query(self, text: str) -> Encoded:
        """Return the model's id and the query's unit vector.

        Raises:
            NotReadyError: the models are not loaded yet.
            EmbedderError: they could not answer.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search found, best first, before it is presented."""

    intent: Intent
    strategy: str
    mode: str
    degraded: str | None
    nodes: tuple[Node, ...]
    scores: Mapping[NodeKey, Scores]


class Searcher:
    """Searches of one store."""

    def __init__(self, store: Store, encoder: QueryEncoder | None, *, off_reason: str | None = None) -> None:
        self._store = store
        self._encoder = encoder
        self._off_reason = off_reason

    def search(self, query: str, conditions: Conditions, *, limit: int, profile: str = "auto") -> Found:
        """Find the memories that answer a query best, under conditions.

        Raises:
            BadRequestError: an empty or overlong query, a limit outside 1..50, an unknown profile or strategy.
            NotFoundError: `related_to` names no memory.
        """
        check_query(query, limit, profile, conditions)
        intent = classify(query)
        vector, degraded = (None, self._off_reason) if self._encoder is None else self._embed(query)
        with self._store.snapshot():
            allowed = self._allowed(conditions)
            meaning_only = conditions.strategy == "e1_only" and vector is not None
            dense = self._dense(vector, allowed)
            keyword = NO_WORDS if meaning_only else self._keyword(query, allowed, dense)
            dense.update(self._cosines(vector, [key for key in keyword.scores if key not in dense]))
            by_key = {NodeKey(key): score for key, score in keyword.scores.items()}
            nodes = self._store.nodes.by_keys({*by_key, *dense})
            scores = combine(
                by_key,
                keyword.ceiling,
                None if vector is None else dense,
                nodes,
                profile=MEANING if meaning_only else profile,
            )
        ranked = sorted(nodes, key=lambda key: (-scores[key].total, key))
        order = list(itertools.islice(_said_once(ranked, nodes), limit))
        return Found(
            intent=intent,
            strategy=conditions.strategy or "multi_space",
            mode="keyword" if vector is None else "hybrid",
            degraded=degraded,
            nodes=tuple(nodes[key] for key in order),
            scores={key: scores[key] for key in order},
        )

    def listed(self, conditions: Conditions, *, limit: int) -> Found:
        """Return what meets conditions, without a query: by file and line, then the latest first.

        Raises:
            BadRequestError: a limit outside 1..50.
            NotFoundError: `related_to` names no memory.
        """
        if not 1 <= limit <= MAX_LIMIT:
            raise BadRequestError(f"limit={limit} is outside 1..{MAX_LIMIT}.")
        with self._store.snapshot():
            keys = self._store.filters.in_order(self._allowed(conditions), limit)
            nodes = self._store.nodes.by_keys(keys)
        return Found(
            intent=classify(""),
            strategy="conditions",
            mode="list",
            degraded=None,
            nodes=tuple(nodes[NodeKey(key)] for key in keys),
            scores={},
        )

    def nearest(self, text: str, allowed: BoolArray, limit: int) -> dict[NodeKey, float]:
        """Return the cosine of the memories nearest in meaning; empty without vectors."""
        vector, _ = (None, None) if self._encoder is None else self._embed(text)
        return dict(list(self._dense(vector, allowed).items())[:limit])

    def _embed(self, query: str) -> tuple[Encoded | None, str | None]:
        assert self._encoder is not None
        try:
            return self._encoder.embed_query(query), None
        except NotReadyError as error:
            return None, str(error)
        except EmbedderError as error:
            logger.warning("searching by keywords only: %s", error)
            return None, str(error)

    def _allowed(self, conditions: Conditions) -> BoolArray:
        allowed = self._store.filters.allowed(conditions.where)
        if conditions.around is None:
            return allowed
        return allowed & self._around(conditions.around, conditions.where.scopes, len(allowed))

    def _around(self, around: Around, scopes: tuple[str, ...], size: int) -> BoolArray:
        start = by_id(self._store, around.node_id, "where.related_to")
        reached = related(self._store, start.key, around.relation, "both", around.depth, AROUND_LIMIT, scopes=scopes)
        bitmap = np.zeros(size, np.bool_)
        bitmap[[int(item.node_key) for item in reached]] = True
        return bitmap

    def _keyword(self, query: str, allowed: BoolArray, dense: Mapping[NodeKey, float]) -> KeywordHits:
        return self._store.keyword_search.search(query_terms(query), allowed, POOL, also=dense)

    def _dense(self, encoded: Encoded | None, allowed: BoolArray) -> dict[NodeKey, float]:
        model = None if encoded is None else self._store.vectors.find_model(encoded[0])
        if encoded is None or model is None:
            return {}
        return _by_key(*self._store.vectors.nearest(encoded[1], allowed, model, POOL))

    def _cosines(self, encoded: Encoded | None, keys: Sequence[int]) -> dict[NodeKey, float]:
        """Return the cosines of memories that only their words found; those without a vector yet are left out."""
        model = None if encoded is None else self._store.vectors.find_model(encoded[0])
        if encoded is None or model is None:
            return {}
        return _by_key(*self._store.vectors.exact(encoded[1], np.array(keys, np.int64), model, len(keys)))


def _by_key(keys: NDArray[np.int64], cosines: NDArray[np.float32]) -> dict[NodeKey, float]:
    return {NodeKey(int(key)): float(cosine) for key, cosine in zip(keys, cosines, strict=True)}


def _said_once(ranked: Sequence[NodeKey], nodes: Mapping[NodeKey, Node]) -> Iterator[NodeKey]:
    """Leave out what was said again in the same words ("continue", a question asked in three sessions)."""
    said: set[str] = set()
    for key in ranked:
        node = nodes[key]
        if node.subtype == "episode":
            if node.content in said:
                continue
            said.add(node.content)
        yield key


def check_query(query: str, limit: int, profile: str, conditions: Conditions) -> None:
    """Raise BadRequestError for what no search can use."""
    if not query.strip():
        raise BadRequestError("query is empty: say what to look for.")
    if len(query) > MAX_QUERY_CHARS:
        raise BadRequestError(f"query has {len(query)} characters; at most {MAX_QUERY_CHARS} are searched.")
    if not 1 <= limit <= MAX_LIMIT:
        raise BadRequestError(f"limit={limit} is outside 1..{MAX_LIMIT}.")
    if profile not in PROFILES:
        raise BadRequestError(f"profile={profile!r} is unknown: use one of {', '.join(PROFILES)}.")
    if conditions.strategy is not None and conditions.strategy not in STRATEGIES:
        raise BadRequestError(f"where.strategy={conditions.strategy!r} is unknown: use one of {', '.join(STRATEGIES)}.")


def explanation_of(scores: Scores, terms: Sequence[str]) -> dict[str, Any]:
    """Return the per-space account of one hit (E.08)."""
    return {"spaces": scores.by_space(), "dominant_space": scores.dominant(), "terms": list(terms)}
