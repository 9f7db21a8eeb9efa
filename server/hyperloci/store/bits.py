"""Packed signs of vectors, and what they add up to with vectors of floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

_BYTES: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1, bitorder="little").astype(
    np.float32
)
"""The bits of each value of a byte, shape (256, 8)."""


def signs_of(blobs: Sequence[bytes], bits: int) -> FloatArray:
    """Return packed bits as -1 and 1, shape (len(blobs), bits)."""
    packed = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -(-bits // 8))
    return np.unpackbits(packed, axis=1, count=bits, bitorder="little").astype(np.float32) * 2 - 1


def sums_of_set(packed: NDArray[np.uint8], vectors: FloatArray) -> FloatArray:
    """Return per row and vector the sum of the vector's components whose bit is set in the row.

    What a byte adds is looked up: a third of the time that unpacking and multiplying take (12,000 rows of 192 bits and
    14 vectors: 1.2 ms against 3.3 on one core).

    Args:
        packed: shape (rows, bytes), the first dimension in the lowest bit.
        vectors: shape (count, dimensions); bits behind the last dimension count nothing.

    Returns:
        Shape (rows, count).
    """
    rows, width = packed.shape
    count, dimensions = vectors.shape
    filled = np.zeros((count, 8 * width), np.float32)
    filled[:, :dimensions] = vectors
    table = np.ascontiguousarray(
        (filled.reshape(count * width, 8) @ _BYTES.T).reshape(count, width, 256).transpose(1, 2, 0)
    )
    columns = np.ascontiguousarray(packed.T)
    sums = np.zeros((rows, count), np.float32)
    for place, column in enumerate(columns):
        sums += table[place].take(column, axis=0)
    return sums
