"""Decoding: decides whether bytes are text, and in which encoding."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Final

HEAD_BYTES = 8_192
"""Bytes of a file that are checked to tell text from binary; Git checks 8,000."""

_MAX_HIGH_SHARE = 0.3
"""Western encodings map nearly every byte to something: a text with more letters above ASCII is in another one."""

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


def decode_text(data: bytes) -> str | None:
    """Return a file's text; None if it is binary or in an encoding that can't be told.

    UTF-8, UTF-16 and UTF-32 by their marks; without one UTF-8, also if a few bytes of it are damaged; UTF-16 and UTF-32
    by where their NULs are; else the first of the older encodings of Japan, Korea, China, Russia and the West that the
    text makes sense in. Any other file with a NUL in its first 8 KB is binary.
    """
    return _try_encodings(data, partial=False)


def is_text(head: bytes) -> bool:
    """Say whether a file that begins with `head` (its first 8 KB, or all of it) can be decoded as far as that tells."""
    return _try_encodings(head, partial=len(head) >= HEAD_BYTES) is not None


def decode_head(head: bytes) -> str:
    """Return the text of a file's beginning, which may end within a character; empty if it is no text."""
    return _try_encodings(head, partial=True) or ""


def _try_encodings(data: bytes, *, partial: bool) -> str | None:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is None and b"\0" in data[:HEAD_BYTES]:
        encoding = _detect_utf_16(data[:HEAD_BYTES])
        if encoding is None:
            return None
    text = _decode_strictly(data, encoding or "utf-8", partial)
    if text is not None or encoding is not None:
        return text
    return _decode_damaged_utf_8(data) or _decode_older_encoding(data, partial)


def _decode_strictly(data: bytes, encoding: str, partial: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=not partial)
    except UnicodeDecodeError:
        return None


def _detect_utf_16(head: bytes) -> str | None:
    """Return the encoding of a text of mostly Western letters without a mark, told by where its NULs are."""
    for encoding, width, letter in _WIDE:
        whole = head[: len(head) // width * width]
        places = [whole[place::width] for place in range(width)]
        zeros = [part.count(0) / max(1, len(part)) for part in places]
        others = [share for place, share in enumerate(zeros) if place != letter]
        if whole and zeros[letter] < _FEW and min(others) > 1 - _FEW:
            text = _decode_strictly(whole, encoding, partial=True)
            return encoding if text is not None and not _has_control_bytes(text.encode("utf-8", "replace")) else None
    return None


def _decode_damaged_utf_8(data: bytes) -> str | None:
    """Return a text in UTF-8 of which less is damaged than shows that it is UTF-8."""
    text = data.decode("utf-8", "replace")
    damaged = text.count("\ufffd")
    whole = sum(1 for char in text if char > "\x7f") - damaged
    return text if damaged <= whole * _FEW and not _has_control_bytes(data) else None


def _decode_older_encoding(data: bytes, partial: bool) -> str | None:
    if _has_control_bytes(data):
        return None
    for encoding, makes_sense in _OLDER:
        text = _decode_strictly(data, encoding, partial)
        if text is not None and makes_sense(text):
            return text
    return None


def _has_control_bytes(data: bytes) -> bool:
    return len(data) > len(data.translate(None, _CONTROLS))


def _share_of_signs(text: str, wanted: Callable[[str], bool]) -> float:
    """Return what share of a text's signs above ASCII is of a kind."""
    above = [char for char in text if char > "\x7f"]
    return sum(1 for char in above if wanted(char)) / max(1, len(above))


def _is_japanese(text: str) -> bool:
    kana = _share_of_signs(text, lambda char: "\u3041" <= char <= "\u30fe")
    return kana > _SOME and kana + _share_of_signs(text, _is_wide_sign) > 1 - _FEW


def _is_korean(text: str) -> bool:
    return _share_of_signs(text, lambda char: "\uac00" <= char <= "\ud7a3" or "\u3001" <= char <= "\u3011") > 1 - _FEW


def _is_chinese(text: str) -> bool:
    return (
        _share_of_signs(text, _is_wide_sign) > 1 - _FEW
        and _share_of_signs(text, _COMMON_CHINESE.__contains__) > _SOME / 4
    )


def _is_wide_sign(char: str) -> bool:
    return "\u4e00" <= char <= "\u9fff" or "\u3000" <= char <= "\u301f" or "\uff01" <= char <= "\uff5e"


def _is_russian(text: str) -> bool:
    # Accents of Western words are letters here too, but stand alone.
    words = _CYRILLIC_WORD.findall(text)
    if sum(map(len, words)) <= _MOST * sum(1 for char in text if char > "\x7f"):
        return False
    return _share_of_signs(text, str.islower) > _MOST and _share_of_signs(text, "оеаинтОЕАИНТ".__contains__) > _THIRD


def _is_western(text: str) -> bool:
    high = sum(1 for char in text if char > "\x7f")
    return high <= _MAX_HIGH_SHARE * len(text)


_CYRILLIC_WORD: Final = re.compile(r"[\u0401-\u0451]{4,}")

_MOST: Final = 0.6
_FEW: Final = 0.2
_SOME: Final = 0.1
_THIRD: Final = 1 / 3

_COMMON_CHINESE: Final = frozenset("的一是不了在有我他这中大来上个国说们为子和你地出道也时年的這個來國說們為時")

_WIDE: Final = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
"""Encodings of several bytes a letter: how many, and which of them a Western letter is in."""

_OLDER: Final[tuple[tuple[str, Callable[[str], bool]], ...]] = (
    ("cp932", _is_japanese),
    ("euc_jp", _is_japanese),
    ("euc_kr", _is_korean),
    ("gb18030", _is_chinese),
    ("big5", _is_chinese),
    ("cp1251", _is_russian),
    ("koi8_r", _is_russian),
    ("cp1252", _is_western),
    ("latin-1", _is_western),
)
"""With what a text must show for it: many bytes make letters in all of them."""
