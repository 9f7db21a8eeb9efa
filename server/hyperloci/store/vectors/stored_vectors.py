"""Stored vectors: how those of each space lie in a row, and the codes that scans compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from hyperloci.store.vectors import float16, int8
from hyperloci.store.vectors.bits import FloatArray, unpack_signs
from hyperloci.store.vectors.scan_codes import WORD_BITS, make_sign_code, make_size_code, words_per_code

CODE_BITS: Final = {"e1": 2}
"""Bits a dimension of the codes of a space, 1 elsewhere (`store.vectors.scan_codes`)."""

FLOAT_SPACE: Final = "e1"
"""Stored as `half`, the other dense spaces as `int8`."""

BIT_SPACE: Final = "e9"
"""Its column holds bits, a query one sign a bit."""


def make_code(space: str, blob: bytes) -> bytes:
    """Return the bits that a scan compares: a dense vector's signs (E1: and sizes), or E9's bits, in whole words."""
    if space == BIT_SPACE:
        return blob.ljust(words_per_code(len(blob) * 8) * WORD_BITS // 8, b"\0")
    if space == FLOAT_SPACE:
        vector = float16.unpack_half([blob])[0]
        return make_sign_code(vector) + make_size_code(vector)
    return make_sign_code(np.frombuffer(blob, np.int8))


def unpack_vectors(space: str, blobs: Sequence[bytes], dimensions: int) -> FloatArray:
    """Return stored vectors of one space as unit vectors, shape (len(blobs), dimensions)."""
    if space == FLOAT_SPACE:
        return float16.unpack_half(blobs).reshape(len(blobs), dimensions)
    if space == BIT_SPACE:
        return np.asarray(unpack_signs(blobs, dimensions) / np.float32(np.sqrt(dimensions)), dtype=np.float32)
    return int8.unpack_int8(blobs, dimensions)


def bytes_per_code(space: str, dimensions: int) -> int:
    """Return how many bytes the code of a vector has."""
    return CODE_BITS.get(space, 1) * words_per_code(dimensions) * WORD_BITS // 8


def bytes_per_vector(space: str, dimensions: int) -> int:
    """Return how many bytes a vector of one space has."""
    if space == FLOAT_SPACE:
        return float16.BYTES_PER_DIMENSION * dimensions
    return -(-dimensions // 8) if space == BIT_SPACE else dimensions


def dimensions_of(space: str, width: int) -> int:
    """Return how many dimensions a vector of so many bytes has."""
    if space == FLOAT_SPACE:
        return width // float16.BYTES_PER_DIMENSION
    return width * 8 if space == BIT_SPACE else width
