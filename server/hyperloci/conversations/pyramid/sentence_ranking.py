"""Sentence ranking: which sentences represent a chunk: LexRank with a prior, without repetition (C.05).

A sentence that is similar to many central sentences is central (Erkan & Radev 2004). The random walk restarts at what
is worth keeping by itself (`sentence_features`): goals, decisions, limits, outcomes. Similarity is that of words
(TF-IDF within the chunk), and of meaning too if there are vectors.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from hyperloci.conversations.pyramid.sentence_features import estimate_worth
from hyperloci.conversations.pyramid.turn_sentences import TurnSentence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32] | None"]
"""Returns a unit vector a text, or None where there are none to be had."""

RESTART: Final = 0.35
"""How often the walk begins anew: LexRank's 0.15 lets long assistant answers, all alike, drown the user."""

STEPS: Final = 40
"""Of the walk: it has settled to three digits after twenty."""

FLOOR: Final = 0.1
"""Sentences less alike than this are not joined."""

REPEATS: Final = 0.55
"""How much of its rank a sentence loses that says what is chosen already."""

WALKED: Final = 0.5
"""How much of a sentence's rank is where the walk ends; the rest is what the sentence shows by itself. With the walk
alone an assistant's long answer, like itself throughout, drowned what the user asked for and decided: of what is worth
keeping of recorded sessions their summaries held .52, now .67, in as many characters."""

MIN_WORTH: Final = 0.12
"""A sentence that shows less stands in a summary only where none shows more."""

FULL_TERMS: Final = 9
"""Distinct terms of a sentence that says something; "Wow, that's great, Caroline!" is as central as it is empty."""


def rank_sentences(
    found: Sequence[TurnSentence], embed: Embed | None = None
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return each sentence's rank (they sum to 1) and their pairwise similarity, 0..1."""
    import numpy as np

    alike = _compute_likeness(found, embed)
    joined = np.where(alike >= FLOOR, alike, 0)
    np.fill_diagonal(joined, 0)
    total = joined.sum(axis=1, keepdims=True)
    walk = np.divide(joined, total, out=np.zeros_like(joined), where=total > 0)
    worth = np.array([estimate_worth(sentence) for sentence in found], np.float32)
    start = worth / worth.sum()
    said = np.array([min(1.0, len(set(sentence.terms)) / FULL_TERMS) for sentence in found], np.float32)
    ranks = start.copy()
    for _ in range(STEPS):
        ranks = RESTART * start + (1 - RESTART) * (ranks @ walk + start * ranks[total[:, 0] == 0].sum())
    ranks = worth * said * (1 - WALKED + WALKED * ranks / ranks.max())
    if worth.max() >= MIN_WORTH:
        ranks[worth < MIN_WORTH] = 0
    return ranks / ranks.sum(), alike


def choose_sentences(
    found: Sequence[TurnSentence],
    ranks: NDArray[np.float32],
    alike: NDArray[np.float32],
    fits: Callable[[TurnSentence], bool],
    limit: int,
) -> list[TurnSentence]:
    """Return the best sentences that fit, none saying what another has said, in the order in which they were said."""
    import numpy as np

    scores = ranks.astype(np.float64).copy()
    chosen: list[int] = []
    for _ in range(len(found)):
        best = int(np.argmax(scores))
        if scores[best] <= 0 or len(chosen) >= limit:
            break
        scores[best] = 0
        if not fits(found[best]):
            continue
        chosen.append(best)
        scores *= 1 - REPEATS * alike[best]
    return [found[place] for place in sorted(chosen)]


def _compute_likeness(found: Sequence[TurnSentence], embed: Embed | None) -> NDArray[np.float32]:
    import numpy as np

    words = _word_likeness(found)
    vectors = None if embed is None else embed([sentence.text for sentence in found])
    if vectors is None or len(vectors) != len(found):
        return words
    return np.asarray((words + np.clip(vectors @ vectors.T, 0, 1)) / 2, np.float32)


def _word_likeness(found: Sequence[TurnSentence]) -> NDArray[np.float32]:
    import numpy as np

    holding = Counter(term for sentence in found for term in set(sentence.terms))
    columns = {term: number for number, term in enumerate(holding)}
    weights = np.zeros((len(found), len(columns)), np.float32)
    for row, sentence in enumerate(found):
        for term, count in Counter(sentence.terms).items():
            weights[row, columns[term]] = (1 + math.log(count)) * math.log(1 + len(found) / holding[term])
    norms = np.linalg.norm(weights, axis=1, keepdims=True)
    weights /= np.where(norms > 0, norms, 1)
    return np.asarray(np.clip(weights @ weights.T, 0, 1), np.float32)
