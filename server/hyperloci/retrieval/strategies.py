"""The four ways to answer a question: meaning alone, all spaces, four stages, one space first (E.06).

Every strategy returns scores by space for its candidates; `scoring` and `fusion` put them in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.config import Settings
from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.scoring import ON_PURPOSE
from hyperloci.retrieval.spacewise import Ranked, Spacewise
from hyperloci.spaces.space import SPACES
from hyperloci.store.bits import BoolArray

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
"""Spaces that may lead; E4 needs a moment of a session to begin at: that is `timeline`."""


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


def meaning_alone(look: Spacewise, limit: int) -> dict[str, Ranked]:
    """Return the nearest by E1 and nothing else."""
    return {"e1": look.near("e1", max(POOL, limit))}


def every_space(look: Spacewise) -> dict[str, Ranked]:
    """Return the scores by E1 and E6 of the most promising of what they and the helping spaces have found."""
    helpers = [look.near(space, FEW, roughly=True) for space in _helpers(look)]
    found = set(itertools.chain(look.near("e1", NEAREST, roughly=True), look.said.likely(), *helpers))
    keys = np.array(sorted(found), np.int64)
    best = keys[np.lexsort((keys, -_promises(look, keys)))[:PROMISING]]
    lifted = itertools.chain.from_iterable(itertools.islice(helper, LIFTED) for helper in helpers)
    kept = list(dict.fromkeys((*(NodeKey(key) for key in best.tolist()), *lifted)))
    return {"e1": look.cosines(kept), "e6": look.said.shares(kept)}


def _promises(look: Spacewise, keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what memories, keys ascending, are likely to score, as `scoring` will have it."""
    near, words = look.estimates(keys), LIKELY_SHARE * look.said.bounds(keys)
    # Words stand in for the meaning of what has no vector yet: what they are likely to reach would count twice, and
    # what was just indexed hide what answers, so they are counted.
    unseen = np.flatnonzero(np.isnan(near))
    exact = look.said.shares(NodeKey(key) for key in keys[unseen].tolist())
    words[unseen] = near[unseen] = [exact.get(NodeKey(key), 0.0) for key in keys[unseen].tolist()]
    # What somebody asked to be remembered counts more, or a decision is lost among a hundred functions of its subject.
    return (near + words) * np.where(look.told(keys), ON_PURPOSE, 1.0)


def _helpers(look: Spacewise) -> list[str]:
    if not look.has_vectors:
        return []
    # A scan of E9 costs most, and helps where the words themselves can't be found. E7 finds no code that E1 or words
    # have not: what it knows better it says by lifting (docs/benchmarks.md, "Candidates").
    return [*(["e9"] if look.misspelled else []), "e13"]


def one_first(look: Spacewise, space: str, limit: int) -> dict[str, Ranked]:
    """Return what one space finds nearest (E.14)."""
    if space == "e6":
        return {"e6": look.words(max(POOL, limit))}
    return {space: look.near(space, max(POOL, limit))}


def recalled(look: Spacewise, stages: Stages, allowed: BoolArray) -> dict[str, Ranked]:
    """Return what two stages leave: E13 (with E6) recalls, a scan of E1's codes keeps the nearest of these.

    The scores by E1 and E6 are those of the memories kept; without any recalled, E1 looks at all.
    """
    found = dict.fromkeys((*look.near("e13", stages.recall), *look.words(min(stages.recall, stages.scan))))
    among = np.zeros(len(allowed), np.bool_)
    among[[int(key) for key in found]] = True
    meaning = look.near("e1", stages.scan, among & allowed if found else allowed)
    # What has no vector yet was recalled by its words and must not be lost to a scan that can't see it.
    unseen = [key for key in look.words(FEW) if key not in meaning]
    kept: Sequence[NodeKey] = [*meaning, *unseen]
    words = look.words(FEW, also=kept)
    return {"e1": meaning, "e6": {key: value for key, value in words.items() if key in meaning or key in unseen}}


def scored_spaces(look: Spacewise) -> tuple[str, ...]:
    """Return the spaces worth scoring candidates in: those that the question speaks to.

    E9 only where a word stands nowhere: of right words it knows less than E6.
    """
    left_out = () if look.misspelled else ("e9",)
    return tuple(space for space in look.speaks() if space not in left_out)
