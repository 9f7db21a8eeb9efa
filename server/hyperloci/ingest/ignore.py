"""Ignore files, with Git's meaning: nested, later lines and deeper files win, `!` takes back.

The patterns are translated by `pathspec`. Its own matcher lets a pattern that names a folder match everything inside;
Git does that by not looking into the folder, and goes on with the other patterns otherwise. So a pattern counts here
only where it matches the very path that is asked about, and the walk asks about every folder before it enters it.

Not read: the user's global excludes (`core.excludesFile`), which are about one person's tools. Patterns that end in
`/**/` match the folder named before it as well.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

IGNORE_FILES: Final = (".gitignore", ".hyperlociignore")
"""Read in every folder; of two in one folder the later one here wins."""

MAX_IGNORE_BYTES: Final = 1_000_000
"""A larger ignore file is no ignore file."""

_GROUP_NAME: Final = re.compile(r"\(\?P<\w+>")

_ANYWHERE: Final = "^(?:.+/)?"
_BETWEEN: Final = "(?:/.+)?/"
"""What pathspec makes of a `**/` at the beginning of a pattern, and of a `/**/` inside of it."""

_STARS: Final = re.compile(r"(?:\[\^/\]\*){2,}")
_STAR_THEN: Final = re.compile(
    r"\[\^/\]\*((?:(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*+\]|[^\[\](){}|*+?/\\^$])(?![*+?]))++)(?=(?:/\[\^/\]\+)*+[^/()]*\[\^/\]\*)"
)
"""A `*`, what stands behind it, and another `*` in the same name."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one file.

    Attributes:
        base: folder they hold for, as a prefix of paths: empty or with a slash at its end.
        source: where they come from, for people.
        patterns: the compiled ones with what each decides, last first.
        any_pattern: matches wherever one of them may match; most paths match none.
    """

    base: str
    source: str
    patterns: tuple[tuple[re.Pattern[str], bool], ...]
    any_pattern: re.Pattern[str]

    def decide(self, path: str) -> bool | None:
        """Return whether the patterns ignore a path (a folder's ends in a slash); None if they say nothing of it."""
        local = _as_bytes_read(path.removeprefix(self.base))
        if not self.any_pattern.search(local):
            return None
        return next((ignores for pattern, ignores in self.patterns if _matches_itself(pattern, local)), None)


Chain = tuple[IgnoreRules, ...]
"""The rules that hold in a folder, weakest first."""


def ignored_by(chain: Chain, path: str) -> str | None:
    """Return the source of the rules that ignore a path, None if none do. A folder's path ends in a slash."""
    for rules in reversed(chain):
        decision = rules.decide(path)
        if decision is not None:
            return rules.source if decision else None
    return None


def compile_rules(lines: Iterable[str], base: str, source: str) -> IgnoreRules | None:
    """Compile patterns; None if there are none. A pattern that cannot be read matches nothing, as in Git.

    Args:
        lines: one pattern each, without line ends, characters standing for bytes (see `parse_lines`).
        base: folder they hold for, as a prefix.
        source: name for messages.
    """
    patterns: list[tuple[re.Pattern[str], bool]] = []
    for line in lines:
        try:
            pattern = GitIgnoreSpecPattern(line)
        except (GitIgnorePatternError, re.error):
            continue
        if pattern.include is not None and pattern.regex is not None:
            patterns.append((_settled(pattern.regex), pattern.include))
    if not patterns:
        return None
    union = "|".join(f"(?:{_GROUP_NAME.sub('(?:', pattern.pattern)})" for pattern, _ in patterns)
    return IgnoreRules(base, source, tuple(reversed(patterns)), re.compile(union))


def _settled(regex: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern that matches what pathspec's does in linear time: a repository brings both patterns and names.

    With another wildcard behind it, whatever follows a wildcard may as well stand as early as it can: it is never
    moved later. Only the last wildcard of a name, and the last `**`, still have to try where they end.
    """
    source = _STARS.sub("[^/]*", regex.pattern)
    source = _STAR_THEN.sub(r"(?>[^/]*?\1)", source)
    first, *others = source.split(_BETWEEN)
    if others:
        if first.startswith(_ANYWHERE):
            first = f"^(?>(?:.+?/)??{first.removeprefix(_ANYWHERE)}(?=/))"
        middle = "".join(f"(?>(?:/.+?)??/{part}(?=/))" for part in others[:-1])
        source = first + middle + _BETWEEN + others[-1]
    return re.compile(source, regex.flags)


def parse_lines(data: bytes) -> list[str]:
    """Return an ignore file's lines. Git matches bytes (`?` is one): each becomes the character of its number."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
    return [line.removesuffix("\r") for line in text.split("\n")]


def pattern_lines(patterns: Sequence[str]) -> list[str]:
    """Return patterns of settings in the form of `parse_lines`."""
    return [_as_bytes_read(pattern) for pattern in patterns]


def read_rules(file: Path, base: str, source: str) -> IgnoreRules | None:
    """Read an ignore file; None if there is none that can be read. A symbolic link is not followed, as in Git."""
    try:
        if not stat.S_ISREG(os.lstat(file).st_mode):
            return None
        with file.open("rb") as stream:
            data = stream.read(MAX_IGNORE_BYTES + 1)
    except OSError:
        return None
    return compile_rules(parse_lines(data), base, source) if len(data) <= MAX_IGNORE_BYTES else None


def folder_rules(folder: Path, base: str) -> Chain:
    """Return the rules of the ignore files that lie in a folder.

    Args:
        folder: absolute path.
        base: its path as the chain's paths begin: empty or with a slash at its end.
    """
    read = (read_rules(folder / name, base, base + name) for name in IGNORE_FILES)
    return tuple(rules for rules in read if rules is not None)


def _as_bytes_read(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1") if not text.isascii() else text


def _matches_itself(pattern: re.Pattern[str], path: str) -> bool:
    """Say whether a pattern matches the path itself, not only a folder above it.

    Where pathspec's expression ends in a group, that is the slash behind what the pattern names: it must be the path's
    last character. Where it has no group (`dir/**`) it must leave something of the path behind that slash.
    """
    for match in pattern.finditer(path):
        end = match.end()
        if end == len(path) if match.lastgroup else end < len(path) or not match[0].endswith("/"):
            return True
    return False
