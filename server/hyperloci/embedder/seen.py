"""A question's fingerprint as a message, and back: a JSON header and raw float32, as everything on this wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.wire import WireError
from hyperloci.spaces.query import QueryFingerprint

_TOKENS: Final = "e12"


def to_message(seen: QueryFingerprint) -> tuple[dict[str, Any], bytes]:
    """Return header and body."""
    matrices = {column: vector[None, :] for column, vector in seen.dense.items()}
    if seen.tokens is not None:
        matrices[_TOKENS] = seen.tokens
    header = {
        "ok": True,
        "model_id": seen.model_id,
        "shapes": {column: list(matrix.shape) for column, matrix in matrices.items()},
        "bits": None if seen.bits is None else seen.bits.hex(),
        "terms": {term: round(float(weight), 6) for term, weight in seen.terms.items()},
        "weigh_terms": seen.weigh_terms,
    }
    return header, b"".join(matrix.astype("<f4", copy=False).tobytes() for matrix in matrices.values())


def from_message(header: Mapping[str, Any], body: bytes | bytearray) -> QueryFingerprint:
    """Read what `to_message` wrote.

    Raises:
        WireError: it is no such message.
    """
    try:
        matrices = _matrices(header["shapes"], body)
        tokens = matrices.pop(_TOKENS, None)
        bits = header["bits"]
        return QueryFingerprint(
            model_id=str(header["model_id"]),
            dense={column: matrix[0] for column, matrix in matrices.items()},
            bits=None if bits is None else bytes.fromhex(bits),
            tokens=tokens,
            terms={str(term): float(weight) for term, weight in header["terms"].items()},
            weigh_terms=bool(header["weigh_terms"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise WireError(f"The embedder's answer cannot be used: {error!r}") from error


def _matrices(shapes: Mapping[str, Any], body: bytes | bytearray) -> dict[str, NDArray[np.float32]]:
    flat = np.frombuffer(body, dtype="<f4").astype(np.float32, copy=False)
    matrices: dict[str, NDArray[np.float32]] = {}
    start = 0
    for column, (rows, width) in shapes.items():
        end = start + int(rows) * int(width)
        if int(rows) < 0 or int(width) < 1 or end > flat.size:
            raise ValueError(f"shapes {shapes} do not fit {flat.size} numbers")
        matrices[column] = flat[start:end].reshape(int(rows), int(width))
        start = end
    if start != flat.size:
        raise ValueError(f"shapes {shapes} do not fit {flat.size} numbers")
    return matrices
