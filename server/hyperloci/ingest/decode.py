"""Bytes to text: what is text at all, and in which encoding."""

from __future__ import annotations

import codecs
from typing import Final

HEAD_BYTES = 8_192
"""So much of a file is looked at to tell text from binary; Git looks at 8,000 bytes."""

_MAX_HIGH_SHARE = 0.3
"""Latin-1 maps every byte to something: a text with more letters above ASCII than this is in another encoding."""

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

_TEXT_CONTROLS: Final = b"\t\n\r\f\v\b\x1b"
_CONTROLS: Final = bytes(byte for byte in (*range(0x20), 0x7F) if byte not in _TEXT_CONTROLS)
_HIGH: Final = bytes(range(0x80, 0x100))


def decode(data: bytes) -> str | None:
    """Return a file's text; None if it is binary or in an encoding that can't be told.

    UTF-8, UTF-16 and UTF-32 by their marks, else UTF-8, else Latin-1 if it looks like text in it. A file with a NUL in
    its first 8 KB and no mark is binary.
    """
    return _decode(data, partial=False)


def is_text(head: bytes) -> bool:
    """Say whether a file that begins with `head` (its first 8 KB, or all of it) can be decoded as far as that tells."""
    return _decode(head, partial=len(head) >= HEAD_BYTES) is not None


def decode_head(head: bytes) -> str:
    """Return the text of a file's beginning, which may end within a character; empty if it is no text."""
    return _decode(head, partial=True) or ""


def _decode(data: bytes, *, partial: bool) -> str | None:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in data[:HEAD_BYTES]:
        return None
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=not partial)
    except UnicodeDecodeError:
        return data.decode("latin-1") if encoding == "utf-8" and _looks_like_latin_1(data) else None


def _looks_like_latin_1(data: bytes) -> bool:
    controls = len(data) - len(data.translate(None, _CONTROLS))
    high = len(data) - len(data.translate(None, _HIGH))
    return controls == 0 and high <= _MAX_HIGH_SHARE * len(data)
