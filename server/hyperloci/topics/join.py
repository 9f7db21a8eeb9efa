"""Joining: puts new memories into the nearest topic between two runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperloci.model.kinds import NodeKey
from hyperloci.store.vectors import float16

if TYPE_CHECKING:
    from hyperloci.store import Store


def join_nearest_topics(store: Store, keys: Sequence[NodeKey], model_key: int, *, now: int) -> int:
    """Put memories with a new fingerprint into the topic whose centre in E1 is nearest, if it is near enough.

    Runs inside a transaction; returns how many joined. A memory that is near none leaves the topic it was in.
    """
    by_scope: dict[int, list[NodeKey]] = {}
    for scope, key in store.topics.find_joinable(keys):
        by_scope.setdefault(scope, []).append(key)
    return sum(_join_in_scope(store, scope, found, model_key, now) for scope, found in by_scope.items())


def _join_in_scope(store: Store, scope: int, keys: Sequence[NodeKey], model_key: int, now: int) -> int:
    centres = store.topics.list_centres(scope, model_key)
    if not centres:
        return 0
    means = np.frombuffer(b"".join(centre.centroid for centre in centres), np.float32).reshape(len(centres), -1)
    width = means.shape[1] * float16.BYTES_PER_DIMENSION
    vectors = {
        key: row[0] for key, row in store.vectors.get_rows(keys, ["e1"]).items() if row[0] and len(row[0]) == width
    }
    if not vectors:
        return 0
    matrix = float16.unpack_half(list(vectors.values()))
    cosines = matrix @ means.T
    store.topics.remove_members(vectors)
    joined = 0
    for key, row in zip(vectors, cosines, strict=True):
        best = int(row.argmax())
        if row[best] >= centres[best].floor:
            store.topics.add_members(centres[best].topic_key, {key: round(float(row[best]), 4)}, now=now)
            joined += 1
    return joined
