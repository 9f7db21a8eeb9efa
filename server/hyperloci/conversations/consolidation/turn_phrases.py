"""Turn phrases: what people say around a failure: that they complain, ask for the reason, confirm it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).parent / "data" / "turn_phrases.toml"
_WORD: Final = re.compile(r"[\w'-]+|=")


def holds_phrase(text: str, table: str) -> bool:
    """Return whether a text holds one of a table's phrases, in any case."""
    words = f" {' '.join(_WORD.findall(text.lower().replace('’', chr(39))))} "
    return any(f" {phrase} " in words for phrase in _load()[table])


@functools.cache
def _load() -> Mapping[str, Sequence[str]]:
    return tomllib.loads(_FILE.read_text(encoding="utf-8"))
