"""Sentences of a text that is mostly prose: code fences, tables and markup left out."""

from __future__ import annotations

import re
from typing import Final

MAX_CHARS: Final = 20_000
"""Rules read so much of a text; a memory that is longer is a document, and its beginning says what it is about."""

_FENCE: Final = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)[^\n]*$", re.MULTILINE | re.DOTALL)
_MARKUP: Final = re.compile(r"^\s*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|>\s*)|\*\*|__(?=\w)|(?<=\w)__")
_END: Final = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]*[A-ZА-ЯЁ0-9`])|\n\s*\n|\n(?=\s*(?:[-*+#>|]|\d{1,3}[.)]))")
_SPACES: Final = re.compile(r"\s+")


def prose(text: str) -> str:
    """Return a text without its fenced code."""
    return _FENCE.sub("\n\n", text[:MAX_CHARS])


def sentences(text: str) -> list[str]:
    """Return the sentences of a text's prose, each on one line, without list marks and emphasis."""
    pieces = (_clean(piece) for piece in _END.split(prose(text)))
    return [piece for piece in pieces if any(character.isalpha() for character in piece)]


def _clean(piece: str) -> str:
    return _SPACES.sub(" ", _MARKUP.sub("", piece)).strip()
