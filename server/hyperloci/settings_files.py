"""Settings files: where a project's settings lie, what its other files choose, and what a file of settings says."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import Any, Final

from hyperloci.errors import ConfigurationError

MAX_SETTINGS_BYTES: Final = 1 << 20
"""Larger files are refused."""


MAX_CLIENT_FILE_BYTES: Final = 1_000_000
"""Bytes read of a client's settings file; a longer one is cut and then fails to parse."""


def find_project_file(folder: Path) -> Path:
    """Return the settings file nearest to a folder, from there up to its repository's root and no further."""
    files = [place / ".hyperloci.toml" for place in _folders_up_to_root(folder)]
    return next((file for file in files if os.path.exists(file)), files[0])


def _folders_up_to_root(folder: Path) -> list[Path]:
    folders = [folder, *folder.parents]
    root = next((number for number, place in enumerate(folders) if os.path.exists(place / ".git")), 0)
    return folders[: root + 1]


_CLIENT_FILES: Final = (".claude/settings.json", ".claude/settings.local.json", ".mcp.json")
"""Files of a project from which Claude Code takes variables of the environment."""


def is_chosen_by_files(folder: Path, variable: str) -> bool:
    """Whether files of the project set a variable: then the repository chose its value, not the user."""

    for path in (place / name for place in _folders_up_to_root(folder) for name in _CLIENT_FILES):
        try:
            value = json.loads(path.read_bytes()[:MAX_CLIENT_FILE_BYTES])
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError, RecursionError):
            return True  # A file that can't be read may contain it.
        if _has_key(value, variable):
            return True
    return False


def _has_key(value: object, name: str) -> bool:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            if name in item:
                return True
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return False


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
