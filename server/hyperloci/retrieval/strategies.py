"""The four ways to answer a question: meaning alone, all spaces, four stages, one space first (E.06).

Every strategy returns scores by space for its candidates; `scoring` and `fusion` put them in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from hyperloci.config import Settings
from hyperloci.model.kinds import NodeKey
from hyperloci.retrieval.scoring import ON_PURPOSE
from hyperloci.retrieval.spacewise import Ranked, Spacewise
from hyperloci.spaces.space import SPACES
from hyperloci.store.filters import BoolArray

POOL: Final = 100
"""Candidates a space: with fewer, hits are lost that the other space would have lifted; more change nothing."""

FEW: Final = 50
"""Candidates of a space that only helps."""

PROMISING: Final = 100
"""Candidates that every space scores, the best by E1 and E6 together: with all of them, or with 150, no development set
gains more than 0.2 points of recall@10; with 60, LoCoMo loses 0.8 (docs/benchmarks.md, "Candidates")."""

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


def every_space(look: Spacewise, code: bool) -> dict[str, Ranked]:
    """Return the scores by E1 and E6 of the most promising of what they and the helping spaces have found.

    Args:
        look: the question.
        code: whether code is among what may be found: E7 sees nothing else.
    """
    meaning = look.near("e1", POOL)
    helpers = [look.near(space, FEW) for space in _helpers(look, code)]
    found = dict.fromkeys(itertools.chain(meaning, *helpers))
    words = look.words(POOL, also=found)
    found |= dict.fromkeys(words)
    meaning |= look.cosines([key for key in found if key not in meaning])
    told = look.told(found)

    def promise(key: NodeKey) -> float:
        # As `scoring` will have it: words stand in for the meaning of what has no vector yet, and what somebody asked
        # to be remembered counts for more. Without that a decision is lost among a hundred functions of its subject.
        exact = words.get(key, 0.0)
        return (meaning.get(key, exact) + exact) * (ON_PURPOSE if key in told else 1.0)

    best = sorted(found, key=lambda key: (-promise(key), key))[:PROMISING]
    kept = dict.fromkeys(itertools.chain(best, *(itertools.islice(helper, LIFTED) for helper in helpers)))
    return {"e1": _of(kept, meaning), "e6": _of(kept, words)}


def _of(keys: Iterable[NodeKey], scores: Ranked) -> Ranked:
    return {key: scores[key] for key in keys if key in scores}


def _helpers(look: Spacewise, code: bool) -> list[str]:
    if not look.has_vectors:
        return []
    # A scan of E9 costs more than all else together; it helps where the words themselves can't be found.
    return [*(["e7"] if code else []), *(["e9"] if look.misspelled else []), "e13"]


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
