"""Unit vectors in two bytes a dimension (IEEE 754 binary16).

A component keeps eleven bits, so a cosine is off by some 1e-5: less than two texts of one meaning differ by, and a
tenth of what one byte a dimension costs (`store.vectors.int8`), which mixes up near twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

BYTES_PER_DIMENSION: Final = 2
"""Bytes a dimension."""


def pack_half(vector: NDArray[np.float32]) -> bytes:
    """Return a unit vector, two bytes a dimension."""
    return vector.astype(np.float16).tobytes()


def unpack_half(blobs: Sequence[bytes]) -> NDArray[np.float32]:
    """Return packed vectors, all as long as the first: shape (len(blobs), dimensions)."""
    rows = np.frombuffer(b"".join(blobs), np.float16).astype(np.float32)
    return rows.reshape(len(blobs), len(blobs[0]) // BYTES_PER_DIMENSION if blobs else 0)
