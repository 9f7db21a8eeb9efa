"""Only methods: calls on receivers whose class no rule knows, by a name that one method alone has (D.03)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

ONLY: Final = 0.6
"""How sure it is that a method of several words is meant that nothing else in the project is called: of 100 such calls
read in click, starlette, gin and got 95 were right; the others are methods of libraries (`path.write_text`)."""

MIN_WORDS: Final = 2
"""`get` and `close` are everybody's; `edit_files` is one class's."""

MAX_NAMESAKES: Final = 20
"""Things of one name that are looked at: all but one may be tests that are named after it."""

SymbolPlace = tuple[str, str]
"""The path of a file, and a symbol in it."""

_LETTERS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD_PARTS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


class NamedSymbols(Protocol):
    """Looks symbols of a project up by their names."""

    def symbols_named(self, names: Sequence[str]) -> Mapping[str, Sequence[SymbolPlace]]:
        """Return the (path, symbol) of the project's symbols that are, or end in, each of these names."""
        ...


def split_words(name: str) -> set[str]:
    """Return the words of an identifier."""
    return {part.lower() for part in _WORD_PARTS.findall(name)}


def find_only_methods(
    world: NamedSymbols, names: Sequence[str], narrow: Callable[[Sequence[SymbolPlace]], Sequence[SymbolPlace]]
) -> dict[str, SymbolPlace]:
    """Return the path and symbol of the one thing that the project has by each of these names, where it has one.

    Args:
        world: the project.
        names: names of what is called.
        narrow: returns of things of one name those that a call may mean.
    """
    asked = sorted({name for name in names if has_several_words(name)})
    found = world.symbols_named(asked) if asked else {}
    few = {name: narrow(places) for name, places in found.items() if len(places) <= MAX_NAMESAKES}
    return {name: places[0] for name, places in few.items() if len(places) == 1}


def has_several_words(name: str) -> bool:
    """Say whether a name says so much that hardly two things have it: `utf8` is one word."""
    return len(_LETTERS.findall(name)) >= MIN_WORDS
