"""Settings files: where a project's settings lie, what its other files choose, and what a file of settings says."""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import ConfigurationError

MAX_SETTINGS_BYTES: Final = 1 << 20
"""Larger files are refused."""


MAX_CLIENT_FILE_BYTES: Final = 1_000_000
"""A client's settings file that is longer is not read, and may contain anything."""


def find_project_file(folder: Path) -> Path:
    """Return the settings file nearest to a folder, from there up to its repository's root and no further."""
    files = [place / ".hyperloci.toml" for place in _folders_up_to_root(folder)]
    return next((file for file in files if os.path.exists(file)), files[0])


def _folders_up_to_root(folder: Path) -> list[Path]:
    folders = [folder, *folder.parents]
    root = next((number for number, place in enumerate(folders) if os.path.exists(place / ".git")), 0)
    return folders[: root + 1]


_CLIENT_FILES: Final = (
    *(".claude/settings.json", ".claude/settings.local.json", ".mcp.json"),
    *(".gemini/settings.json", ".gemini/.env", ".env"),
    *(".codex/config.toml", ".cursor/mcp.json", ".vscode/mcp.json", "opencode.json", "opencode.jsonc"),
)
"""Files of a project from which clients take variables of the environment."""


_WORD: Final = re.compile(rb"\w++")
_WRITTEN_OTHERWISE: Final = re.compile(rb"\\[uUx]|\0")


def find_chosen_by_files(folder: Path, variables: Collection[str], home: str) -> frozenset[str]:
    """Return those of some variables that files of the project set: the repository chose their values, not the user.

    Args:
        folder: the project's, or one in it.
        variables: names in upper case.
        home: the user's folder: the files in it are the user's, whose session may be there.
    """
    chosen: set[str] = set()
    if variables:
        users = os.path.realpath(home)
        places = [place for place in _folders_up_to_root(folder) if os.path.realpath(place) != users]
        for path in (place / name for place in places for name in _CLIENT_FILES):
            chosen |= _find_in_file(path, variables)
    return frozenset(chosen)


def _find_in_file(path: Path, variables: Collection[str]) -> set[str]:
    try:
        kind = path.stat().st_mode
        if not stat.S_ISREG(kind):
            return set() if stat.S_ISDIR(kind) else set(variables)  # A device or a pipe has no end.
        with path.open("rb") as file:
            content = file.read(MAX_CLIENT_FILE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return set()
    except OSError:
        return set(variables)  # A file that can't be read may contain them.
    if len(content) > MAX_CLIENT_FILE_BYTES:
        return set(variables)
    if path.suffix == ".json":
        with contextlib.suppress(ValueError, RecursionError):
            return _find_keys(json.loads(content), variables)
    # JSON with comments, TOML, or lines of a shell. A name may be written with escapes, or in another encoding.
    words = set(_WORD.findall(content.upper()))
    return set(variables) if _WRITTEN_OTHERWISE.search(content) else {one for one in variables if one.encode() in words}


def _find_keys(value: object, names: Collection[str]) -> set[str]:
    found: set[str] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            found.update(set(names).intersection(map(str.upper, item)))  # Windows knows no case of a variable.
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return found


def read_toml(path: Path) -> dict[str, Any]:
    """Return what a file of settings says; nothing where there is none.

    Raises:
        ConfigurationError: it can't be read, or is not TOML.
    """
    try:
        size = path.stat().st_size
        # A pipe would keep its reader waiting for ever.
        if size > MAX_SETTINGS_BYTES or not (path.is_file() or str(path) == os.devnull):
            raise ConfigurationError(f"{path} cannot be read: it is not a settings file.")
        text = path.read_text(encoding="utf-8-sig")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
