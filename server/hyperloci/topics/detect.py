"""Topic run: finds the topics of one scope and stores them. It takes seconds; only the embedder process does it."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from hyperloci.model.kinds import NodeKey
from hyperloci.model.topic import Topic, TopicPhase
from hyperloci.store.memories.topics import FoundTopic
from hyperloci.store.vectors import float16
from hyperloci.system.values import dataclass
from hyperloci.topics import topic_identity
from hyperloci.topics.clusters import cluster_view, min_cluster_size
from hyperloci.topics.join import join_nearest_topics
from hyperloci.topics.naming import choose_name, find_telling_terms
from hyperloci.topics.phase import RECALLED_MS, SETTLED_CHURN, next_phase
from hyperloci.topics.synthesis import TopicCluster, merge_clusters
from hyperloci.topics.views import read_views

if TYPE_CHECKING:
    from hyperloci.store import Store

logger = logging.getLogger(__name__)

MIN_MEMORIES: Final = 12
"""Scopes with fewer memories have no topics."""

MAX_CLUSTERED: Final = 10_000
"""Memories clustered in one run, half a minute on one core; of more, the newest half of it and a sample of the rest,
and all others join the topic whose centre they are near."""

DUE_CHANGE_SHARE: Final = 0.1
"""A new run is due when a tenth of the memories is new or gone..."""

REST_MS: Final = 600_000
"""...and the last run ten minutes past: indexing a project is not worth a run every minute."""

JOIN_BATCH: Final = 2_000

FLOOR_QUANTILE: Final = 0.1
"""What a new memory must have as cosine to a topic's centre: more than the tenth of its members that is farthest."""

MAX_NAMING_TEXTS: Final = 300
"""Members of a topic, the most typical, whose words are weighed for its name."""


def is_due(store: Store, scope_key: int, model_key: int, *, now: int) -> bool:
    """Return whether the topics of a scope are due for a new run."""
    run = store.topics.get_run(scope_key)
    # A clock that was set back must not put a run off for years.
    if run is not None and (run.wanted or 0 <= now - run.run_at < REST_MS):
        return run.wanted
    memories = store.topics.count_candidates(scope_key, model_key)
    if run is None:
        return memories >= MIN_MEMORIES
    return abs(memories - run.memories) > DUE_CHANGE_SHARE * max(run.memories, MIN_MEMORIES)


def detect_due_topics(store: Store, model_key: int, *, now: int) -> int:
    """Detect topics in every scope where a run is due; return the number of scopes."""
    scopes = [scope.key for scope in store.scopes.list_scopes() if is_due(store, scope.key, model_key, now=now)]
    for scope in scopes:
        detect_topics(store, scope, model_key, now=now)
    return len(scopes)


def detect_topics(store: Store, scope_key: int, model_key: int, *, now: int) -> int:
    """Detect the topics of a scope, store them and return their number."""
    everything = store.topics.list_candidates(scope_key, model_key)
    keys = sample_keys(everything, MAX_CLUSTERED)
    clusters = find_topics(store, keys) if len(everything) >= MIN_MEMORIES else []
    run = _DetectionRun(store, scope_key, model_key, now)
    with store.transaction():
        run.store_found(keys, clusters)
        store.topics.record_run(scope_key, len(everything), now=now)
    rest = sorted(set(everything) - set(keys))
    for start in range(0, len(rest), JOIN_BATCH):
        with store.transaction():
            join_nearest_topics(store, rest[start : start + JOIN_BATCH], model_key, now=now)
    logger.info("%d topics among %d memories", len(clusters), len(everything))
    return len(clusters)


def sample_keys(keys: Sequence[NodeKey], most: int) -> list[NodeKey]:
    """Return at most so many of the keys, in order: the newest half, and an even choice of the rest."""
    if len(keys) <= most:
        return list(keys)
    newest = most // 2
    older = keys[: len(keys) - newest]
    places = np.linspace(0, len(older) - 1, most - newest).astype(int)
    return [*(older[place] for place in np.unique(places)), *keys[-newest:]]


