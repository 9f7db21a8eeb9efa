"""Search: from a question to ranked memories (B.04-B.08, E.06, E.08).

`Searcher.find` encodes the question and filters; a strategy ranks, the graph adds, and the best come back, each once.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.clock import Clock, system_clock
from hyperloci.config import Settings
from hyperloci.errors import BadRequestError, EmbedderError, NotReadyError
from hyperloci.knowledge.facets import list_domains
from hyperloci.knowledge.graph.neighbourhood import find_related
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node, SearchCandidate
from hyperloci.model.search import VectorCoverage
from hyperloci.names import suggest_name
from hyperloci.retrieval import intent_exemplars
from hyperloci.retrieval.filters import Conditions, RelatedTo
from hyperloci.retrieval.graph_expansion import expand_candidates
from hyperloci.retrieval.intent import SIMILARITY, Intent, IntentClassifier, classify_intent
from hyperloci.retrieval.names.leading import LeadingMemories, find_leading
from hyperloci.retrieval.routing import plan_route
from hyperloci.retrieval.scoring import Scores, combine_scores
from hyperloci.retrieval.space_scorer import SpaceScorer
from hyperloci.retrieval.strategies import SearchStrategy, check_ranking, rank_candidates
from hyperloci.retrieval.vector_coverage import measure_vector_coverage
from hyperloci.spaces.query import MeaningEncoder, QueryFingerprint, SearchEncoder
from hyperloci.spaces.space import SPACES
from hyperloci.store import Store
from hyperloci.store.ids import node_ids, resolve_id
from hyperloci.store.vectors.bits import BoolArray
from hyperloci.system.values import dataclass

logger = logging.getLogger(__name__)

MAX_LIMIT: Final = 50
MAX_QUERY_CHARS: Final = 10_000
EncodeQuery = Callable[[str], tuple[QueryFingerprint | None, str | None]]

AROUND_LIMIT: Final = 2_000
"""Nodes that a relation filter reaches at most: three unlimited steps reach half of a large graph."""

NAMED: Final = "name"
"""The part of a score that is no space's: the question names the memory, or asks for what it is related to."""

LEAST_SCORE: Final = 0.03
"""What scores less shares a common word or nothing with the question. Calibrated scores only; the least of a right
answer is 0.15 on mddocs and 0.09 on pycode by words alone, and that of any of the ten best 0.07: no figure moves."""

FEW_TERMS: Final = 10
"""Of a question with more terms each memory has a smaller share: the least score falls with their number."""


def _fuses_ranks(settings: Settings | None) -> bool:
    return settings is not None and settings.fusion == "rrf"


