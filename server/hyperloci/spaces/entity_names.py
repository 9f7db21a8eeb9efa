"""Entity names (E11): what a memory is about, each entity under its canonical name.

Names come from the graph where it has them (`store.memories.entities`), else from rules of spelling. Aliases that every
programmer knows are the vocabulary's (`text.language.vocabulary`); those of a project are the store's.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Final

from hyperloci.spaces.space import MAX_VIEW_SOURCE_CHARS
from hyperloci.text.language.code_fences import mask_code
from hyperloci.text.language.dates import date_words, languages
from hyperloci.text.language.vocabulary import fold, vocabulary

MAX_NAME_CHARS: Final = 80
"""A longer word is encoded data."""

MAX_NAMES: Final = 16
"""The mean of more says little about each."""

_NAME_WORD: Final = re.compile(r"[\w+#]+(?:[-'./][\w+#]+)*")
_CAMEL: Final = re.compile(r"[a-z][A-Z]|[A-Z][a-z0-9]++[A-Z]|[A-Z]{2}[a-z]")
_ACRONYM: Final = re.compile(r"[A-Z][A-Z0-9]{1,7}s?")
_FILE: Final = re.compile(
    r"[\w./-]+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|c|h|cpp|cs|rb|php|sql|sh|md|toml|yaml|yml|json)"
)
_QUOTED: Final = re.compile(r"`([^`\n]{2,60})`")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
_CAPITAL: Final = re.compile(r"[A-ZА-ЯЁ][\w+#]*[a-zа-яё0-9+#]")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:\n]|[-*#>] |\d[.)] )[\s\"'(*_#>-]{0,12}$")
_VERSION: Final = re.compile(r"^v?\d[\d.]*$", re.IGNORECASE)


@functools.cache
def _date_names() -> frozenset[str]:
    return frozenset().union(*(date_words(language).names for language in languages()))


def _is_common(word: str) -> bool:
    """Return whether a word names nothing: a common word, a day or a month."""
    return vocabulary().is_common(word) or word.lower() in _date_names()


def find_names(text: str) -> list[str]:
    """Return the canonical names of what a text names, in order, once each."""
    plain = mask_code(text[:MAX_VIEW_SOURCE_CHARS])
    known = _find_known_names(plain)
    taken = {place for start, name in known for place in range(start, start + len(name))}
    spelt = [(start, name) for start, name in _find_spelt_names(plain) if start not in taken]
    return canonical_names(
        name for _, name in sorted([*_find_quoted_names(plain), *known, *spelt], key=lambda found: found[0])
    )


def canonical_names(names: Iterable[str]) -> list[str]:
    """Return canonical names without repetition, sixteen at most."""
    found: dict[str, str] = {}
    for name in names:
        known = vocabulary().find(name)
        called = name.strip() if known is None else known.name
        found.setdefault(fold(called), called)
    return list(found.values())[:MAX_NAMES]


def _find_quoted_names(text: str) -> list[tuple[int, str]]:
    return [
        (match.start(), match[1].removesuffix("()"))
        for match in _QUOTED.finditer(text)
        if _IDENTIFIER.fullmatch(match[1]) or _FILE.fullmatch(match[1])
    ]


def _find_known_names(text: str) -> list[tuple[int, str]]:
    """Return aliases, the longest first: `Git Hub Actions` is not also `Git Hub`."""
    words = [(match.start(), match[0]) for match in _NAME_WORD.finditer(text[:MAX_VIEW_SOURCE_CHARS])]
    found: list[tuple[int, str]] = []
    place = 0
    while place < len(words):
        length = next((size for size in (4, 3, 2, 1) if _is_alias(words[place : place + size], size)), 0)
        if length:
            found.append((words[place][0], " ".join(word for _, word in words[place : place + length])))
        place += length or 1
    return found


def _is_alias(words: list[tuple[int, str]], size: int) -> bool:
    if len(words) < size:
        return False
    text = " ".join(word for _, word in words)
    known = vocabulary().find(text)
    return known is not None and len(known.spellings) > 1 and not (text.islower() and known.is_ordinary(text))


def _find_spelt_names(text: str) -> list[tuple[int, str]]:
    """Return names that their spelling gives away: `fooBar`, `HTTP`, `a/b.py`, `Acme Corp` within a sentence."""
    found: list[tuple[int, str]] = []
    end, run = -2, ""
    for match in _NAME_WORD.finditer(text):
        word = match[0].rstrip("'")
        kind = _name_kind(word, bool(_SENTENCE_START.search(text[max(0, match.start() - 12) : match.start()])))
        if kind == "capital" and run and match.start() == end + 1:
            start, run = found.pop()[0], f"{run} {word}"
            found.append((start, run))
        elif kind:
            found.append((match.start(), word))
            run = word if kind == "capital" else ""
        else:
            run = ""
        end = match.end()
    return found


def _name_kind(word: str, begins: bool) -> str:
    if not 2 <= len(word) <= MAX_NAME_CHARS or _is_common(word) or _VERSION.match(word):
        return ""
    if _FILE.fullmatch(word) or _CAMEL.search(word) or _ACRONYM.fullmatch(word) or "_" in word.strip("_"):
        return "spelt"
    # Every sentence begins with a capital.
    return "capital" if _CAPITAL.fullmatch(word) and not begins else ""
