"""Named thing: what a name can mean: a symbol, a setting, a file, a section, a commit, an entity."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store.memories.symbols import NameMatch, StoredSymbol
from hyperloci.system.values import dataclass
from hyperloci.text.chunking.programming_languages import is_test_path
from hyperloci.text.cutting import cut_text

MAX_OTHERS: Final = 4
"""Other meanings that an answer names."""

MAX_NAME_SHOWN: Final = 80
"""Characters shown of a heading or a commit's subject."""


class ThingKind(StrEnum):
    """What a name names; of symbols their own kind is told."""

    SYMBOL = "symbol"
    SETTING = "setting"
    MESSAGE = "message"
    FILE = "file"
    SECTION = "section"
    COMMIT = "commit"
    ENTITY = "entity"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedThing:
    """One thing that a name means.

    Attributes:
        kind: what it is.
        name: as it is called there: a qualified symbol, a path, a heading.
        keys: the memories that hold it, the one where it begins first.
        match: how the name was found.
        word: what to call it in an answer: `function`, `class`, `section`.
        path, line: where it begins; None for what has no place.
    """

    kind: ThingKind
    name: str
    keys: tuple[NodeKey, ...]
    match: NameMatch = NameMatch.EXACT
    word: str = ""
    path: str | None = None
    line: int | None = None

    @property
    def is_test(self) -> bool:
        """Whether it stands in a test file."""
        return self.path is not None and is_test_path(self.path)

    def describe(self) -> str:
        """Return its name, what it is and where, in a few words."""
        where = "" if self.path is None or self.kind is ThingKind.FILE else f", {self.path}:{self.line}"
        return f"`{cut_text(self.name, MAX_NAME_SHOWN)}` ({self.word or self.kind}{where})"


def make_symbol_thing(symbol: StoredSymbol, match: NameMatch) -> NamedThing:
    """Return a symbol as a named thing."""
    return NamedThing(
        kind=ThingKind.SYMBOL,
        name=symbol.symbol,
        keys=symbol.keys,
        match=match,
        word=symbol.kind if symbol.kind not in ("other", "block") else "symbol",
        path=symbol.path,
        line=symbol.line,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What a name was taken for, first, and what else it could have been."""

    name: str
    things: tuple[NamedThing, ...]

    @property
    def taken(self) -> NamedThing:
        """What it was taken for."""
        return self.things[0]

    def describe(self) -> str:
        """Return in words what was taken, and what else it could have been."""
        others = [thing.describe() for thing in self.things[1 : 1 + MAX_OTHERS]]
        more = len(self.things) - 1 - len(others)
        also = f"; also: {', '.join(others)}" if others else ""
        return f"took {self.taken.describe()}{also}{f' and {more} more' if more > 0 else ''}"
