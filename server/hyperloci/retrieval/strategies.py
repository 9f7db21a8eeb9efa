"""Strategies: four ways to find candidates: meaning alone, all spaces, four stages, one space first (E.06).

Every strategy finds candidates and has `scoring` or `fusion` make one score of those by space.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.config import Settings
from hyperloci.errors import BadRequestError
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate
from hyperloci.names import describe_unknown_value
from hyperloci.retrieval.rank_fusion import fuse_spaces
from hyperloci.retrieval.reranking.reranker import rerank_candidates
from hyperloci.retrieval.scoring import (
    CALLED,
    EXPLICIT_FACTOR,
    MEANING,
    NEARBY,
    Ranking,
    Scores,
    can_change_score,
    combine_scores,
)
from hyperloci.retrieval.sources.called_code import score_called_code
from hyperloci.retrieval.sources.code_substance import find_substance_factors
from hyperloci.retrieval.sources.content_kind import ContentKind, tell_content_kind
from hyperloci.retrieval.sources.nearby_code import score_nearby_code
from hyperloci.retrieval.sources.question_shape import QuestionShape, find_shape
from hyperloci.retrieval.sources.source_factors import LINE_COMMIT_WEIGHTS
from hyperloci.retrieval.space_scorer import Ranked, SpaceScorer
from hyperloci.retrieval.space_weights import AUTO, PERSPECTIVES
from hyperloci.retrieval.speakers import find_target_speaker
from hyperloci.spaces.space import SPACES
from hyperloci.system.values import dataclass

POOL: Final = 100
"""Candidates a space: with fewer, hits are lost that the other space would have lifted; more change nothing."""

HELPER_POOL: Final = 50
"""Candidates of a space that only helps."""

MEANING_POOL: Final = 150
"""Candidates of E1, by estimates: the ten nearest in truth are among them but for 1 in 100 at 600,000 memories."""

LIKELY_SHARE: Final = 0.6
"""What a memory is likely to reach of all that its words of the question could weigh: to count them takes longer than
to look up which it has, and changes no set by more than noise (docs/benchmarks/ranking.md, "Candidates")."""

MAX_PROMISING: Final = 60
"""Candidates that every space scores, the most promising by E1 and E6 together: with 50 to 150 every development set is
within noise (docs/benchmarks/ranking.md, "Candidates"); half of that, and a page of fifty results is not filled."""

LOOKED_UP_AT_ONCE: Final = 100
"""Of those that may be, so many are asked at once what kind of source they are: 340 are found, and of the first hundred
or two hundred the best sixty can mostly be told."""

MAX_PER_HELPER: Final = 10
"""And the best of each helping space, whatever E1 and E6 make of them: a misspelled word is found by E9 alone."""


class SearchStrategy(StrEnum):
    """E.06: meaning alone; all spaces that see a memory; four stages; one space leads."""

    E1_ONLY = "e1_only"
    MULTI_SPACE = "multi_space"
    PIPELINE = "pipeline"
    ONE_SPACE_FIRST = "embedder_first"


FIRST_SPACES: Final = tuple(name for name in SPACES if name != "e4")
"""Spaces that may lead; E4 is an order of turns, no score: `timeline` and questions of before and after walk it."""


def check_ranking(profile: str, strategy: str | None, first_space: str | None) -> None:
    """Raise BadRequestError for a profile, a strategy or a first space that there is none of."""
    if profile not in PERSPECTIVES:
        raise BadRequestError(describe_unknown_value("profile", profile, PERSPECTIVES))
    for name, value, allowed in (
        ("strategy", strategy, tuple(SearchStrategy)),
        ("first_space", first_space, FIRST_SPACES),
    ):
        if value is not None and value not in allowed:
            raise BadRequestError(describe_unknown_value(f"where.{name}", value, allowed))


@dataclass(frozen=True, slots=True, kw_only=True)
class StageSizes:
    """How many memories each stage of the pipeline hands on (E.06)."""

    recall: int = 10_000
    scan: int = 1_000
    fused: int = 100

    @classmethod
    def from_settings(cls, settings: Settings) -> StageSizes:
        """Return the sizes that a user chose."""
        return cls(recall=settings.pipeline_recall, scan=settings.pipeline_scan, fused=settings.pipeline_fused)


def rank_candidates(
    scorer: SpaceScorer,
    strategy: SearchStrategy,
    *,
    profile: str,
    limit: int,
    first_space: str,
    settings: Settings | None,
) -> Ranking:
    """Return the candidates that a strategy finds, and what each of them scores.

    Args:
        scorer: the question in the store.
        strategy: which of the four.
        profile: the perspective (`space_weights.PERSPECTIVES`).
        limit: how many hits are wanted.
        first_space: the one that leads, where one does.
        settings: sizes and weights that a user may change.
    """
    pool = max(POOL, limit)
    if strategy is SearchStrategy.E1_ONLY:
        nearest = {"e1": scorer.search_space("e1", pool)}
        nodes = scorer.load_candidates(nearest)
        return nodes, combine_scores(nearest, nodes, profile=MEANING)
    if strategy is SearchStrategy.ONE_SPACE_FIRST:
        found = scorer.search_keywords(pool) if first_space == "e6" else scorer.search_space(first_space, pool)
        return scorer.load_candidates({first_space: found}), _single_space_scores(first_space, found)
    if strategy is SearchStrategy.PIPELINE:
        assert settings is not None
        return _run_pipeline(scorer, profile, settings)
    return _rank_by_all_spaces(scorer, profile, settings)


def _rank_by_all_spaces(scorer: SpaceScorer, profile: str, settings: Settings | None) -> Ranking:
    spaces = search_all_spaces(scorer)
    nodes = scorer.load_candidates(spaces)
    if settings is not None and settings.fusion == "rrf":
        spaces |= scorer.score_spaces(list_scored_spaces(scorer), nodes)
        fused = fuse_spaces(spaces, profile, settings)
        return nodes, {key: _make_fused_scores(key, spaces, fused[key]) for key in nodes}
    spaces |= _score_by_spaces(scorer, nodes, profile)
    factors = scorer.find_source_factors(nodes)
    for key, factor in find_substance_factors(scorer.text, nodes).items():
        factors[key] *= factor
    scores = combine_scores(
        spaces,
        nodes,
        profile=profile,
        target_speaker=find_target_speaker(scorer.text),
        source_factors=factors,
        line_commits=_score_line_commits(scorer, nodes),
    )
    if find_shape(scorer.text) is QuestionShape.PLACE:
        scores = _lift_code(scores, NEARBY, functools.partial(score_nearby_code, sources=scorer.sources))
        callers = scorer.find_callers(key for key, node in nodes.items() if node.subtype == "code")
        scores = _lift_code(scores, CALLED, functools.partial(score_called_code, callers=callers))
    # A perspective that was asked for is what counts then.
    if profile == AUTO and settings is not None and settings.ranking == "learned":
        scores = rerank_candidates(scorer.text, spaces, nodes, scores)
    return nodes, scores


def _lift_code(
    scores: Mapping[NodeKey, Scores], part: str, score: Callable[[Mapping[NodeKey, float]], Mapping[NodeKey, float]]
) -> dict[NodeKey, Scores]:
    """Return the scores with what other candidates' scores add to some, as a part of this name."""
    added = score({key: found.total for key, found in scores.items()})
    return {
        key: replace(
            found,
            parts={**found.parts, part: added[key] / found.factor},
            total=found.total + added[key],
        )
        if key in added
        else found
        for key, found in scores.items()
    }


