"""The four ways to answer a question: meaning alone, all spaces, four stages, one space first (E.06).

Every strategy finds candidates and has `scoring` or `fusion` make one score of those by space.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.config import Settings
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.fusion import fuse_spaces
from hyperloci.retrieval.scoring import MEANING, ON_PURPOSE, Ranking, Scores, combine, counts
from hyperloci.retrieval.spacewise import Ranked, SpaceScorer
from hyperloci.retrieval.speakers import wanted
from hyperloci.spaces.space import SPACES

POOL: Final = 100
"""Candidates a space: with fewer, hits are lost that the other space would have lifted; more change nothing."""

FEW: Final = 50
"""Candidates of a space that only helps."""

NEAREST: Final = 150
"""Candidates of E1, by estimates: the ten nearest in truth are among them but for 1 in 100 at 600,000 memories."""

LIKELY_SHARE: Final = 0.6
"""What a memory is likely to reach of all that its words of the question could weigh: to count them takes longer than
to look up which it has, and changes no set by more than noise (docs/benchmarks.md, "Candidates")."""

PROMISING: Final = 60
"""Candidates that every space scores, the most promising by E1 and E6 together: with 50 to 150 every development set is
within noise (docs/benchmarks.md, "Candidates"); half of that, and a page of fifty results is not filled."""

LIFTED: Final = 10
"""And the best of each helping space, whatever E1 and E6 make of them: a misspelled word is found by E9 alone."""


class Strategy(StrEnum):
    """E.06: meaning alone; all spaces that see a memory; four stages; one space leads."""

    E1_ONLY = "e1_only"
    MULTI_SPACE = "multi_space"
    PIPELINE = "pipeline"
    EMBEDDER_FIRST = "embedder_first"


FIRST_SPACES: Final = tuple(name for name in SPACES if name != "e4")
"""Spaces that may lead; E4 is an order of turns, no score: `timeline` and questions of before and after walk it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """How many memories each stage of the pipeline hands on (E.06)."""

    recall: int = 10_000
    scan: int = 1_000
    fused: int = 100

    @classmethod
    def of(cls, settings: Settings) -> Stages:
        """Return the sizes that a user chose."""
        return cls(recall=settings.pipeline_recall, scan=settings.pipeline_scan, fused=settings.pipeline_fused)


def rank(
    look: SpaceScorer, strategy: Strategy, *, profile: str, limit: int, first_space: str, settings: Settings | None
) -> Ranking:
    """Return the candidates that a strategy finds, and what each of them scores.

    Args:
        look: the question in the store.
        strategy: how to go about it.
        profile: from which side to look (`profiles.PROFILES`).
        limit: how many hits are wanted.
        first_space: the one that leads, where one does.
        settings: sizes and weights that a user may change.
    """
    pool = max(POOL, limit)
    if strategy is Strategy.E1_ONLY:
        nearest = {"e1": look.search_space("e1", pool)}
        nodes = look.load_candidates(nearest)
        return nodes, combine(nearest, nodes, profile=MEANING)
    if strategy is Strategy.EMBEDDER_FIRST:
        found = look.search_keywords(pool) if first_space == "e6" else look.search_space(first_space, pool)
        return look.load_candidates({first_space: found}), _scores_of_one(first_space, found)
    if strategy is Strategy.PIPELINE:
        assert settings is not None
        return _rank_in_stages(look, profile, settings)
    return _rank_by_all(look, profile, settings)


def _rank_by_all(look: SpaceScorer, profile: str, settings: Settings | None) -> Ranking:
    spaces = every_space(look)
    nodes = look.load_candidates(spaces)
    if settings is not None and settings.fusion == "rrf":
        spaces |= look.score_spaces(scored_spaces(look), nodes)
        fused = fuse_spaces(spaces, profile, settings)
        return nodes, {key: _fused_scores(key, spaces, fused[key]) for key in nodes}
    spaces |= _counting(look, nodes, profile)
    return nodes, combine(spaces, nodes, profile=profile, wanted=wanted(look.text))


def _rank_in_stages(look: SpaceScorer, profile: str, settings: Settings) -> Ranking:
    """Recall by E13, scan by E1, fuse by ranks, then order the best by E12 token by token."""
    stages = Stages.of(settings)
    spaces = recalled(look, stages)
    nodes = look.load_candidates(spaces)
    # E12 sees the last stage only: it costs most.
    spaces |= look.score_spaces([space for space in scored_spaces(look) if space != "e12"], nodes)
    fused = fuse_spaces(spaces, profile, settings)
    kept = sorted(fused, key=lambda key: (-fused[key], key))[: stages.fused]
    nodes = {key: nodes[key] for key in kept}
    spaces |= look.score_spaces(["e12"], nodes)
    return nodes, {
        # What has no token states keeps its place behind what has.
        key: _fused_scores(key, spaces, spaces.get("e12", {}).get(key, 0.0) + fused[key] / stages.fused)
        for key in kept
    }


