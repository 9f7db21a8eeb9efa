"""Literal set: finds which of many literals a text holds, in one pass of a linear engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

LONG_TEXT: Final = 4_096
"""The engine is loaded for texts of at least this many bytes: loading takes 23 ms, and most texts are shorter."""

MANY_TEXTS: Final = 500
"""A process that has searched so many for some literals has spent on them what loading the engine takes."""

ENGINE_BYTES: Final = 64 << 20
"""The most memory of the engine for one set; the largest takes some hundred KB for code and prose. What exceeds it
starts anew, which a text that holds every literal in turn can force."""


class LiteralSet:
    """Some literals that texts are searched for together.

    Args:
        literals: what is sought, case and all.
    """

    def __init__(self, literals: Iterable[str]) -> None:
        self._literals = tuple(dict.fromkeys(literals))
        self._searched = 0
        self._all: Any = None
        self._any: Any = None

    def find_in(self, text: str) -> set[str]:
        """Return those that `text` holds."""
        encoded = _encode(text)
        if not self._is_loaded(encoded):
            return self._find_one_by_one(text)
        found = self._all.Match(encoded)
        if found:
            return {self._literals[number] for number in found}
        # It holds none, or memory ran out: a secret must not stay for that.
        return self._find_one_by_one(text) if self._any.search(encoded) else set()

    def occur_in(self, text: str) -> bool:
        """Tell whether `text` holds any of them."""
        encoded = _encode(text)
        if not self._is_loaded(encoded):
            return any(literal in text for literal in self._literals)
        return self._any.search(encoded) is not None

    def _find_one_by_one(self, text: str) -> set[str]:
        return {literal for literal in self._literals if literal in text}

    def _is_loaded(self, encoded: bytes) -> bool:
        """Tell whether the engine is there; load it once that is worth it."""
        if self._any is None:
            self._searched += 1
            if len(encoded) < LONG_TEXT and self._searched < MANY_TEXTS:
                return False
            self._all, self._any = _compile_literals(self._literals)
        return True


def find_literal(text: str, literal: str) -> Iterator[int]:
    """Yield every place where `text` holds a literal."""
    at = text.find(literal)
    while at >= 0:
        yield at
        at = text.find(literal, at + 1)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _compile_literals(literals: Sequence[str]) -> tuple[Any, Any]:
    """Return what finds all of some literals in UTF-8 bytes, by their numbers, and what finds the first of any."""
    import re2

    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1  # byte by byte
    options.never_capture = True
    options.max_mem = ENGINE_BYTES
    escaped = [re2.escape(literal.encode()) for literal in literals]
    every = re2.Set.SearchSet(options)
    for literal in escaped:
        every.Add(literal)
    every.Compile()
    return every, re2.compile(b"|".join(escaped), options)
