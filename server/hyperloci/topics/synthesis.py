"""Synthesis: from clusters in each space to topics that the spaces agree on (E.09).

Clusters of different spaces that share members are one candidate. Then every memory goes to the candidate that the
spaces together, by weight, hold nearest; candidates and members settle in a few rounds. A space's strength for a topic
is the share of its members that this space alone would have put there, above chance. What does not reach a weighted
agreement of 2.5 is no topic. Vectors are never joined: each space compares its own, and only its say is added up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.topic import AGREEMENT_NEEDED, TOPIC_WEIGHTS
from hyperloci.store.vectors.bits import FloatArray
from hyperloci.system.values import dataclass
from hyperloci.topics.views import SpaceView, normalise_rows, rows_present

Labels = NDArray[np.int64]

MAX_JACCARD_DISTANCE: Final = 0.75
"""Clusters whose members overlap less (mean Jaccard distance above) are not one candidate; 0.7 to 0.9 differ by 0.02
of NMI at 1,000 memories and by nothing at 10,000."""

WEIGHT_NEEDED: Final = AGREEMENT_NEEDED
"""A candidate needs clusters in spaces of as much weight as a topic: with 1.5, 300 titles of 20 topics fall into 37
instead of 25 (docs/benchmarks/structure.md, "Topics")."""

CORE_SHARE: Final = 0.6
"""Members that so much of a candidate's weight names are its first members."""

ALIKE_COSINE: Final = 0.4
"""Candidates whose means have this cosine, over all spaces by weight, are one. The rows are centred, so that what has
nothing in common is at 0 or below; at 0.3 topics run together, at 0.5 and more `svn` and `subversion` stay two."""

ROUNDS: Final = 10
SETTLED_SHARE: Final = 0.001
"""Rounds end when fewer than one memory in a thousand moves."""

MIN_RELATIVE_NEARNESS: Final = 0.35
"""A memory belongs to a topic if it is at least so near as this share of what its members are in the middle."""


@dataclass(frozen=True, slots=True)
class TopicCluster:
    """A topic before it has a name.

    Attributes:
        members: row numbers, and how near each is to the topic, 0..1.
        strengths: by space, 0..1.
    """

    members: Mapping[int, float]
    strengths: Mapping[str, float]

    @property
    def agreement(self) -> float:
        """Sum of weight x strength over the spaces."""
        return sum(TOPIC_WEIGHTS[space] * strength for space, strength in self.strengths.items())


def merge_clusters(views: Sequence[SpaceView], labels: Mapping[str, Labels], *, fewest: int) -> list[TopicCluster]:
    """Return the topics that the spaces agree on.

    Args:
        views: of the spaces that see these memories.
        labels: each space's clusters (`clusters.cluster_view`).
        fewest: members that a topic has at least.
    """
    if not views:
        return []
    owner = _settle_members(views, _assign_first_members(labels, len(views[0].matrix)))
    near = _score_nearness(views, owner)
    owner = _drop_strangers(owner, near)
    while True:
        kept = [topic for topic in range(near.shape[1]) if _is_topic(views, near, owner, topic, fewest)]
        if len(kept) == near.shape[1]:
            break
        # Members of a dropped candidate may belong to another one.
        owner, near = _regroup(views, owner, kept)
    return [
        TopicCluster(_member_nearness(near, owner, topic), _space_strengths(views, owner, topic))
        for topic in range(near.shape[1])
    ]


# -- candidates -------------------------------------------------------------------------------------------------------


def _assign_first_members(labels: Mapping[str, Labels], size: int) -> Labels:
    """Return each memory's candidate topic, -1 for none."""
    sets = [
        (space, np.flatnonzero(found == number))
        for space, found in labels.items()
        for number in range(int(found.max(initial=-1)) + 1)
    ]
    owner = np.full(size, -1, np.int64)
    weights = np.zeros(size)
    number = 0
    for group in _group_clusters([members for _, members in sets]):
        support = _sum_support([sets[index] for index in group], size)
        if support.max() < WEIGHT_NEEDED:
            continue
        core = (support >= CORE_SHARE * support.max()) & (support > weights)
        owner[core], weights[core] = number, support[core]
        number += 1
    return owner


def _sum_support(sets: Sequence[tuple[str, Labels]], size: int) -> NDArray[np.float64]:
    """Return the weight of the spaces that put each memory into a group of clusters."""
    support = np.zeros(size)
    for space in {space for space, _ in sets}:
        members = np.unique(np.concatenate([found for name, found in sets if name == space]))
        support[members] += TOPIC_WEIGHTS[space]
    return support


