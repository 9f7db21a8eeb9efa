"""Folder birth: when a folder was made, which no later change of what is in it moves."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

_AT_FDCWD: Final = -100
_STATX_BTIME: Final = 0x800
_STATX_BYTES: Final = 256
_BTIME_OFFSET: Final = 80
"""Of the seconds (64 bits) and nanoseconds (32 bits) in `struct statx`, the same on every processor."""


def read_birth_ns(folder: Path) -> int | None:
    """Return when a folder was made, in nanoseconds since 1970; None where there is none or the system can't tell."""
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return None
    if sys.platform == "win32":
        return status.st_ctime_ns
    if seconds := getattr(status, "st_birthtime", None):
        return int(seconds * 1_000_000_000)
    return _ask_statx(folder) if sys.platform == "linux" else None


def _ask_statx(folder: Path) -> int | None:
    """Ask Linux itself: `os.stat` has no birth there."""
    import ctypes
    import struct

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):  # A C library without it.
        return None
    found = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(_AT_FDCWD, os.fsencode(folder), 0, _STATX_BTIME, found) != 0:
        return None
    (mask,) = struct.unpack_from("=I", found)
    seconds, nanoseconds = struct.unpack_from("=qI", found, _BTIME_OFFSET)
    return int(seconds * 1_000_000_000 + nanoseconds) if mask & _STATX_BTIME else None
