"""Folder mark: what tells a folder from any other that stands at its path later: device, inode and birth.

Numbers of inodes are given out anew at once; a birth is moved by no later change of what is in the folder.
"""

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


def read_folder_mark(folder: Path) -> str | None:
    """Return `device:inode:birth` of a folder, the birth in nanoseconds; None where one of them can't be told."""
    try:
        status = os.stat(folder)
    except (OSError, ValueError):
        return None
    born = _read_birth_ns(folder, status)
    return f"{status.st_dev}:{status.st_ino}:{born}" if born and status.st_ino else None


def _read_birth_ns(folder: Path, status: os.stat_result) -> int | None:
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
