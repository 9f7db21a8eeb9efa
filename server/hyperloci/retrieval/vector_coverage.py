"""Embedded share: how many of the memories that a question may find have vectors, counted by two bitmaps."""

from __future__ import annotations

import numpy as np

from hyperloci.model.search import VectorCoverage
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.store import Store
from hyperloci.store.vectors.bits import BoolArray


def measure_vector_coverage(store: Store, seen: QueryFingerprint, allowed: BoolArray, *, now: int) -> VectorCoverage:
    """Return what share of the memories that a question's conditions allow has vectors of the question's model."""
    total = int(np.count_nonzero(allowed))
    model = store.vectors.find_model(seen.model_id)
    embedded = 0 if model is None else store.vectors.count_embedded(allowed, len(seen.dense["e1"]))
    waiting = max(0, total - embedded - store.vectors.count_given_up()) if embedded < total else 0
    pace = store.embedding_pace.get_pace(now=now) if waiting else None
    return VectorCoverage(
        embedded=embedded,
        total=total,
        waiting=waiting,
        seconds_left=None if pace is None else round(waiting / pace),
    )
