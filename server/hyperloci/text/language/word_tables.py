"""Language tables: words and phrases, one file in `data/` per language (`en.toml`, `ru.toml`; of some only what
parts their sentences, and what names days).

They hold what sentences, dates and vocabulary need. Modules that score one thing by its words (routing of questions,
speakers, contradictions, prompt injection) keep their own words beside the rule that reads them.

A table is a list of words and phrases, or one string of words. Phrases may hold the syntax of regular expressions where
the reader of the table makes a pattern of it.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parent / "data"

_HEADER: Final = re.compile(r"^\[(\w+)", re.MULTILINE)
"""The line that begins a table, or one within it: `[dates]`, `[dates.units]`. No list has a bracket at the margin."""


@functools.cache
def read_languages() -> Mapping[str, Mapping[str, Any]]:
    """Return the tables of every language by its two-letter code."""
    return {path.stem: LanguageTables(path.read_text(encoding="utf-8")) for path in sorted(_FOLDER.glob("??.toml"))}


class LanguageTables(Mapping[str, Any]):
    """The tables of a language, each parsed when it is first asked for: a hook that reads days needs no others."""

    def __init__(self, text: str) -> None:
        """Create them of the text of a file."""
        self._texts: dict[str, str] = {}
        self._read: dict[str, Any] = {}
        headers = list(_HEADER.finditer(text))
        ends = [*(header.start() for header in headers[1:]), len(text)]
        for header, end in zip(headers, ends, strict=True):
            self._texts[header[1]] = self._texts.get(header[1], "") + text[header.start() : end]

    def __getitem__(self, name: str) -> Any:
        if name not in self._read:
            self._read[name] = tomllib.loads(self._texts[name])[name]
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._texts  # `Mapping` would parse the table to answer.

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


@functools.cache
def read_table(name: str) -> tuple[Any, ...]:
    """Return what a table holds in all languages, in order.

    Args:
        name: as in `sentences.abbreviations`; a language that lacks it adds nothing.
    """
    return tuple(entry for tables in read_languages().values() for entry in _find_entries(tables, name))


@functools.cache
def word_set(table: str) -> frozenset[str]:
    """Return a table's words in all languages, to look words up in."""
    return frozenset(read_table(table))


@functools.cache
def alternatives(table: str) -> str:
    """Return a table's phrases in all languages as one group of a regular expression."""
    return f"(?:{'|'.join(read_table(table))})"


@functools.cache
def phrase_pattern(table: str, form: str = r"\b@\b") -> re.Pattern[str]:
    """Return the pattern of a table's phrases, in capitals or not.

    Args:
        table: its name.
        form: the pattern, with `@` for the phrases.
    """
    return re.compile(form.replace("@", alternatives(table)), re.IGNORECASE)


def _find_entries(tables: Mapping[str, Any], name: str) -> list[Any]:
    found: Any = tables
    for part in name.split("."):
        found = found.get(part, {})
    return found.split() if isinstance(found, str) else list(found)
