"""Tables of words by language: `data/en.toml` is English, `data/ru.toml` Russian; another file is another language.

A table is a list of words and phrases, or one string of words. Phrases may hold the syntax of regular expressions where
the reader of the table makes a pattern of it.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent / "data"


@functools.cache
def read_languages() -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of every language by its two-letter code."""
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("??.toml"))}


@functools.cache
def read_words(table: str) -> tuple[str, ...]:
    """Return a table's words in all languages, in order.

    Args:
        table: its name, as in `sentences.abbreviations`; a language that lacks it adds nothing.
    """
    return tuple(word for tables in read_languages().values() for word in _find_words(tables, table))


@functools.cache
def word_set(table: str) -> frozenset[str]:
    """Return a table's words in all languages, to look words up in."""
    return frozenset(read_words(table))


def alternatives(table: str) -> str:
    """Return a table's phrases in all languages as one group of a regular expression."""
    return f"(?:{'|'.join(read_words(table))})"


def _find_words(tables: Mapping[str, Any], name: str) -> list[str]:
    found: Any = tables
    for part in name.split("."):
        found = found.get(part, {})
    return found.split() if isinstance(found, str) else list(found)
