"""Well-known names, and words that are none, read once from the files in `graph/data`."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hyperloci.model.kinds import EntityKind

_FOLDER: Final = Path(__file__).parent / "data"
_FILES: Final = {
    "tools.txt": EntityKind.TOOL,
    "organizations.txt": EntityKind.ORGANIZATION,
    "places.txt": EntityKind.PLACE,
}


@dataclass(frozen=True, slots=True)
class Known:
    """A well-known name; `ordinary` ones are words of the language too."""

    name: str
    kind: EntityKind
    ordinary: bool


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Well-known names by their lower-case spelling, given names, and common words that begin with a capital.

    Attributes:
        heads: the first words of all well-known names.
    """

    _known: Mapping[str, Known]
    _given: Mapping[str, bool]
    _common: frozenset[str]
    heads: frozenset[str] = field(init=False)
    _by_head: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        by_head: dict[str, list[str]] = {}
        for spelling in sorted(self._known, key=len, reverse=True):
            by_head.setdefault(spelling.partition(" ")[0], []).append(spelling)
        object.__setattr__(self, "_by_head", {head: tuple(spellings) for head, spellings in by_head.items()})
        object.__setattr__(self, "heads", frozenset(by_head))

    def of(self, name: str) -> Known | None:
        """Return the well-known thing of this name, in any case."""
        return self._known.get(name.lower())

    def spellings(self, name: str) -> list[str]:
        """Return the other spellings of a well-known name."""
        known = self.of(name)
        return [] if known is None else [one for one, entry in self._known.items() if entry.name == known.name]

    def beginning_with(self, head: str, lowered: str, start: int) -> Iterator[tuple[int, Known]]:
        """Yield the well-known names that stand at a place of a lower-case text, longest first, with their lengths."""
        for spelling in self._by_head[head]:
            end = start + len(spelling)
            if lowered.startswith(spelling, start) and not lowered[end : end + 1].isalnum():
                yield len(spelling), self._known[spelling]

    def is_given_name(self, word: str) -> bool:
        """Return whether a word is a person's given name."""
        return word in self._given

    def is_ordinary_name(self, word: str) -> bool:
        """Return whether a given name is a word of the language too (`Mark`, `Will`)."""
        return self._given.get(word, False)

    def is_common(self, word: str) -> bool:
        """Return whether a word names nothing, whatever its capital (`The`, `Monday`)."""
        return word.lower().strip("'’") in self._common

    def is_plain_acronym(self, word: str) -> bool:
        """Return whether a word in capitals is emphasis or notation and no name (`MUST`, `SELECT`, `TODO`)."""
        return word.lower() in self._common


@functools.cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary of this process."""
    known: dict[str, Known] = {}
    for file, kind in _FILES.items():
        for line in _lines(file):
            name, _, others = line.lstrip("!").partition("=")
            entry = Known(name.strip(), kind, line.startswith("!"))
            for spelling in (name, *others.split(",")):
                if spelling.strip():
                    known.setdefault(spelling.strip().lower(), entry)
    given = {word.lstrip("!"): word.startswith("!") for line in _lines("first_names.txt") for word in line.split()}
    common = frozenset(word for line in _lines("common_words.txt") for word in line.split())
    return Vocabulary(known, given, common)


def _lines(file: str) -> list[str]:
    text = (_FOLDER / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
