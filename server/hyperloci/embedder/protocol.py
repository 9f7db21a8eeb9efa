"""Embedder protocol: frames with a JSON header and a body of raw float32.

A connection carries one request and its answer. Nothing is ever unpickled. Every read and write has a deadline on the
monotonic clock and a size limit.
"""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hyperloci.errors import EmbedderError
from hyperloci.system.framing import FrameError, Framing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperloci.spaces.query import QueryFingerprint

VERSION: Final = 1
"""Part of the socket's name too, so that sessions of two releases never meet."""

MAX_HEADER_BYTES: Final = 16 << 20
"""A request's texts travel in its header: room for a hundred texts of 20,000 characters escaped as JSON."""

MAX_BODY_BYTES: Final = 64 << 20
"""Room for the vectors of one request, or for the token matrices of a rerank."""

_FRAMES: Final = Framing(b"HLE" + bytes([VERSION]), max_header=MAX_HEADER_BYTES, max_body=MAX_BODY_BYTES)
_TOKENS: Final = "e12"


class ProtocolError(EmbedderError):
    """The other end of the embedder's socket does not speak this protocol."""


class ConnectionLostError(EmbedderError):
    """The embedder went away before it had answered."""


class DeadlineError(EmbedderError):
    """The embedder did not answer in time."""


def deadline_after(seconds: float) -> float:
    """Return the moment `seconds` from now, on the clock that `send_message` and `receive_message` use."""
    return time.monotonic() + seconds


def seconds_left(deadline: float) -> float:
    """Return how long there is until `deadline`.

    Raises:
        TimeoutError: it has passed.
    """
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def send_message(connection: socket.socket, header: Mapping[str, Any], *, body: bytes = b"", deadline: float) -> None:
    """Send one message.

    Raises:
        ProtocolError: the message is larger than the limits allow.
        ConnectionLostError: the other end is gone.
        DeadlineError: the deadline passed first.
    """
    with _translate_errors():
        frame = _FRAMES.pack_json(header, body)
        connection.settimeout(seconds_left(deadline))
        connection.sendall(frame)


def receive_message(connection: socket.socket, *, deadline: float) -> tuple[dict[str, Any], bytearray]:
    """Receive one message: its header and its body.

    Raises:
        ProtocolError: what came is no message of this version, or is larger than the limits allow.
        ConnectionLostError: the other end is gone.
        DeadlineError: the deadline passed first.
    """

    def read_piece(count: int) -> bytes:
        connection.settimeout(seconds_left(deadline))
        return connection.recv(count)

    with _translate_errors():
        return _FRAMES.read_json(read_piece)


@contextlib.contextmanager
def _translate_errors() -> Iterator[None]:
    try:
        yield
    except FrameError as error:
        raise ProtocolError(str(error)) from error
    except TimeoutError:
        raise DeadlineError from None
    except EOFError:
        raise ConnectionLostError from None
    except OSError as error:
        raise ConnectionLostError(f"The embedder went away: {error}") from error


def matrices_to_body(matrices: Sequence[NDArray[np.float32]]) -> tuple[list[list[int]], bytes]:
    """Return the shapes of matrices, for a header, and their numbers, as a body."""
    shapes = [list(matrix.shape) for matrix in matrices]
    return shapes, b"".join(matrix.astype("<f4", copy=False).tobytes() for matrix in matrices)


def matrices_from_body(shapes: Sequence[Any], body: bytes | bytearray) -> list[NDArray[np.float32]]:
    """Cut a body into the matrices that its header announces.

    Raises:
        ProtocolError: they do not fit each other.
    """
    import numpy as np

    try:
        sides = [(int(rows), int(columns)) for rows, columns in shapes]
        flat = np.frombuffer(body, dtype="<f4").astype(np.float32, copy=False)
    except (TypeError, ValueError) as error:
        raise ProtocolError(f"The embedder's answer cannot be used: {error}") from error
    if any(rows < 0 or width < 1 for rows, width in sides) or sum(rows * width for rows, width in sides) != flat.size:
        raise ProtocolError(f"The embedder announced shapes {sides} and sent {flat.size} numbers.")
    ends = np.cumsum([rows * width for rows, width in sides])
    return [flat[end - rows * width : end].reshape(rows, width) for end, (rows, width) in zip(ends, sides, strict=True)]


def fingerprint_to_message(seen: QueryFingerprint) -> tuple[dict[str, Any], bytes]:
    """Return header and body of an answer that holds a question's fingerprint."""
    matrices = {column: vector[None, :] for column, vector in seen.dense.items()}
    if seen.tokens is not None:
        matrices[_TOKENS] = seen.tokens
    shapes, body = matrices_to_body(list(matrices.values()))
    header = {
        "ok": True,
        "model_id": seen.model_id,
        "shapes": dict(zip(matrices, shapes, strict=True)),
        "bits": None if seen.bits is None else seen.bits.hex(),
        "terms": {term: round(float(weight), 6) for term, weight in seen.terms.items()},
        "weigh_terms": seen.weigh_terms,
        "token_scale": list(seen.token_scale),
    }
    return header, body


def fingerprint_from_message(header: Mapping[str, Any], body: bytes | bytearray) -> QueryFingerprint:
    """Read what `fingerprint_to_message` wrote.

    Raises:
        ProtocolError: it is no such message.
    """
    from hyperloci.spaces.query import QueryFingerprint

    try:
        shapes = header["shapes"]
        matrices = dict(zip(shapes, matrices_from_body(list(shapes.values()), body), strict=True))
        tokens = matrices.pop(_TOKENS, None)
        bits = header["bits"]
        factor, offset = header.get("token_scale", (1.0, 0.0))  # An embedder of the version before has none.
        return QueryFingerprint(
            model_id=str(header["model_id"]),
            dense={column: matrix[0] for column, matrix in matrices.items()},
            bits=None if bits is None else bytes.fromhex(bits),
            tokens=tokens,
            terms={str(term): float(weight) for term, weight in header["terms"].items()},
            weigh_terms=bool(header["weigh_terms"]),
            token_scale=(float(factor), float(offset)),
        )
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise ProtocolError(f"The embedder's answer cannot be used: {error!r}") from error