def _group_clusters(sets: Sequence[Labels]) -> list[list[int]]:
    """Group clusters by the members they share (average linkage over Jaccard distances)."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    if len(sets) < 2:
        return [[index] for index in range(len(sets))]
    sizes = np.array([len(members) for members in sets])
    width = 1 + max(int(members.max()) for members in sets)
    table = np.zeros((len(sets), width), np.float32)
    for index, members in enumerate(sets):
        table[index, members] = 1
    shared = table @ table.T
    distance = 1 - shared / (sizes[:, None] + sizes[None] - shared)
    np.fill_diagonal(distance, 0)
    groups = fcluster(linkage(squareform(distance, checks=False), "average"), MAX_JACCARD_DISTANCE, "distance")
    return [np.flatnonzero(groups == group).tolist() for group in np.unique(groups)]


# -- rounds -----------------------------------------------------------------------------------------------------------


def _settle_members(views: Sequence[SpaceView], owner: Labels) -> Labels:
    owner = _renumber(owner)
    for _ in range(ROUNDS):
        if owner.max(initial=-1) < 0:
            return owner
        owner = _join_alike(views, owner)
        moved = _score_nearness(views, owner).argmax(axis=1)
        done = float((moved != owner).mean()) < SETTLED_SHARE
        owner = _renumber(moved)
        if done:
            break
    return owner


def _join_alike(views: Sequence[SpaceView], owner: Labels) -> Labels:
    """Merge candidates that are alike."""
    count = int(owner.max()) + 1
    alike = np.zeros((count, count))
    weight = np.zeros((count, count))
    for view in views:
        means = _topic_means(view, owner, count)
        there = rows_present(means)
        both = there[:, None] & there[None]
        alike += np.where(both, TOPIC_WEIGHTS[view.space] * (means @ means.T), 0)
        weight += np.where(both, TOPIC_WEIGHTS[view.space], 0)
    same = alike >= ALIKE_COSINE * np.maximum(weight, 1e-9)
    first = np.array([int(np.flatnonzero(same[index] | (np.arange(count) == index))[0]) for index in range(count)])
    return _renumber(np.where(owner >= 0, first[owner], -1))


def _renumber(owner: Labels) -> Labels:
    numbers, places = np.unique(owner, return_inverse=True)
    return places.astype(np.int64) - int(numbers[0] < 0)


def _topic_means(view: SpaceView, owner: Labels, count: int) -> FloatArray:
    """Return the mean direction of each topic's members in one space; zeros where it sees none of them."""
    sums = np.zeros((count, view.matrix.shape[1]), np.float32)
    mine = (owner >= 0) & view.present
    np.add.at(sums, owner[mine], view.matrix[mine])
    return normalise_rows(sums)


def _score_nearness(views: Sequence[SpaceView], owner: Labels) -> FloatArray:
    """Return how near each memory is to each topic: cosines by space, weighted, over the spaces that see the memory."""
    count = int(owner.max(initial=-1)) + 1
    near = np.zeros((len(owner), count), np.float32)
    weight = np.zeros((len(owner), 1), np.float32)
    for view in views:
        near += TOPIC_WEIGHTS[view.space] * (view.matrix @ _topic_means(view, owner, count).T)
        weight[view.present] += TOPIC_WEIGHTS[view.space]
    return np.asarray(near / np.maximum(weight, 1e-9), np.float32)


def _drop_strangers(owner: Labels, near: FloatArray) -> Labels:
    """Leave out memories that are nearest to a topic and still far from it."""
    kept = owner.copy()
    for topic in range(near.shape[1]):
        mine = owner == topic
        own = near[mine, topic]
        kept[np.flatnonzero(mine)[own < MIN_RELATIVE_NEARNESS * np.median(own)]] = -1
    return kept


def _regroup(views: Sequence[SpaceView], owner: Labels, kept: Sequence[int]) -> tuple[Labels, FloatArray]:
    left = _renumber(np.where(np.isin(owner, kept), owner, -1))
    near = _score_nearness(views, left)
    if not near.shape[1]:
        return left, near
    moved = np.where(left >= 0, left, near.argmax(axis=1))
    return _drop_strangers(moved, near), near


# -- judgement --------------------------------------------------------------------------------------------------------


def _is_topic(views: Sequence[SpaceView], near: FloatArray, owner: Labels, topic: int, fewest: int) -> bool:
    if int((owner == topic).sum()) < fewest:
        return False
    return TopicCluster({}, _space_strengths(views, owner, topic)).agreement >= AGREEMENT_NEEDED


def _space_strengths(views: Sequence[SpaceView], owner: Labels, topic: int) -> dict[str, float]:
    """Return, by space, the share of a topic's members that the space alone would put there, above chance."""
    count = int(owner.max()) + 1
    mine = owner == topic
    # One choice more than there are topics: none of them, where nothing is near.
    chance = 1 / (count + 1)
    strengths = {}
    for view in views:
        cosines = view.matrix[mine] @ _topic_means(view, owner, count).T
        best = (cosines.argmax(axis=1) == topic) & (cosines[:, topic] > 0) & view.present[mine]
        strengths[view.space] = round(max(0.0, (float(best.mean()) - chance) / (1 - chance)), 4)
    return strengths


def _member_nearness(near: FloatArray, owner: Labels, topic: int) -> dict[int, float]:
    rows = np.flatnonzero(owner == topic)
    return {int(row): round(float(min(1.0, max(0.0, near[row, topic]))), 4) for row in rows}
