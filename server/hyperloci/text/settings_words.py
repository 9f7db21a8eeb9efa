"""Settings words: what well-known settings are about: `engines` is found by "the oldest node it runs on".

Who asks for a setting says what it does, and a file of settings says only its key. The words stand beside a block as
context: they are among its keywords and in what its meaning is read from, and are shown nowhere.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Final

from hyperloci.system.values import dataclass

_FILE: Final = Path(__file__).parent / "language" / "data" / "settings_words.toml"

_KEY: Final = re.compile(r"^([ \t]*+)(?:- )?[\"']?([\w@.-]{1,60})[\"']?(?:[ \t]*+[:=]|[ \t]++(?=[\w(]))", re.MULTILINE)
"""A key at the beginning of a line, with what it stands in by; `go 1.20` has no sign between."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """What settings are about; without `keys`, all blocks of the files. A key in brackets is a name of tables only."""

    words: str
    files: tuple[str, ...]
    keys: frozenset[str]

    def is_of_file(self, path: PurePosixPath) -> bool:
        return any(fnmatchcase(str(path) if "/" in file else path.name, file) for file in self.files)


@functools.cache
def _read_subjects() -> tuple[_Subject, ...]:
    found = tomllib.loads(_FILE.read_text(encoding="utf-8"))["about"]
    return tuple(_Subject(entry["words"], tuple(entry["files"]), frozenset(entry.get("keys", ()))) for entry in found)


@functools.lru_cache(maxsize=1_024)
def _subjects_of(path: str) -> tuple[_Subject, ...]:
    place = PurePosixPath(path)
    return tuple(subject for subject in _read_subjects() if subject.is_of_file(place))


def describe_settings(path: str | None, table: str, text: str) -> str:
    """Return in words what a block of a file of settings is about; empty for files and keys that are not known.

    Args:
        path: POSIX path of the file, relative to the project's root; None for what is no file's.
        table: the name of the block's table or key; empty where it has none.
        text: the block.
    """
    subjects = _subjects_of(path) if path else ()
    if not subjects:
        return ""
    keys = {*_list_names(table), *_list_keys(path or "", text)}
    return "; ".join(subject.words for subject in subjects if not subject.keys or subject.keys & keys)


def _list_names(table: str) -> Iterator[str]:
    """Yield a table's whole name, its last part, and what it is part of: `tool.ruff.lint` is of `tool.ruff`."""
    parts = table.split(".")
    for name in (table, parts[-1], *(".".join(parts[:end]) for end in range(2, len(parts)))):
        yield from (name, f"[{name}]")


def _list_keys(path: str, text: str) -> Iterator[str]:
    """Yield the keys of a block; of JSON those of its first level, as the others are names of packages and rules."""
    found = [(len(match[1]), match[2]) for match in _KEY.finditer(text)]
    deepest = min((depth for depth, _ in found), default=0) if path.endswith(".json") else len(text)
    yield from (key for depth, key in found if depth <= deepest)
