"""Ignore files, with Git's meaning: nested, later lines and deeper files win, `!` takes back.

The patterns are translated by `pathspec`. Its own matcher lets a pattern that names a folder match everything inside;
Git does that by not looking into the folder, and goes on with the other patterns otherwise. So a pattern counts here
only where it matches the very path that is asked about, and the walk asks about every folder before it enters it.

Ignore files come with any cloned repository, so they are matched by RE2, in linear time: for Python's own engine
`a*a*a*a*a*a*a*a*b` is a trap.

Not read: the user's global excludes (`core.excludesFile`), which are about one person's tools. Patterns that end in
`/**/` match the folder named before it as well.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import re2
from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from hyperloci.system.values import dataclass

OWN_IGNORE_FILE: Final = ".hyperlociignore"
"""What it says is said to us, whatever a repository is for."""

IGNORE_FILES: Final = (".gitignore", OWN_IGNORE_FILE)
"""Read in every folder; of two in one folder the later one here wins."""

MAX_IGNORE_BYTES: Final = 1_000_000
"""A larger ignore file is no ignore file."""

MAX_PATTERN_CHARS: Final = 4_096
"""A longer line names no path that a file system has; it matches nothing."""

GROUP_PATTERNS: Final = 200
"""Patterns in one expression that tests whether any of them matches: nearly all ignore files have fewer."""

MAX_MACHINE_BYTES: Final = 256 << 20
"""What RE2 may take for one expression, before it refuses: half as many of the longest patterns may need it all."""

_PLAIN: Final = re.compile(r"[^\\\[\s]+|\\\S| +|.", re.DOTALL)
_BLANK: Final = re.compile(r"\\?([^\S ])|\\( )")
"""What `pathspec` would strip from a pattern's end and Git does not: some bytes of UTF-8 among it, as those of `à`."""

_MEMBER: Final = re.compile(r"\\(.)|\[:([^\]]{0,40}):\]|(.)", re.DOTALL)
_RANGE: Final = re.compile(r"-(?:\\(.)|([^\]\\]))", re.DOTALL)
"""What a bracket is made of; only behind a member that is no range's end and no class does `-` make a range."""

_HELD: Final = range(0xE000, 0xF8FF)
"""Each stands for an expression while a pattern is translated; no pattern has them, its characters are bytes."""

_CLASSES: Final = {
    "alnum": "09AZaz",
    "alpha": "AZaz",
    "blank": "  \t\t",
    "cntrl": "\x01\x1f\x7f\x7f",
    "digit": "09",
    "graph": "!~",
    "lower": "az",
    "print": " ~",
    "punct": "!/:@[`{~",
    "space": "  \t\n\r\r",
    "upper": "AZ",
    "xdigit": "09AFaf",
}
"""The ranges that `[:alpha:]` and its like are: first, last, first, last."""

_GROUP_NAME: Final = re.compile(r"\(\?P<\w+>")


class LinearPattern(Protocol):
    """An expression of RE2, as far as it is used here; its own class has no types."""

    @property
    def pattern(self) -> str:
        """Its source."""
        ...

    def search(self, text: str) -> Any:
        """Return the first match, or None."""
        ...

    def finditer(self, text: str) -> Iterator[Any]:
        """Yield every match."""
        ...


