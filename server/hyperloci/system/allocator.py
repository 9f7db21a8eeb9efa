"""Allocator: how glibc's malloc shares memory among the threads of a process."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from typing import Final

_M_ARENA_MAX: Final = -8
"""`malloc.h`'s number for it."""


def share_one_arena() -> None:
    """Let all threads that are still to come allocate from one arena; nothing where the C library is not glibc.

    Each thread would have one of its own, which keeps what another could use: a server's dozen hold 4 MB more. Python's
    threads seldom allocate at the same time.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 1)
