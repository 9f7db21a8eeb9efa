"""Token states (E12): a text token by token, packed for reranking by MaxSim (Khattab & Zaharia 2020).

The token states of the whole text, windows behind the model's first one too, are pooled over up to 96 spans, parted
where neighbours are least alike, turned by a fixed random rotation, and kept as 192 signs each: 2,304 bytes at most.
A question keeps its floats. Cosines are estimated from signs as in RaBitQ (Gao & Long 2024). What this costs, and what
else was tried: docs/why/spaces.md, "Token states: signs of spans".
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Final

import numpy as np

from hyperloci.spaces.spelling import SIGN_COSINE
from hyperloci.store.vectors.bits import FloatArray, sum_set_components

MAX_SPANS: Final = 96
"""Vectors a memory: recall grows up to here, and 8 KB a memory is the limit for all spaces together (E.12)."""

TOKEN_BITS: Final = 192
"""Signs a vector; 96 spans of 192 bits rank better than 48 of 384 or 144 of 128 in the same bytes."""

_QUERY_TOKENS: Final = 48
"""A question that is longer is pooled too: each of its tokens is compared with every span of every candidate."""

_ROTATION_SEED: Final = 12


def pack_token_vectors(states: FloatArray) -> bytes | None:
    """Return a text's token states as packed signs, one row per span; None for a text without tokens."""
    if not len(states):
        return None
    turned = pool_rows(states, MAX_SPANS) @ _random_rotation(states.shape[1])
    return np.packbits(turned > 0, axis=1, bitorder="little").tobytes()


def query_token_vectors(states: FloatArray) -> FloatArray | None:
    """Return a question's tokens in the rotated space, rows of length one; None for one without tokens."""
    if not len(states):
        return None
    return _normalise_rows(pool_rows(states, _QUERY_TOKENS) @ _random_rotation(states.shape[1]))


def score_max_sim(query: FloatArray, blobs: Sequence[bytes]) -> FloatArray:
    """Return per memory the mean over the question's tokens of the best estimated cosine with a span, 0..1."""
    width = query.shape[1]
    size = -(-width // 8)
    bounds = np.cumsum([0, *(len(blob) // size for blob in blobs)])[:-1]
    packed = np.frombuffer(b"".join(blobs), np.uint8).reshape(-1, size)
    # q . (2b - 1) is 2 q . b - sum(q).
    sums, step = sum_set_components(packed, query)
    best = 2 * step * np.maximum.reduceat(sums, bounds) - query.sum(axis=1)
    return np.asarray(np.clip(best.mean(axis=1) / (np.sqrt(width) * SIGN_COSINE), 0.0, 1.0), dtype=np.float32)


def pool_rows(rows: FloatArray, count: int) -> FloatArray:
    """Return the unit means of up to `count` runs of unit rows, parted where neighbours are least alike."""
    if len(rows) <= count:
        return rows
    likeness = np.einsum("ij,ij->i", rows[1:], rows[:-1])
    cuts = np.argsort(likeness, kind="stable")[: count - 1] + 1
    return _normalise_rows(np.add.reduceat(rows, np.concatenate(([0], np.sort(cuts))), axis=0))


def _normalise_rows(rows: FloatArray) -> FloatArray:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, np.float32(1e-12)), dtype=np.float32)


@functools.cache
def _random_rotation(dimensions: int) -> FloatArray:
    """Return the first columns of a random rotation, (dimensions, 192 at most); the same everywhere.

    RandomState's stream is frozen (NEP 19), and the decomposition is made unique by the diagonal's signs.
    """
    square = np.random.RandomState(_ROTATION_SEED).standard_normal((dimensions, dimensions))
    rotation, triangle = np.linalg.qr(square)
    return np.ascontiguousarray((rotation * np.sign(np.diag(triangle)))[:, :TOKEN_BITS], dtype=np.float32)
