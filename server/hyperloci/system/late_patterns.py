"""Late patterns: regular expressions that are compiled when a text is first looked through with them.

A prompt's hook loads 160 patterns, and looks through its few texts with 35 of them. To compile the others took a tenth
of what the hook computed (`python -m bench hooks`).
"""

from __future__ import annotations

import re
from typing import Any, Final, cast

_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


def compile_late(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what is used as `re.compile(pattern, flags)` is; a faulty pattern is an error when it is first used."""
    return cast("re.Pattern[str]", _LatePattern(pattern, flags))


class _LatePattern:
    """Has the methods of a compiled pattern once it is asked for the first of them."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # `copy` and `pickle` ask before there is a source.
            raise AttributeError(name)
        compiled = re.compile(*self._source)
        vars(self).update((method, getattr(compiled, method)) for method in _METHODS)
        return getattr(compiled, name)
