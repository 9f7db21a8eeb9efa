"""Memory use: how much memory this process holds, and how it gives some back."""

from __future__ import annotations

import contextlib
import ctypes
import sys
from pathlib import Path


def measure_resident_bytes() -> int:
    """Return the resident set's size; its peak where only that is told, 0 where nothing is."""
    if sys.platform == "win32":
        return 0
    import resource

    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def release_memory() -> None:
    """Return freed memory to the system, where the C library keeps it (glibc: about 100 MB after bulk work)."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
