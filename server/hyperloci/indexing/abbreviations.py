"""Abbreviations: what those in code stand for: `idx` is found by `index`.

They add a point of recall@10 on pycode (docs/benchmarks/ranking.md, "Fusion"), whose docstrings spell out what the code
abbreviates. The words count half, as all context of a memory does (`store.search.keyword_search.EXTRA_WEIGHT`).
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Final

_ASCII_LETTERS: Final = "".join(chr(code) if chr(code).isalpha() else " " for code in range(128))
"""What each ASCII character is read as where words are parted: itself, or a space."""

_WORD: Final = re.compile(r"[A-Za-z]+")
_PART: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


@functools.cache
def read_abbreviations() -> Mapping[str, str]:
    """Return what each abbreviation stands for, as `data/abbreviations.toml` says."""
    return tomllib.loads((Path(__file__).parent / "data/abbreviations.toml").read_text(encoding="utf-8"))


def spelled_out(code: str) -> str:
    """Return the words that the abbreviations in code stand for, each abbreviation once, in their order."""
    words = code.translate(_ASCII_LETTERS).split() if code.isascii() else _WORD.findall(code)
    parts = dict.fromkeys(chain.from_iterable(map(_abbreviations, dict.fromkeys(words))))
    return " ".join(map(read_abbreviations().__getitem__, parts))


@functools.lru_cache(maxsize=16_384)
def _abbreviations(word: str) -> tuple[str, ...]:
    """Return the parts of a word that are abbreviations, in lower case."""
    return tuple(part for part in map(str.lower, _PART.findall(word)) if part in read_abbreviations())
