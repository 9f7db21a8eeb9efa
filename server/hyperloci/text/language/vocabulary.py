"""Vocabulary: the well-known names of software, each with its kind, its other spellings and its family.

`data/vocabulary.json` holds each name once, as it is written, under what kind of thing it is (JSON: every process reads
it, and TOML takes twenty times as long). Left out of the concepts is what is so common that it tells nothing apart
(`http`, `cpu`). Of each name:

- aliases: other spellings of the same thing, in any case; a spelling belongs to one name only;
- family: the purpose for which one of the family is chosen: two of a family exclude each other;
- ordinary: those of its spellings that are plain words or variables too: they count where a capital tells a name.

Beside it are first names, and common words that are not names even with a capital.
"""

from __future__ import annotations

import functools
import itertools
import json
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Final

from hyperloci.model.kinds import EntityKind
from hyperloci.system.values import dataclass

_FOLDER: Final = Path(__file__).parent / "data"
_DASHES: Final = dict.fromkeys((ord("_"), *range(0x2010, 0x2016)), "-")


@dataclass(frozen=True, slots=True)
class KnownName:
    """A well-known name.

    Attributes:
        name: as it is written.
        kind: what kind of thing bears it.
        spellings: all that it is called, the name first.
        family: the purpose for which one of the family is chosen, if there is any: two of a family exclude each other.
    """

    name: str
    kind: EntityKind
    spellings: tuple[str, ...]
    family: str
    _ordinary: frozenset[str]

    def is_ordinary(self, spelling: str) -> bool:
        """Return whether a spelling, in any case, is a plain word too, so that only a capital tells the name."""
        return fold(spelling) in self._ordinary


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Well-known names, given names, and common words that begin with a capital.

    Attributes:
        names: each well-known name once.
        heads: the first words, in lower case, of all proper names: those of tools, organizations and places.
        families: the purposes for which one of several names is chosen, each with their spellings in lower case.
        choice_heads: the first words of names of several words that belong to a family.
    """

    names: tuple[KnownName, ...]
    _given: Mapping[str, bool]
    _common: frozenset[str]
    heads: frozenset[str] = field(init=False)
    families: Mapping[str, tuple[str, ...]] = field(init=False)
    choice_heads: frozenset[str] = field(init=False)
    _known: Mapping[str, KnownName] = field(init=False)
    _by_head: Mapping[str, tuple[str, ...]] = field(init=False)

    def __post_init__(self) -> None:
        proper = {one for known in self.names if known.kind is not EntityKind.CONCEPT for one in _lowered(known)}
        by_head = _group((spelling.partition(" ")[0], spelling) for spelling in sorted(proper, key=len, reverse=True))
        families = _group((known.family, one) for known in self.names if known.family for one in _lowered(known))
        chosen = itertools.chain.from_iterable(families.values())
        object.__setattr__(self, "heads", frozenset(by_head))
        object.__setattr__(self, "families", families)
        object.__setattr__(self, "choice_heads", frozenset(name.split()[0] for name in chosen if " " in name))
        object.__setattr__(self, "_known", {fold(one): known for known in self.names for one in known.spellings})
        object.__setattr__(self, "_by_head", by_head)

    def find(self, spelling: str) -> KnownName | None:
        """Return the well-known name of this spelling, in any case."""
        return self._known.get(fold(spelling))

    def find_proper(self, spelling: str) -> KnownName | None:
        """Return the tool, organization or place of this spelling, in any case."""
        known = self.find(spelling)
        return None if known is None or known.kind is EntityKind.CONCEPT else known

    def beginning_with(self, head: str, lowered: str, start: int) -> Iterator[tuple[str, KnownName]]:
        """Yield the proper names that stand at a place of a lower-case text, longest first, with their spellings."""
        for spelling in self._by_head[head]:
            end = start + len(spelling)
            if lowered.startswith(spelling, start) and not lowered[end : end + 1].isalnum():
                yield spelling, self._known[fold(spelling)]

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
    given = {word.lstrip("!"): word.startswith("!") for line in _lines("first_names.txt") for word in line.split()}
    common = frozenset(word for line in _lines("common_words.txt") for word in line.split())
    return Vocabulary(tuple(_read_names()), given, common)


def _read_names() -> Iterator[KnownName]:
    tables = json.loads((_FOLDER / "vocabulary.json").read_text(encoding="utf-8"))
    nothing = frozenset[str]()  # One for all: each that is empty would take as much as one of four.
    for kind, names in tables.items():
        for name, entry in names.items():
            ordinary = frozenset(map(fold, entry["ordinary"])) if "ordinary" in entry else nothing
            spellings = (name, *entry.get("aliases", ()))
            yield KnownName(name, EntityKind(kind), spellings, entry.get("family", ""), ordinary)


def _lowered(known: KnownName) -> list[str]:
    return [spelling.lower() for spelling in known.spellings]


def _group(pairs: Iterable[tuple[str, str]]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, list[str]] = {}
    for key, spelling in pairs:
        groups.setdefault(key, []).append(spelling)
    return {key: tuple(spellings) for key, spellings in groups.items()}


def _lines(file: str) -> list[str]:
    text = (_FOLDER / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@functools.lru_cache(maxsize=16_384)
def fold(name: str) -> str:
    """Return what two spellings of one name have in common: no case, one kind of space and dash."""
    return " ".join(unicodedata.normalize("NFKC", name).translate(_DASHES).casefold().split())