@dataclass(frozen=True, slots=True)
class MeasuredText:
    """A text in E1: the model that saw it, its unit vector, and its cosine to memories."""

    model_id: str
    vector: NDArray[np.float32]
    cosines: Mapping[NodeKey, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """What a search found, best first, before it is presented.

    `named`: what a name in the question was taken for, or why its id gives nothing; `unlisted`: how many a list's limit
    left out.
    """

    intent: Intent
    strategy: str
    mode: str
    degraded: str | None
    nodes: tuple[Node, ...]
    scores: Mapping[NodeKey, Scores]
    by_meaning: VectorCoverage | None = None
    named: str | None = None
    unlisted: int = 0


class Searcher:
    """Searches of one store.

    Args:
        store: the open store.
        encoder: encodes queries; None for keywords only.
        settings: sizes and weights that a user may change.
        quick_encoder: for searches that may not wait until a model is loaded; `encoder` unless given.
        prompt_encoder: for what a prompt means; `encoder` unless given.
        off_reason: why there is no encoder.
        without: spaces left out of every search, to measure what each contributes.
        clock: the present, for what is recent.
    """

    def __init__(
        self,
        store: Store,
        encoder: SearchEncoder | None,
        settings: Settings | None = None,
        *,
        quick_encoder: MeaningEncoder | None = None,
        prompt_encoder: MeaningEncoder | None = None,
        off_reason: str | None = None,
        without: Collection[str] = (),
        clock: Clock = system_clock,
    ) -> None:
        self._store = store
        self._encoder = encoder
        self._quick_encoder = quick_encoder or encoder
        self._prompt_encoder = prompt_encoder or encoder
        self._settings = settings
        self._off_reason = off_reason
        self._without = frozenset(without)
        self._clock = clock
        self._intents = IntentClassifier(
            functools.partial(intent_exemplars.load_vectors, store),
            SIMILARITY if settings is None else settings.intent_similarity_threshold,
        )

    def find(
        self,
        query: str,
        conditions: Conditions,
        *,
        limit: int,
        profile: str = "auto",
        explain: bool = False,
        quick: bool = False,
        encode: EncodeQuery | None = None,
    ) -> SearchResult:
        """Find the memories that answer a query best, under conditions.

        Args:
            query: a question or words.
            conditions: which memories to search, and by which strategy.
            limit: how many at most.
            profile: the perspective (`space_weights.PERSPECTIVES`).
            explain: score the hits in every space, also where it changes no order.
            quick: use E1 and words only, for a hook that delays a prompt.
            encode: `encode_query`, or what keeps its answers, for who asks one question several times.

        Raises:
            BadRequestError: an empty or overlong query, a limit outside 1..50, an unknown profile or strategy.
            NotFoundError: `related_to` names no memory.
        """
        check_query(query, limit, profile, conditions)
        seen, degraded = (encode or functools.partial(self.encode_query, quick=quick))(query)
        with self._store.snapshot():
            intent = classify_intent(query) if quick else self._classify_intent(query, seen)
            allowed = self.select_allowed(conditions)
            look = SpaceScorer(self._store, query, seen, allowed, now=self._clock(), without=self._without)
            strategy = _choose_strategy(conditions, look)
            nodes, scores = rank_candidates(
                look,
                strategy,
                profile=profile,
                limit=limit,
                first_space=conditions.first_space or "e1",
                settings=self._settings,
            )
            if strategy is SearchStrategy.MULTI_SPACE:
                way = plan_route(query, intent, self._clock())
                nodes, scores = expand_candidates(self._store, way, nodes, scores, allowed, conditions.where.scopes)
            best = sorted(nodes, key=lambda key: (-scores[key].total, key))
            if strategy is SearchStrategy.MULTI_SPACE and not _fuses_ranks(self._settings):
                least = LEAST_SCORE * min(1.0, FEW_TERMS / max(1, look.term_count))
                best = [key for key in best if scores[key].total >= least]
            leading = None
            if strategy is SearchStrategy.MULTI_SPACE and not quick:
                measure = functools.partial(_measure_commits, look)
                leading = find_leading(
                    self._store, query, intent, best, measure, allowed, conditions.where.scopes, limit
                )
            if leading is not None:
                nodes, scores = _add_leading(self._store, leading, nodes, scores)
                best = leading.arrange(best, nodes)
            order = list(itertools.islice(_drop_repeated_turns(best, nodes), limit))
            if explain and not quick:
                scores = _score_all_spaces(look, {key: nodes[key] for key in order}, scores)
            found = self._store.nodes.get_by_keys(order)
            reach = None if seen is None else measure_vector_coverage(self._store, seen, allowed, now=self._clock())
        return SearchResult(
            intent=intent,
            strategy=strategy,
            mode="keyword" if reach is None or (reach.total and not reach.embedded) else "hybrid",
            degraded=degraded if reach is None else reach.describe_missing(),
            by_meaning=reach,
            nodes=tuple(found[key] for key in order),
            scores={key: scores[key] for key in order},
            named=None if leading is None else leading.described,
        )

    def list_memories(self, conditions: Conditions, *, limit: int, profile: str = "auto") -> SearchResult:
        """Return what meets conditions, without a query: by file and line, then the latest first.

        Raises:
            BadRequestError: a limit outside 1..50, an unknown profile or strategy, though neither changes the list.
            NotFoundError: `related_to` names no memory.
        """
        _check_choices(limit, profile, conditions)
        with self._store.snapshot():
            allowed = self.select_allowed(conditions)
            keys = self._store.filters.list_in_order(allowed, limit)
            nodes = self._store.nodes.get_by_keys(keys)
        return SearchResult(
            intent=classify_intent(""),
            strategy="conditions",
            mode="list",
            degraded=None,
            nodes=tuple(nodes[NodeKey(key)] for key in keys),
            scores={},
            unlisted=int(np.count_nonzero(allowed)) - len(keys),
        )

    def find_nearest(self, text: str, allowed: BoolArray, limit: int) -> dict[NodeKey, float]:
        """Return the cosine of the memories nearest in meaning; empty without vectors."""
        seen = self._encode_meaning(text, self._encoder)
        if seen is None:
            return {}
        model, _, vector = seen
        keys, cosines = self._store.vectors.find_nearest(vector, allowed, model, limit)
        return {NodeKey(int(key)): float(cosine) for key, cosine in zip(keys, cosines, strict=True)}

    def measure_meaning(self, text: str, keys: Sequence[NodeKey]) -> MeasuredText | None:
        """Measure how near a text is to each of these memories; None without an encoder at hand, or its vectors."""
        seen = self._encode_meaning(text, self._prompt_encoder) if keys else None
        if seen is None:
            return None
        _, model_id, vector = seen
        return MeasuredText(model_id, vector, self.multiply_vectors(vector, keys, model_id))

    def multiply_vectors(
        self, vector: NDArray[np.float32], keys: Sequence[NodeKey], model_id: str
    ) -> Mapping[NodeKey, float]:
        """Return the product of a vector with that of each memory in E1, of those that a model saw."""
        model = self._store.vectors.find_model(model_id)
        if model is None:
            return {}
        found, products = self._store.vectors.find_nearest_exactly(vector, np.array(keys, np.int64), model, len(keys))
        return {NodeKey(int(key)): float(product) for key, product in zip(found, products, strict=True)}

    def _encode_meaning(self, text: str, encoder: MeaningEncoder | None) -> tuple[int, str, NDArray[np.float32]] | None:
        """Return E1's model, its key and its id, and the vector of a text; None as `measure_meaning`."""
        if encoder is None:
            return None
        try:
            model_id, vector = encoder.embed_query(text)
        except (NotReadyError, EmbedderError):
            return None
        model = self._store.vectors.find_model(model_id)
        return None if model is None else (model, model_id, vector)

    def encode_query(self, query: str, *, quick: bool = False) -> tuple[QueryFingerprint | None, str | None]:
        """Return the encoded question, or why there is none."""
        if self._encoder is None or self._quick_encoder is None:
            return None, self._off_reason
        try:
            if not quick:
                return self._encoder.embed_query_spaces(query), None
            model_id, meaning = self._quick_encoder.embed_query(query)
            return QueryFingerprint(model_id=model_id, dense={"e1": meaning}), None
        except NotReadyError as error:
            return None, str(error)
        except EmbedderError as error:
            logger.warning("searching by keywords only: %s", error)
            return None, str(error)

    def _classify_intent(self, query: str, seen: QueryFingerprint | None) -> Intent:
        if seen is None:
            return classify_intent(query)
        return self._intents.classify_with_vector(query, seen.model_id, seen.dense["e1"])

    def select_allowed(self, conditions: Conditions) -> BoolArray:
        """Return a bitmap of the memories that meet conditions.

        Raises:
            BadRequestError: no memory has a tag that is asked for.
            NotFoundError: `related_to` names no memory.
        """
        self._check_tags(conditions.where.domain_tags)
        allowed = self._store.filters.select_allowed(conditions.where)
        if conditions.related_to is None:
            return allowed
        return allowed & self._related_nodes(conditions.related_to, conditions.where.scopes, len(allowed))

    def _check_tags(self, tags: Sequence[str]) -> None:
        """Refuse a tag that neither rules nor people ever gave: it is found nowhere, and nobody would know why."""
        unknown = (
            [tag for tag in self._store.facets.list_unknown_tags(tags) if tag not in list_domains()] if tags else []
        )
        if unknown:
            known = sorted({*list_domains(), *self._store.facets.list_tags()})
            hint = suggest_name(unknown[0], known)
            told = f"{hint} " if hint.endswith("?") else ""
            raise BadRequestError(
                f"where.domain_tags has {unknown[0]!r:.80}, which no memory has: {told}use {', '.join(known)}."
            )

    def _related_nodes(self, around: RelatedTo, scopes: tuple[str, ...], size: int) -> BoolArray:
        start = resolve_id(node_ids(self._store.nodes, scopes=scopes), around.node_id, "where.related_to")
        asked = (around.relation, "both", around.depth, AROUND_LIMIT)
        reached = find_related(self._store, start.key, *asked, scopes=scopes, named="where.relation")
        bitmap = np.zeros(size, np.bool_)
        bitmap[[int(item.node_key) for item in reached]] = True
        return bitmap


def _measure_commits(look: SpaceScorer, keys: Sequence[NodeKey]) -> dict[NodeKey, float]:
    """Return what commits score by meaning and words, as they do where they are found by themselves."""
    nodes = look.load_candidates({"e6": dict.fromkeys(keys, 0.0)})
    spaces = {"e6": look.normalised_bm25(nodes), **({"e1": look.cosines(list(nodes))} if look.has_vectors else {})}
    return {key: scored.total for key, scored in combine_scores(spaces, nodes, profile="auto").items()}


def _choose_strategy(conditions: Conditions, scorer: SpaceScorer) -> SearchStrategy:
    """Return the strategy: the requested one, or what is possible without vectors."""
    chosen = conditions.strategy or (
        SearchStrategy.ONE_SPACE_FIRST if conditions.first_space else SearchStrategy.MULTI_SPACE
    )
    if not scorer.has_vectors and conditions.first_space != "e6":
        return SearchStrategy.MULTI_SPACE
    return SearchStrategy(chosen)


def _score_all_spaces(
    scorer: SpaceScorer, nodes: Mapping[NodeKey, SearchCandidate], scores: Mapping[NodeKey, Scores]
) -> dict[NodeKey, Scores]:
    """Return the scores, completed with the spaces that did not affect the order."""
    keys = list(nodes)
    known = {space for found in scores.values() for space in found.spaces}
    seen = scorer.score_spaces([space for space in SPACES if space not in ("e1", "e6")], nodes)
    seen |= {} if "e1" in known else {"e1": scorer.cosines(keys)}
    seen |= {} if "e6" in known else {"e6": scorer.search_keywords(1, also=keys)}
    return {
        key: replace(
            scores[key],
            spaces={space: seen[space][key] for space in SPACES if key in seen.get(space, {})}
            | dict(scores[key].spaces),
        )
        for key in keys
    }


def _add_leading(
    store: Store,
    leading: LeadingMemories,
    nodes: Mapping[NodeKey, SearchCandidate],
    scores: Mapping[NodeKey, Scores],
) -> tuple[dict[NodeKey, SearchCandidate], dict[NodeKey, Scores]]:
    """Return candidates and scores with what leads among them: it scores as much as the best there is."""
    missing = store.nodes.get_candidates([key for key in leading.keys if key not in nodes])
    top = max((found.total for found in scores.values()), default=1.0)
    led = {key: _make_leading_scores(scores.get(key), top) for key in leading.keys}
    return {**nodes, **missing}, {**scores, **led}


def _make_leading_scores(known: Scores | None, total: float) -> Scores:
    return Scores(spaces=known.spaces if known else {}, parts={NAMED: total}, total=total)


def _drop_repeated_turns(ranked: Sequence[NodeKey], nodes: Mapping[NodeKey, SearchCandidate]) -> Iterator[NodeKey]:
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
    """Raise BadRequestError for arguments that no search can use."""
    if not query.strip():
        raise BadRequestError("query is empty: say what to look for.")
    if len(query) > MAX_QUERY_CHARS:
        raise BadRequestError(f"query has {len(query)} characters; at most {MAX_QUERY_CHARS} are allowed.")
    _check_choices(limit, profile, conditions)


def _check_choices(limit: int, profile: str, conditions: Conditions) -> None:
    if not 1 <= limit <= MAX_LIMIT:
        raise BadRequestError(f"limit={limit} is outside 1..{MAX_LIMIT}.")
    check_ranking(profile, conditions.strategy, conditions.first_space)