@dataclass(frozen=True, slots=True)
class _PatternGroup:
    """Neighbouring patterns with what each decides, last first; `any_pattern` matches wherever one of them may."""

    any_pattern: LinearPattern
    patterns: tuple[tuple[LinearPattern, bool], ...]

    def without_ignoring(self, path: str) -> _PatternGroup | None:
        kept = [(one, ignores) for one, ignores in self.patterns if not (ignores and _matches_itself(one, path))]
        return _PatternGroup.from_patterns(kept[::-1]) if kept else None

    @classmethod
    def from_patterns(cls, patterns: Sequence[tuple[LinearPattern, bool]]) -> _PatternGroup:
        union = "|".join(f"(?:{_GROUP_NAME.sub('(?:', pattern.pattern)})" for pattern, _ in patterns)
        return cls(_compile_linear(union), tuple(reversed(patterns)))

    def decide(self, path: str) -> bool | None:
        if not self.any_pattern.search(path):  # As most paths don't.
            return None
        return next((ignores for pattern, ignores in self.patterns if _matches_itself(pattern, path)), None)


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one file.

    Attributes:
        base: folder they hold for, as a prefix of paths: empty or with a slash at its end.
        source: where they come from, for people.
        groups: the patterns, last first.
    """

    base: str
    source: str
    groups: tuple[_PatternGroup, ...]

    def decide(self, path: str) -> bool | None:
        """Return whether the patterns ignore a path (a folder's ends in a slash); None if they say nothing of it."""
        local = _as_bytes_read(path.removeprefix(self.base))
        decisions = (group.decide(local) for group in self.groups)
        return next((decision for decision in decisions if decision is not None), None)


Chain = tuple[IgnoreRules, ...]
"""The rules that hold in a folder, weakest first."""


def find_ignoring_rule(chain: Chain, path: str) -> str | None:
    """Return the source of the rules that ignore a path, None if none do. A folder's path ends in a slash."""
    for rules in reversed(chain):
        decision = rules.decide(path)
        if decision is not None:
            return rules.source if decision else None
    return None


def drop_patterns_ignoring(chain: Chain, path: str) -> Chain:
    """Return a chain without the patterns of Git's files that ignore a path; what else they ignore, they go on to."""
    kept: list[IgnoreRules] = []
    for rules in chain:
        if rules.source.endswith(OWN_IGNORE_FILE):
            kept.append(rules)
            continue
        local = _as_bytes_read(path.removeprefix(rules.base))
        groups = tuple(group for one in rules.groups if (group := one.without_ignoring(local)))
        kept += [IgnoreRules(rules.base, rules.source, groups)] if groups else []
    return tuple(kept)


def compile_rules(lines: Iterable[str], base: str, source: str) -> IgnoreRules | None:
    """Compile patterns; None if there are none. A pattern that cannot be read matches nothing, as in Git.

    Args:
        lines: one pattern each, without line ends, characters standing for bytes (see `parse_lines`).
        base: folder they hold for, as a prefix.
        source: name for messages.
    """
    patterns: list[tuple[LinearPattern, bool]] = []
    for line in lines:
        if len(line) > MAX_PATTERN_CHARS:
            continue
        # Only translated there, not compiled: what Python's engine would make of it is not wanted.
        with contextlib.suppress(GitIgnorePatternError, re2.error):
            expression, ignores = _translate(line)
            if expression is not None and ignores is not None:
                patterns.append((_compile_linear(expression), ignores))
    if not patterns:
        return None
    groups = [
        group
        for start in range(0, len(patterns), GROUP_PATTERNS)
        for group in _group_patterns(patterns[start : start + GROUP_PATTERNS])
    ]
    return IgnoreRules(base, source, tuple(reversed(groups)))


def _group_patterns(patterns: Sequence[tuple[LinearPattern, bool]]) -> list[_PatternGroup]:
    """Return patterns as one group, or as more where RE2 refuses the expression of all."""
    try:
        return [_PatternGroup.from_patterns(patterns)]
    except re2.error:
        half = len(patterns) // 2
        if not half:
            return []
        return [*_group_patterns(patterns[:half]), *_group_patterns(patterns[half:])]


def _translate(pattern: str) -> tuple[str | None, bool | None]:
    """Return a pattern as an expression, and whether it ignores; `pathspec` is not asked about brackets.

    It ends one at the first `]`, parts one at a slash, and has `lib[!0-9]*` match `lib/a.py`.
    """
    if pattern.startswith("#"):
        return None, None
    held: list[str] = []
    text, at, anchored = "", 0, False
    while at < len(pattern):
        begin = at
        if pattern[at] == "[":
            expression, at = _read_bracket(pattern, at)
            anchored = anchored or "/" in pattern[begin:at]
        elif blank := _BLANK.match(pattern, at):
            expression, at = _write_class([blank[1] or blank[2]] * 2), blank.end()
        else:
            at = plain.end() if (plain := _PLAIN.match(pattern, at)) else len(pattern)
            text += pattern[begin:at]
            continue
        text += chr(_HELD[len(held)])
        held.append(expression)
    if anchored:  # As by any slash that is not the last character.
        negation = "!" if text.startswith("!") else ""
        text = f"{negation}/{text.removeprefix(negation).removeprefix('/')}"
    translated, ignores = GitIgnoreSpecPattern.pattern_to_regex(text.rstrip(" "))
    return translated and translated.translate(dict(zip(_HELD, held, strict=False))), ignores


def _read_bracket(pattern: str, at: int) -> tuple[str, int]:
    """Return the expression of the bracket that begins at a place, and where it ends, as Git's `wildmatch` reads it."""
    negated = pattern.startswith(("!", "^"), at + 1)
    at = first = at + 1 + negated
    ends: list[str] = []
    may_begin_range = False
    while match := (_RANGE.match(pattern, at) if may_begin_range else None) or _MEMBER.match(pattern, at):
        if match[0] == "]" and at > first:
            return _write_class(ends, negated=negated), match.end()
        at = match.end()
        if match.re is _RANGE:
            ends += [ends[-1], match[1] or match[2]]
        elif match[2] is not None:
            if match[2] not in _CLASSES:
                break
            ends += _CLASSES[match[2]]
        else:
            ends += [match[1] or match[3]] * 2
        may_begin_range = match.re is _MEMBER and match[2] is None
    raise GitIgnorePatternError(f"Invalid bracket: {pattern!r}")


def _write_class(ends: Sequence[str], *, negated: bool = False) -> str:
    """Return the expression of ranges, first, last, first, last; a slash is in none."""
    ranges = [*zip(ends[::2], ends[1::2], strict=True)]
    if negated:
        ranges.append(("/", "/"))
    else:
        parts = [((first, min(last, ".")), (max(first, "0"), last)) for first, last in ranges]
        ranges = [part for both in parts for part in both]
    written = "".join(f"\\x{{{ord(first):x}}}-\\x{{{ord(last):x}}}" for first, last in ranges if first <= last)
    return f"[{'^' * negated}{written}]" if written else r"[^\x{0}-\x{10ffff}]"


def _compile_linear(expression: str) -> LinearPattern:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MACHINE_BYTES
    compiled: LinearPattern = re2.compile(expression, options)
    return compiled


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


def read_folder_rules(folder: Path, base: str) -> Chain:
    """Return the rules of the ignore files that lie in a folder.

    Args:
        folder: absolute path.
        base: its path as the chain's paths begin: empty or with a slash at its end.
    """
    read = (read_rules(folder / name, base, base + name) for name in IGNORE_FILES)
    return tuple(rules for rules in read if rules is not None)


def _as_bytes_read(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("latin-1") if not text.isascii() else text


def _matches_itself(pattern: LinearPattern, path: str) -> bool:
    """Say whether a pattern matches the path itself, not only a folder above it.

    Where pathspec's expression ends in a group, that is the slash behind what the pattern names: it must be the path's
    last character. Where it has no group (`dir/**`) it must leave something of the path behind that slash.
    """
    for match in pattern.finditer(path):
        end = match.end()
        if end == len(path) if match.lastgroup else end < len(path) or not match[0].endswith("/"):
            return True
    return False
