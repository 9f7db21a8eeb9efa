"""Literal set: finds which of many literals a text holds, in one pass of a linear engine."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

LONG_TEXT: Final = 4_096
"""The engine is loaded for texts of at least this many bytes: loading takes 23 ms, and most texts are shorter."""

MANY_TEXTS: Final = 500
"""A process that has searched so many for some literals has spent on them what loading the engine takes."""


class LiteralSet:
    """Some literals that texts are searched for together.

    Args:
        literals: what is sought, case and all.
        common: those that many texts hold; they are sought one by one.
        occasional: those that some texts hold; like the rare ones, which are the others, they are ruled out at once
            where a text holds none of them.
    """

    def __init__(self, literals: Iterable[str], common: Collection[str], occasional: Collection[str] = ()) -> None:
        every = dict.fromkeys(literals)
        self._every = _LiteralGroup(tuple(every))
        self._common = tuple(literal for literal in every if literal in common)
        groups = (
            tuple(literal for literal in every if literal in occasional),
            tuple(literal for literal in every if literal not in common and literal not in occasional),
        )
        self._groups = [_LiteralGroup(group) for group in groups if group]

    def find_in(self, text: str) -> set[str]:
        """Return those that `text` holds."""
        encoded = text.encode("utf-8", "surrogatepass")
        sought = [self._common, *(group.literals for group in self._groups if group.occurs_in(encoded) is not False)]
        return {literal for literals in sought for literal in literals if literal in text}

    def occur_in(self, text: str) -> bool:
        """Tell whether `text` holds any of them."""
        held = self._every.occurs_in(text.encode("utf-8", "surrogatepass"))
        return any(literal in text for literal in self._every.literals) if held is None else held


class _LiteralGroup:
    """Literals that are ruled out together."""

    def __init__(self, literals: tuple[str, ...]) -> None:
        self.literals = literals
        self._any: Any = None
        self._searched = 0

    def occurs_in(self, encoded: bytes) -> bool | None:
        """Tell whether a text in UTF-8 holds any of them; None where it is not worth loading the engine for."""
        if self._any is None:
            self._searched += 1
            if len(encoded) < LONG_TEXT and self._searched < MANY_TEXTS:
                return None
            self._any = _compile_alternation(self.literals)
        return self._any.search(encoded) is not None


def _compile_alternation(literals: Iterable[str]) -> Any:
    """Return an expression of RE2 over UTF-8 that finds any of them."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # byte by byte
    options.never_capture = True
    return re2.compile(b"|".join(re2.escape(literal.encode()) for literal in literals), options)
