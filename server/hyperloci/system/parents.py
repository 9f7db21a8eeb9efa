"""Parents: the processes that started this one, by which a hook and a server know that one client started both."""

from __future__ import annotations

import os

PARENTS_VARIABLE = "HYPERLOCI_HOOK_PARENTS"
"""Tells who handles a hook's event what started the hook's process: ids with spaces between."""

NEAREST = 3
"""A client, and what may stand between it and us: a shell and a launcher. What is further up, a terminal or a desktop,
has started other clients too."""

_START_FIELD = 19
"""Where Linux says when a process started, counted from behind the name, which may hold anything."""


def list_parents(most: int = NEAREST) -> list[str]:
    """Return the processes above this one, the nearest first; each its id and, on Linux, when it started.

    Elsewhere only the nearest is known without another program, and a process id alone may be used again.
    """
    found: list[str] = []
    pid = os.getppid()
    while len(found) < most and pid > 1:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                fields = file.read().rpartition(b")")[2].split()
            found.append(f"{pid}.{int(fields[_START_FIELD])}")
            pid = int(fields[1])
        except (OSError, ValueError, IndexError):
            return found or [str(pid)]
    return found
