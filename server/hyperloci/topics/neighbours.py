"""Neighbours: nearest rows of a matrix, and rows moved towards them."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.store.vectors.bits import FloatArray

_BLOCK: Final = 1_000
"""Rows compared with all others at once: 40 MB of cosines at 10,000 rows."""


def find_nearest(rows: FloatArray, count: int) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the `count` nearest other rows of each unit row and their cosines, in no order."""
    indexes = np.empty((len(rows), count), np.int64)
    cosines = np.empty((len(rows), count), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK] @ rows.T
        block[np.arange(len(block)), np.arange(start, start + len(block))] = -np.inf
        best = np.argpartition(-block, count - 1, axis=1)[:, :count]
        indexes[start : start + _BLOCK] = best
        cosines[start : start + _BLOCK] = np.take_along_axis(block, best, 1)
    return indexes, cosines


def draw_together(rows: FloatArray, count: int, rounds: int) -> FloatArray:
    """Move every unit row half-way to the mean of its nearest, `rounds` times (mean shift over neighbours).

    Text vectors lie almost equally far from each other; after this, rows that belong together are dense.
    """
    for _ in range(rounds):
        indexes, _ = find_nearest(rows, count)
        moved = rows.copy()
        for start in range(0, len(rows), _BLOCK):
            moved[start : start + _BLOCK] += rows[indexes[start : start + _BLOCK]].mean(axis=1)
        norms = np.linalg.norm(moved, axis=1, keepdims=True)
        rows = np.asarray(moved / np.where(norms > 0, norms, 1), np.float32)
    return rows