def _score_line_commits(scorer: SpaceScorer, nodes: Mapping[NodeKey, SearchCandidate]) -> dict[NodeKey, float]:
    """Return what the commits behind its lines add to the code that was found."""
    weight = LINE_COMMIT_WEIGHTS.get(find_shape(scorer.text), 0.0) if scorer.has_vectors else 0.0
    if not weight:
        return {}
    near = scorer.score_line_commits([key for key, node in nodes.items() if node.subtype == "code"])
    return {key: weight * max(0.0, cosine) for key, cosine in near.items()}


def _run_pipeline(scorer: SpaceScorer, profile: str, settings: Settings) -> Ranking:
    """Recall by E13, scan by E1, fuse by ranks, then order the best by E12 token by token."""
    stages = StageSizes.from_settings(settings)
    spaces = recall_and_scan(scorer, stages)
    nodes = scorer.load_candidates(spaces)
    # E12 sees the last stage only: it costs most.
    spaces |= scorer.score_spaces([space for space in list_scored_spaces(scorer) if space != "e12"], nodes)
    fused = fuse_spaces(spaces, profile, settings)
    kept = sorted(fused, key=lambda key: (-fused[key], key))[: stages.fused]
    nodes = {key: nodes[key] for key in kept}
    spaces |= scorer.score_spaces(["e12"], nodes)
    return nodes, {
        # What has no token states keeps its place behind what has.
        key: _make_fused_scores(key, spaces, spaces.get("e12", {}).get(key, 0.0) + fused[key] / stages.fused)
        for key in kept
    }


def _score_by_spaces(scorer: SpaceScorer, nodes: Mapping[NodeKey, SearchCandidate], profile: str) -> dict[str, Ranked]:
    """Return the scores in the spaces that the question speaks to, each of those memories that it counts for."""
    kinds = {key: tell_content_kind(node) for key, node in nodes.items()}
    spaces_of: dict[frozenset[ContentKind], list[str]] = {}
    for space in list_scored_spaces(scorer):
        if counting := frozenset(kind for kind in set(kinds.values()) if can_change_score(space, kind, profile)):
            spaces_of.setdefault(counting, []).append(space)
    found: dict[str, Ranked] = {}
    for counting, spaces in spaces_of.items():
        found |= scorer.score_spaces(spaces, {key: node for key, node in nodes.items() if kinds[key] in counting})
    return found


def _single_space_scores(space: str, found: Ranked) -> dict[NodeKey, Scores]:
    return {key: Scores(spaces={space: value}, parts={space: value}, total=value) for key, value in found.items()}


