"""Clusters within one space: HDBSCAN over rows that were drawn together (E.09).

On MiniLM's vectors as they are, HDBSCAN calls 41 to 66 % of 10,000 question titles noise and splits the rest into
hundreds of clusters (NMI 0.32 to 0.54 against 20 known topics). Over rows drawn to their neighbours the same titles
give 16 to 28 clusters a space with 15 to 26 % noise (NMI 0.57 to 0.71; docs/benchmarks/structure.md, "Topics").
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.topics.neighbours import draw_together
from hyperloci.topics.views import SEED, SpaceView

MIN_CLUSTER_SIZE: Final = 3
MIN_SAMPLES: Final = 2
"""E.09."""

MEMORIES_PER_MEMBER: Final = 100
"""Above 300 memories a cluster needs one in a hundred of them: a thousand topics of three would be useless."""

NEIGHBOURS_SHARE: Final = 0.6
MIN_NEIGHBOURS: Final = 5
ROUNDS: Final = 3
"""Rows are drawn three times to as many neighbours as six tenths of the smallest cluster; thirty to sixty at 10,000
differ by 0.02 of NMI, and twice the rounds split topics again."""

COMPONENTS: Final = 16
"""HDBSCAN compares distances, and those tell most in few dimensions."""


def min_cluster_size(memories: int) -> int:
    """Return how many members a cluster needs among so many memories."""
    return max(MIN_CLUSTER_SIZE, memories // MEMORIES_PER_MEMBER)


def cluster_view(view: SpaceView) -> NDArray[np.int64]:
    """Return the cluster of each memory in one space, -1 for noise and where the space is absent."""
    from sklearn.cluster import HDBSCAN

    labels = np.full(len(view.matrix), -1, np.int64)
    rows = view.matrix[view.present]
    size = min_cluster_size(len(rows))
    if len(rows) < 2 * size:
        return labels
    count = min(max(MIN_NEIGHBOURS, round(NEIGHBOURS_SHARE * size)), len(rows) - 1)
    found = HDBSCAN(min_cluster_size=size, min_samples=MIN_SAMPLES, copy=True)
    labels[view.present] = found.fit_predict(_reduce_components(draw_together(rows, count, ROUNDS)))
    return labels


def _reduce_components(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    from sklearn.decomposition import PCA

    wanted = min(COMPONENTS, rows.shape[1], len(rows) - 1)
    components: NDArray[np.float64] = PCA(wanted, random_state=SEED).fit_transform(rows.astype(np.float64))
    return components
