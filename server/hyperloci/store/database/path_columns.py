"""Path columns: on POSIX a path is any bytes, but SQLite's texts are UTF-8."""

from __future__ import annotations

import os


def encode_path(path: str | None) -> str | bytes | None:
    """Return a path as a column takes it: its bytes where it is no text."""
    if path is None:
        return None
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def decode_path(value: str | bytes | None) -> str | None:
    """Return the path that `encode_path` put into a column."""
    return os.fsdecode(value) if isinstance(value, bytes) else value


def path_as_text(path: str) -> str:
    """Return a path as people are shown it, whatever bytes it is made of."""
    return path.encode("utf-8", "backslashreplace").decode()