def _make_fused_scores(key: NodeKey, spaces: Mapping[str, Ranked], total: float) -> Scores:
    seen = {space: found[key] for space, found in spaces.items() if key in found}
    return Scores(spaces=seen, parts=seen, total=total)


def search_all_spaces(scorer: SpaceScorer) -> dict[str, Ranked]:
    """Return the scores by E1 and E6 of the most promising of what they and the helping spaces have found."""
    helpers = [scorer.search_space(space, HELPER_POOL, roughly=True) for space in _helping_spaces(scorer)]
    found = set(itertools.chain(scorer.search_space("e1", MEANING_POOL, roughly=True), scorer.find_likely(), *helpers))
    best = _find_promising(scorer, np.array(sorted(found), np.int64))
    lifted = itertools.chain.from_iterable(itertools.islice(helper, MAX_PER_HELPER) for helper in helpers)
    kept = list(dict.fromkeys((*best, *lifted)))
    return {"e1": scorer.cosines(kept), "e6": scorer.normalised_bm25(kept)}


def _find_promising(scorer: SpaceScorer, keys: NDArray[np.int64]) -> list[NodeKey]:
    """Return of memories, keys ascending, the most promising, by what they are likely to score, ties by key."""
    likely = _predict_scores(scorer, keys)
    order = np.lexsort((keys, -likely))
    scores = np.empty(0)
    # No kind of source is worth more than 1, so that a prediction is a bound: who is likeliest is looked up first, and
    # the rest only while one of them can still be among the best.
    for start in range(0, len(order), LOOKED_UP_AT_ONCE):
        rows = order[start : start + LOOKED_UP_AT_ONCE]
        if start >= MAX_PROMISING and np.partition(scores, -MAX_PROMISING)[-MAX_PROMISING] > max(0.0, likely[rows[0]]):
            order = order[:start]
            break
        factors = scorer.find_source_factors(NodeKey(key) for key in keys[rows].tolist())
        scores = np.concatenate([scores, likely[rows] * np.array(list(factors.values()), np.float32)])
    chosen = keys[order[np.lexsort((keys[order], -scores))[:MAX_PROMISING]]]
    return [NodeKey(key) for key in chosen.tolist()]


def _predict_scores(scorer: SpaceScorer, keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what memories, keys ascending, are likely to score, as `scoring` will have it but for their sources."""
    near, words = scorer.estimate_cosines(keys), LIKELY_SHARE * scorer.upper_bounds(keys)
    # Words stand in for the meaning of what has no vector yet: what they are likely to reach would count twice, and
    # what was just indexed hide what answers, so they are counted.
    unseen = np.flatnonzero(np.isnan(near))
    if len(unseen):
        exact = scorer.normalised_bm25(NodeKey(key) for key in keys[unseen].tolist())
        words[unseen] = near[unseen] = [exact.get(NodeKey(key), 0.0) for key in keys[unseen].tolist()]
    # What was remembered on purpose counts more, or a decision is lost among a hundred functions of its subject.
    return (near + words) * np.where(scorer.are_explicit(keys), EXPLICIT_FACTOR, 1.0)


def _helping_spaces(scorer: SpaceScorer) -> list[str]:
    if not scorer.has_vectors:
        return []
    # A scan of E9 costs most, and helps where the words themselves can't be found. E7 finds no code that E1 or words
    # have not: what it knows better it says by lifting (docs/benchmarks/ranking.md, "Candidates").
    return [*(["e9"] if scorer.has_unknown_words else []), "e13"]


def recall_and_scan(scorer: SpaceScorer, stages: StageSizes) -> dict[str, Ranked]:
    """Return what two stages leave: E13 (with E6) recalls, a scan of E1's codes keeps the nearest of these.

    The scores by E1 and E6 are those of the memories kept; without any recalled, E1 looks at all.
    """
    found = dict.fromkeys(
        (*scorer.search_space("e13", stages.recall), *scorer.search_keywords(min(stages.recall, stages.scan)))
    )
    among = np.zeros(len(scorer.allowed), np.bool_)
    among[[int(key) for key in found]] = True
    meaning = scorer.search_space("e1", stages.scan, among & scorer.allowed if found else scorer.allowed)
    # What has no vector yet was recalled by its words and must not be lost to a scan that can't see it.
    unseen = [key for key in scorer.search_keywords(HELPER_POOL) if key not in meaning]
    kept: Sequence[NodeKey] = [*meaning, *unseen]
    words = scorer.search_keywords(HELPER_POOL, also=kept)
    return {"e1": meaning, "e6": {key: value for key, value in words.items() if key in meaning or key in unseen}}


def list_scored_spaces(scorer: SpaceScorer) -> tuple[str, ...]:
    """Return the spaces worth scoring candidates in: those that the question speaks to.

    E9 only where a word stands nowhere: of right words it knows less than E6.
    """
    left_out = () if scorer.has_unknown_words else ("e9",)
    return tuple(space for space in scorer.applicable_spaces() if space not in left_out)
