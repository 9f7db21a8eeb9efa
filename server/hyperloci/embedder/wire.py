"""What travels between a session and its embedder: a JSON header and raw float32 behind a prefix of fixed size.

    magic and version, 4 bytes | header length, 4 bytes, big endian | body length, 4 bytes, big endian | header | body

A connection carries one request and its answer. Nothing is ever unpickled. Every read and write has a deadline on the
monotonic clock and a size limit.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Mapping
from typing import Any, Final

from hyperloci.errors import EmbedderError

VERSION: Final = 1
"""Part of the socket's name too, so that sessions of two releases never meet."""

MAX_HEADER_BYTES: Final = 16 << 20
"""A request's texts travel in its header: room for a hundred texts of 20,000 characters escaped as JSON."""

MAX_BODY_BYTES: Final = 64 << 20
"""Room for the vectors of one request, or for the token matrices of a rerank."""

_MAGIC: Final = b"HLE" + bytes([VERSION])
_PREFIX: Final = struct.Struct(">4sII")
_CHUNK: Final = 1 << 20


class WireError(EmbedderError):
    """The other end of the embedder's socket does not speak this protocol."""


class ConnectionLostError(EmbedderError):
    """The embedder went away before it had answered."""


class DeadlineError(EmbedderError):
    """The embedder did not answer in time."""


def deadline_after(seconds: float) -> float:
    """Return the moment `seconds` from now, on the clock that `send` and `receive` count on."""
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


def send(
    connection: socket.socket, header: Mapping[str, Any], *, body: bytes | memoryview = b"", deadline: float
) -> None:
    """Send one message.

    Raises:
        WireError: the message is larger than the limits allow.
        ConnectionLostError: the other end is gone.
        DeadlineError: the deadline passed first.
    """
    text = json.dumps(header, separators=(",", ":")).encode("ascii")
    if len(text) > MAX_HEADER_BYTES or len(body) > MAX_BODY_BYTES:
        raise WireError(f"A message of {len(text) + len(body):,} bytes is too large to send; send fewer texts.")
    try:
        connection.settimeout(seconds_left(deadline))
        connection.sendall(_PREFIX.pack(_MAGIC, len(text), len(body)) + text)
        if body:
            connection.sendall(body)
    except TimeoutError:
        raise DeadlineError from None
    except OSError as error:
        raise ConnectionLostError(f"The embedder went away: {error}") from error


def receive(connection: socket.socket, *, deadline: float) -> tuple[dict[str, Any], bytearray]:
    """Receive one message: its header and its body.

    Raises:
        WireError: what came is no message of this version, or is larger than the limits allow.
        ConnectionLostError: the other end is gone.
        DeadlineError: the deadline passed first.
    """
    magic, header_length, body_length = _PREFIX.unpack(_read(connection, _PREFIX.size, deadline))
    if magic != _MAGIC:
        raise WireError(f"Expected a message that begins with {_MAGIC!r}; {magic!r} came.")
    if header_length > MAX_HEADER_BYTES or body_length > MAX_BODY_BYTES:
        raise WireError(f"A message of {header_length + body_length:,} bytes is too large to accept.")
    try:
        header = json.loads(_read(connection, header_length, deadline))
    except (ValueError, RecursionError) as error:
        raise WireError(f"A message's header is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise WireError("A message's header must be a JSON object.")
    return header, _read(connection, body_length, deadline)


def _read(connection: socket.socket, count: int, deadline: float) -> bytearray:
    data = bytearray()
    try:
        while len(data) < count:
            connection.settimeout(seconds_left(deadline))
            part = connection.recv(min(count - len(data), _CHUNK))
            if not part:
                raise ConnectionLostError
            data += part
    except TimeoutError:
        raise DeadlineError from None
    except OSError as error:
        raise ConnectionLostError(f"The embedder went away: {error}") from error
    return data