def _counting(look: SpaceScorer, nodes: Mapping[NodeKey, SearchCandidate], profile: str) -> dict[str, Ranked]:
    """Return the scores in the spaces that the question speaks to, each of those memories that it counts for."""
    subtypes = {node.subtype for node in nodes.values()}
    spaces_of: dict[frozenset[str | None], list[str]] = {}
    for space in scored_spaces(look):
        if counting := frozenset(subtype for subtype in subtypes if counts(space, subtype, profile)):
            spaces_of.setdefault(counting, []).append(space)
    found: dict[str, Ranked] = {}
    for counting, spaces in spaces_of.items():
        found |= look.score_spaces(spaces, {key: node for key, node in nodes.items() if node.subtype in counting})
    return found


def _scores_of_one(space: str, found: Ranked) -> dict[NodeKey, Scores]:
    return {key: Scores(spaces={space: value}, parts={space: value}, total=value) for key, value in found.items()}


def _fused_scores(key: NodeKey, spaces: Mapping[str, Ranked], total: float) -> Scores:
    seen = {space: found[key] for space, found in spaces.items() if key in found}
    return Scores(spaces=seen, parts=seen, total=total)


def every_space(look: SpaceScorer) -> dict[str, Ranked]:
    """Return the scores by E1 and E6 of the most promising of what they and the helping spaces have found."""
    helpers = [look.search_space(space, FEW, roughly=True) for space in _helpers(look)]
    found = set(itertools.chain(look.search_space("e1", NEAREST, roughly=True), look.find_likely(), *helpers))
    keys = np.array(sorted(found), np.int64)
    best = keys[np.lexsort((keys, -_promises(look, keys)))[:PROMISING]]
    lifted = itertools.chain.from_iterable(itertools.islice(helper, LIFTED) for helper in helpers)
    kept = list(dict.fromkeys((*(NodeKey(key) for key in best.tolist()), *lifted)))
    return {"e1": look.cosines(kept), "e6": look.normalised_bm25(kept)}


def _promises(look: SpaceScorer, keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what memories, keys ascending, are likely to score, as `scoring` will have it."""
    near, words = look.estimate_cosines(keys), LIKELY_SHARE * look.upper_bounds(keys)
    # Words stand in for the meaning of what has no vector yet: what they are likely to reach would count twice, and
    # what was just indexed hide what answers, so they are counted.
    unseen = np.flatnonzero(np.isnan(near))
    exact = look.normalised_bm25(NodeKey(key) for key in keys[unseen].tolist())
    words[unseen] = near[unseen] = [exact.get(NodeKey(key), 0.0) for key in keys[unseen].tolist()]
    # What somebody asked to be remembered counts more, or a decision is lost among a hundred functions of its subject.
    return (near + words) * np.where(look.are_explicit(keys), ON_PURPOSE, 1.0)


def _helpers(look: SpaceScorer) -> list[str]:
    if not look.has_vectors:
        return []
    # A scan of E9 costs most, and helps where the words themselves can't be found. E7 finds no code that E1 or words
    # have not: what it knows better it says by lifting (docs/benchmarks.md, "Candidates").
    return [*(["e9"] if look.has_unknown_words else []), "e13"]


def recalled(look: SpaceScorer, stages: Stages) -> dict[str, Ranked]:
    """Return what two stages leave: E13 (with E6) recalls, a scan of E1's codes keeps the nearest of these.

    The scores by E1 and E6 are those of the memories kept; without any recalled, E1 looks at all.
    """
    found = dict.fromkeys((*look.search_space("e13", stages.recall), *look.search_keywords(min(stages.recall, stages.scan))))
    among = np.zeros(len(look.allowed), np.bool_)
    among[[int(key) for key in found]] = True
    meaning = look.search_space("e1", stages.scan, among & look.allowed if found else look.allowed)
    # What has no vector yet was recalled by its words and must not be lost to a scan that can't see it.
    unseen = [key for key in look.search_keywords(FEW) if key not in meaning]
    kept: Sequence[NodeKey] = [*meaning, *unseen]
    words = look.search_keywords(FEW, also=kept)
    return {"e1": meaning, "e6": {key: value for key, value in words.items() if key in meaning or key in unseen}}


def scored_spaces(look: SpaceScorer) -> tuple[str, ...]:
    """Return the spaces worth scoring candidates in: those that the question speaks to.

    E9 only where a word stands nowhere: of right words it knows less than E6.
    """
    left_out = () if look.has_unknown_words else ("e9",)
    return tuple(space for space in look.applicable_spaces() if space not in left_out)
