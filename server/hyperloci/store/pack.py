"""zstd, in one place; loaded on first use, because most processes never meet a packed turn."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import zstandard

MAX_BYTES: Final = 256 << 20
"""What one chunk may come to: far above a micro-chunk of the longest turns, and no bomb."""


PIECE: Final = 1 << 16


def compress(data: bytes, level: int) -> bytes:
    """Return one zstd frame, with its length and a checksum."""
    import zstandard

    compressor = zstandard.ZstdCompressor(level=level, write_checksum=True, write_content_size=True)
    return compressor.compress(data)


@functools.cache
def _decompressor() -> zstandard.ZstdDecompressor:
    import zstandard

    return zstandard.ZstdDecompressor()


def decompress(data: bytes) -> bytes:
    """Return what the first frame of `data` holds.

    Raises:
        ValueError: it is no whole frame.
    """
    import zstandard

    try:
        if zstandard.get_frame_parameters(data).content_size > MAX_BYTES:
            raise ValueError("more than a chunk can be")
        return _decompressor().decompress(data)
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from error


def frame_length(data: bytes, start: int = 0) -> int:
    """Return how many bytes the frame takes that begins at `start`; 0 where it is torn or none."""
    import zstandard

    reader = _decompressor().decompressobj()
    position = start
    try:
        # By pieces: given all that follows, it would copy it for every frame.
        while position < len(data) and not reader.eof:
            reader.decompress(data[position : position + PIECE])
            position += PIECE
    except zstandard.ZstdError:
        return 0
    return min(position, len(data)) - len(reader.unused_data) - start if reader.eof else 0
