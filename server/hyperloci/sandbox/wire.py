"""What travels between a session and the child that runs its program: JSON behind its length. Nothing is unpickled."""

from __future__ import annotations

import json
import struct
from typing import Any, Final, Protocol

MAX_FRAME_BYTES: Final = 8 << 20
"""Fifty memories of 20,000 characters, each escaped as JSON; whatever claims to be more is refused unread."""

_LENGTH: Final = struct.Struct(">I")


class WireError(Exception):
    """The other end does not speak this protocol."""


class Source(Protocol):
    """A pipe to read from."""

    def read(self, size: int, /) -> bytes | None:
        """Return up to `size` bytes; none of them at the end."""
        ...


class Sink(Protocol):
    """A pipe to write to."""

    def write(self, data: bytes, /) -> int | None:
        """Write some of `data` and return how much."""
        ...


def send(sink: Sink, message: dict[str, Any]) -> None:
    """Write one message.

    Raises:
        WireError: it is too large.
        OSError: the other end is gone.
    """
    body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")
    if len(body) > MAX_FRAME_BYTES:
        raise WireError(f"a message of {len(body):,} bytes is too large; at most {MAX_FRAME_BYTES:,} are sent at once")
    rest = memoryview(_LENGTH.pack(len(body)) + body)
    while rest:
        rest = rest[sink.write(bytes(rest)) or 0 :]


def receive(source: Source) -> dict[str, Any]:
    """Read one message.

    Raises:
        EOFError: the other end is gone.
        WireError: what came is no message.
    """
    (length,) = _LENGTH.unpack(_exactly(source, _LENGTH.size))
    if length > MAX_FRAME_BYTES:
        raise WireError(f"a message of {length:,} bytes was announced")
    try:
        message = json.loads(_exactly(source, length))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a message is no JSON: {error}") from error
    if not isinstance(message, dict):
        raise WireError("a message is no object")
    return message


def _exactly(source: Source, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = source.read(count - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)
