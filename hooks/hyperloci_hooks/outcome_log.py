"""Outcome log: the outcome of each event of a database, one line per event in a file in its spool folder, for `doctor`.

A hook has no time to open the database. A line is one append, which the system keeps whole, of: when (ms), event,
outcome, how long it took (ms), and the event's mark.
"""

from __future__ import annotations

import os
import time

NAME = "tally.txt"
OLDER = "tally.1.txt"
MAX_BYTES = 1 << 18
"""Some five thousand events: a week of a busy user. Then the file replaces the older one."""

LOOKED_BACK_BYTES = 1 << 15
"""Some six hundred events, as far as a session's start is looked for that was late."""

SERVED = "served"
"""A server answered in time."""
OWN = "own"
"""No server ran; the hook handled the event itself, in time."""
LATE = "late"
"""The hook's time was over: the session got no context, and a separate process stores the record."""
BEGAN, ENDED = "began", "ended"
"""The event was handed to a separate process; that ended with the record stored (or with nothing to store)."""
SPOOLED = "spooled"
"""The database could not take the record; it waits in the spool."""
DROPPED = "dropped"
"""The event was lost: it was too large, or nothing could be written."""
ASIDE = "aside"
"""A record of the spool could not be stored and was set aside."""


def append_outcome(folder: str, event: str, outcome: str, ms: float = 0, mark: str = "-") -> None:
    """Append an outcome. If the file can't be written, the outcome is not counted."""
    line = f"{time.time_ns() // 1_000_000} {event or '-'} {outcome} {ms:.1f} {mark or '-'}\n"
    path = os.path.join(folder, NAME)
    try:
        try:
            descriptor = _open_log(path)
        except FileNotFoundError:
            # Only before the first event of all: a hook loads next to nothing.
            from hyperloci.system.own_folders import make_own_folders

            make_own_folders(folder)
            descriptor = _open_log(path)
        try:
            os.write(descriptor, line.encode("ascii", "replace"))
            full = os.fstat(descriptor).st_size > MAX_BYTES
        finally:
            os.close(descriptor)
        if full:
            os.replace(path, os.path.join(folder, OLDER))
    except OSError:
        return


def find_late_marks(folder: str) -> frozenset[str]:
    """Return the marks of the latest events whose sessions got no context, as the hook's time was over."""
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            file.seek(max(os.fstat(file.fileno()).st_size - LOOKED_BACK_BYTES, 0))
            lines = file.read().decode("ascii", "replace").splitlines()
    except OSError:
        return frozenset()
    fields = (line.split() for line in lines)
    return frozenset(line[4] for line in fields if len(line) == 5 and line[2] == LATE and line[4] != "-")


def _open_log(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)


def read_lines(folder: str) -> list[list[str]]:
    """Return the fields of every complete line, oldest first."""
    found: list[list[str]] = []
    for name in (OLDER, NAME):
        try:
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
        except OSError:
            continue
        fields = (line.decode("ascii", "replace").split() for line in data.splitlines())
        found.extend(line for line in fields if len(line) == 5 and line[0].isdigit())
    return found
