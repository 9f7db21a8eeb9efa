"""Framing: messages on a stream of bytes, a header and a body after a prefix of fixed size.

    mark, 4 bytes | header length, 4 bytes, big endian | body length, 4 bytes, big endian | header | body

All processes of this program talk to each other in such frames. Each protocol has its own mark and limits, which are
checked before anything is read. Nothing else of the standard library is loaded with this module, and it runs on Python
3.7 and later: hooks and the plugin's launcher use it too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

_PREFIX_BYTES = 12

_CHUNK_BYTES = 1 << 20


class FrameError(ValueError):
    """The other end does not speak this protocol, or a message is too large for it."""


def pack_frame(mark: bytes, header: bytes, body: bytes | memoryview = b"") -> bytes:
    """Return a frame's bytes, whatever its size."""
    return b"".join((mark, len(header).to_bytes(4, "big"), len(body).to_bytes(4, "big"), header, body))


class Framing:
    """The frames of one protocol."""

    def __init__(self, mark: bytes, *, max_header: int, max_body: int = 0) -> None:
        """Define it.

        Args:
            mark: the four bytes that every frame begins with; another version has another one.
            max_header: bytes that a header may have.
            max_body: bytes that a body may have.
        """
        self._mark = mark
        self._max_header = max_header
        self._max_body = max_body

    def pack(self, header: bytes, body: bytes | memoryview = b"") -> bytes:
        """Return a frame's bytes.

        Raises:
            FrameError: it is larger than the limits allow.
        """
        self._check_size(len(header), len(body), "send")
        return pack_frame(self._mark, header, body)

    def pack_json(self, message: Mapping[str, Any], body: bytes | memoryview = b"", *, allow_nan: bool = True) -> bytes:
        """Return the bytes of a frame whose header is a JSON object; half of a surrogate pair survives the way.

        Raises:
            FrameError: it is larger than the limits allow.
            TypeError, ValueError: the message holds what JSON can't.
        """
        import json

        return self.pack(json.dumps(message, separators=(",", ":"), allow_nan=allow_nan).encode("ascii"), body)

    def read(self, read: Callable[[int], bytes | None]) -> tuple[bytearray, bytearray]:
        """Read one frame: its header and its body.

        Args:
            read: returns up to so many bytes, none of them at the end.

        Raises:
            FrameError: what came is no frame of this protocol, or too large.
            EOFError: the other end is gone.
        """
        header_length, body_length = self._read_lengths(_read_exactly(read, _PREFIX_BYTES))
        return _read_exactly(read, header_length), _read_exactly(read, body_length)

    def read_json(self, read: Callable[[int], bytes | None]) -> tuple[dict[str, Any], bytearray]:
        """Read one frame whose header is a JSON object.

        Raises:
            FrameError: what came is no such frame, or too large.
            EOFError: the other end is gone.
        """
        import json

        header, body = self.read(read)
        try:
            message = json.loads(header)
        except (ValueError, RecursionError) as error:
            raise FrameError(f"A message's header is not JSON: {error}") from error
        if not isinstance(message, dict):
            raise FrameError("A message's header must be a JSON object.")
        return message, body

    def take(self, buffer: bytearray) -> tuple[bytes, bytes] | None:
        """Take the first frame out of what was received so far; None while it is not all there.

        Raises:
            FrameError: what came is no frame of this protocol, or too large.
        """
        if len(buffer) < _PREFIX_BYTES:
            return None
        header_length, body_length = self._read_lengths(buffer)
        start = _PREFIX_BYTES + header_length
        end = start + body_length
        if len(buffer) < end:
            return None
        header, body = bytes(buffer[_PREFIX_BYTES:start]), bytes(memoryview(buffer)[start:end])
        del buffer[:end]
        return header, body

    def _read_lengths(self, prefix: bytearray) -> tuple[int, int]:
        mark = bytes(prefix[:4])
        if mark != self._mark:
            raise FrameError(f"Expected a message that begins with {self._mark!r}, got {mark!r}.")
        lengths = int.from_bytes(prefix[4:8], "big"), int.from_bytes(prefix[8:_PREFIX_BYTES], "big")
        self._check_size(*lengths, "accept")
        return lengths

    def _check_size(self, header: int, body: int, purpose: str) -> None:
        if header > self._max_header or body > self._max_body:
            limits = f"its header may have {self._max_header:,}, its body {self._max_body:,}"
            raise FrameError(f"A message of {header + body:,} bytes is too large to {purpose}: {limits}.")


def write_all(write: Callable[[memoryview], int | None], data: bytes) -> None:
    """Write all of `data`; `write` takes some of what it is given and returns how many bytes."""
    rest = memoryview(data)
    while rest:
        rest = rest[write(rest) or 0 :]


def _read_exactly(read: Callable[[int], bytes | None], count: int) -> bytearray:
    data = bytearray()
    while len(data) < count:
        piece = read(min(count - len(data), _CHUNK_BYTES))
        if not piece:
            raise EOFError
        data += piece
    return data
