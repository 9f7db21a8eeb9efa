"""Reranker: candidates of one kind in the order of learned weights; what each kind scores stays as the rule has it.

The weights (`data/ranking_weights.json`, from `python -m bench train_ranking`) make log-odds of being the answer out of
`ranking_features`, for what was said and for documents apart. They order the candidates of one kind among themselves
and hand out the scores that the rule (`scoring`) gave these, best first: floors and the balance between kinds were
chosen for the rule's scores, and no question with answers of two kinds was there to learn from. Code keeps the rule's
order: weights learned from docstrings gain nothing on functions that they had not read (docs/benchmarks/ranking.md,
"Reranking").
"""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import SearchCandidate
from hyperloci.retrieval.reranking.ranking_features import FEATURES, measure_candidates
from hyperloci.retrieval.scoring import LONG_TURN_CHARS, SHORT_TURN_CHARS, Scores, SpaceScores
from hyperloci.retrieval.sources.content_kind import ContentKind, tell_content_kind

WEIGHTS: Final = Path(__file__).parent / "data" / "ranking_weights.json"

NEEDED: Final = ("e1", "e6", "e13")
"""Spaces without which nothing is reranked: the weights were learned with all of them."""


@functools.cache
def load_weights() -> Mapping[ContentKind, NDArray[np.float64]]:
    """Return the weights of each kind, in the order of FEATURES."""
    tables = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return {ContentKind(kind): np.array([table.get(name, 0.0) for name in FEATURES]) for kind, table in tables.items()}


def rerank_candidates(
    text: str, spaces: SpaceScores, nodes: Mapping[NodeKey, SearchCandidate], scores: Mapping[NodeKey, Scores]
) -> dict[NodeKey, Scores]:
    """Return the scores, handed out anew within each kind by the learned weights.

    What has no vector yet keeps its score: the weights know nothing of it. Without one of the spaces that they need,
    everything does.
    """
    if any(space not in spaces for space in NEEDED):
        return dict(scores)
    learned, rows = load_weights(), dict[ContentKind, list[int]]()
    keys = list(nodes)
    for row, key in enumerate(keys):
        if key in spaces["e1"] and (kind := tell_content_kind(nodes[key])) in learned:
            rows.setdefault(kind, []).append(row)
    if not rows:
        return dict(scores)
    measured = measure_candidates(text, spaces, nodes, scores, rows=sorted(itertools.chain(*rows.values())))
    answer = dict(scores)
    for kind, places in rows.items():
        weights = learned[kind]
        if kind is ContentKind.SAID:
            weights = _trust_weights(weights, [len(nodes[keys[row]].content) for row in places])
        factors = np.array([scores[keys[row]].factor for row in places])
        added = measured[places] * weights * factors[:, None]
        parts, judged = added.tolist(), added.sum(axis=1)
        # Of equals the rule's best comes first, as without weights.
        totals = np.array([scores[keys[row]].total for row in places])
        order = np.lexsort((np.array([keys[row] for row in places]), -totals, -judged))
        for place, total in zip(order.tolist(), sorted(totals.tolist(), reverse=True), strict=True):
            key = keys[places[place]]
            known = scores[key]
            answer[key] = Scores(
                spaces=known.spaces,
                parts=known.parts,
                total=total,
                factor=known.factor,
                learned=dict(zip(FEATURES, parts[place], strict=True)),
            )
    return answer


def _trust_weights(weights: NDArray[np.float64], lengths: list[int]) -> NDArray[np.float64]:
    """Return the weights for turns of these lengths: the rule's score alone where they are long.

    Learned from turns of 80 characters on average, they know nothing of messages of thousands, in which every form of
    answer stands somewhere (docs/benchmarks/ranking.md, "Reranking"). Between the two lengths they move evenly, as the
    weight of meaning does.
    """
    share = (LONG_TURN_CHARS - sum(lengths) / len(lengths)) / (LONG_TURN_CHARS - SHORT_TURN_CHARS)
    share = min(1.0, max(0.0, share))
    rule = np.zeros(len(FEATURES))
    rule[0] = max(1.0, float(weights[0]))
    return share * weights + (1.0 - share) * rule