def find_topics(store: Store, keys: Sequence[NodeKey]) -> list[TopicCluster]:
    """Return the topics among memories, largest first; members are places in `keys`."""
    views = read_views(store, keys)
    labels = {view.space: cluster_view(view) for view in views}
    found = merge_clusters(views, labels, fewest=min_cluster_size(len(keys)))
    return sorted(found, key=lambda cluster: -len(cluster.members))


@dataclass(frozen=True, slots=True)
class _DetectionRun:
    store: Store
    scope_key: int
    model_key: int
    now: int

    def store_found(self, keys: Sequence[NodeKey], clusters: Sequence[TopicCluster]) -> None:
        topics = self.store.topics
        members = [{keys[row]: weight for row, weight in cluster.members.items()} for cluster in clusters]
        before = topics.get_members_at_run(self.scope_key)
        scope = next(scope.id for scope in self.store.scopes.list_scopes() if scope.key == self.scope_key)
        known = {topic.key: topic for topic in topics.list_of_scopes([scope])}
        matched = topic_identity.match_topics(before, members)
        names = self._name_topics(members)
        found = [
            self._build_topic(cluster, members[place], names[place], known.get(matched.get(place, -1)), before)
            for place, cluster in enumerate(clusters)
        ]
        merged = topic_identity.find_absorbed(before, members, matched)
        topics.replace_topics(
            self.scope_key, found, {key: found[place].id for key, place in merged.items()}, now=self.now
        )

    def _name_topics(self, members: Sequence[dict[NodeKey, float]]) -> list[tuple[str, ...]]:
        typical = [_most_typical_members(weights) for weights in members]
        nodes = self.store.nodes.get_by_keys([key for keys in typical for key in keys])
        texts = [[f"{nodes[key].title}\n{nodes[key].content}" for key in keys if key in nodes] for keys in typical]
        return find_telling_terms(texts)

    def _build_topic(
        self,
        cluster: TopicCluster,
        members: dict[NodeKey, float],
        words: tuple[str, ...],
        known: Topic | None,
        before: dict[int, set[NodeKey]],
    ) -> FoundTopic:
        churn = topic_identity.churn_share(before[known.key], members) if known else 0.0
        settled_at = known.settled_at if known and churn < SETTLED_CHURN else self.now
        recalled = len(self.store.topics.find_recalled_since(members, self.now - RECALLED_MS)) / len(members)
        recalled_before = known.recalled if known else 0.0
        centroid, floor = self._compute_centre(list(members))
        return FoundTopic(
            key=known.key if known else None,
            id=known.id if known else str(uuid.uuid4()),
            name=choose_name(words, known.name if known else ""),
            terms=words,
            phase=next_phase(
                known.phase if known else TopicPhase.EMERGING,
                age_ms=self.now - (known.created_at if known else self.now),
                settled_ms=self.now - settled_at,
                churn=churn,
                fewer_recalls=recalled < recalled_before,
            ),
            agreement=round(cluster.agreement, 4),
            strengths=cluster.strengths,
            churn=round(churn, 4),
            recalled=round(recalled, 4),
            recalled_before=recalled_before,
            settled_at=settled_at,
            model_key=self.model_key,
            centroid=centroid,
            floor=floor,
            members=members,
        )

    def _compute_centre(self, keys: Sequence[NodeKey]) -> tuple[bytes, float]:
        """Return the mean direction of members in E1, and the cosine to it that a new one must have."""
        rows = [row[0] for row in self.store.vectors.get_rows(keys, ["e1"]).values() if row[0]]
        width = len(rows[0])
        matrix = float16.unpack_half([row for row in rows if len(row) == width])
        mean = matrix.mean(axis=0)
        mean = (mean / max(float(np.linalg.norm(mean)), 1e-9)).astype(np.float32)
        return mean.tobytes(), float(np.quantile(matrix @ mean, FLOOR_QUANTILE))


def _most_typical_members(weights: Mapping[NodeKey, float]) -> list[NodeKey]:
    return sorted(weights, key=lambda key: (-weights[key], key))[:MAX_NAMING_TEXTS]
