"""Nearby code: what stands in a file near other code that answers is likelier to answer too.

Who asks in words of their own seldom says what a function is called by, but often what its neighbours are: those who
call it, fill it or are its other half.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.nodes import NodeSource

NEARBY_LINES: Final = 250
NEARBY_WEIGHT: Final = 0.1
"""What the best piece of code whose first line is at most so many lines away adds to another one of its file, of its
score, where a place is asked for: of 119 questions on ten repositories 60 instead of 54 are answered at once, as many
among five. Open questions gain two among five on six of these and lose one at once; who asks for a setting loses
documents to code (docs/benchmarks/questions.md, "Nearby code")."""


def score_nearby_code(totals: Mapping[NodeKey, float], sources: Mapping[NodeKey, NodeSource]) -> dict[NodeKey, float]:
    """Return what the best other code near it adds to each piece of code that has some.

    Args:
        totals: the scores of all candidates.
        sources: where the candidates stand.
    """
    files: dict[str, list[tuple[int, NodeKey]]] = defaultdict(list)
    for key in totals:
        source = sources.get(key)
        if source is not None and source.subtype == "code" and source.path is not None and source.line is not None:
            files[source.path].append((source.line, key))
    return {
        key: NEARBY_WEIGHT * best
        for pieces in files.values()
        for line, key in pieces
        if (best := _find_best(pieces, line, key, totals)) > 0.0
    }


def _find_best(pieces: list[tuple[int, NodeKey]], line: int, key: NodeKey, totals: Mapping[NodeKey, float]) -> float:
    near = (totals[other] for at, other in pieces if other != key and abs(at - line) <= NEARBY_LINES)
    return max(near, default=0.0)
