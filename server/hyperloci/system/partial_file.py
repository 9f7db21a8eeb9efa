"""Partial files: what is written beside its place and takes it once it is whole."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

_RANDOM_BYTES = 6
_LEFT = re.compile(rf"\.partial-[0-9a-f]{{{2 * _RANDOM_BYTES}}}(?:-journal|-wal|-shm)?\Z")
"""A partial file's name behind its place's, or that of what SQLite keeps beside one."""

_LEFT_SECONDS = 24 * 60 * 60
"""No copy takes so long: a partial file that nobody wrote to since was left by a process that was killed."""


@contextlib.contextmanager
def make_partial_file(place: Path) -> Iterator[Path]:
    """Make an empty file of this user's beside a place, under a name that nobody else uses; yield it.

    The block writes it and has it replace what is at the place. What is still there afterwards is removed, and so is
    what a process that was killed left of the same place over a day ago.

    Raises:
        OSError: it can't be made.
    """
    partial = place.with_name(f"{place.name}.partial-{os.urandom(_RANDOM_BYTES).hex()}")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        _remove_left(place, partial)
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _remove_left(place: Path, made: Path) -> None:
    """Remove the partial files of a place that killed processes of this user left beside one just made."""
    with contextlib.suppress(OSError), os.scandir(made.parent) as entries:
        mine = made.stat()
        for entry in entries:
            is_named = entry.name.startswith(place.name) and _LEFT.fullmatch(entry.name, len(place.name))
            with contextlib.suppress(OSError):
                if (
                    is_named
                    and entry.is_file(follow_symlinks=False)
                    and _is_left(entry.stat(follow_symlinks=False), mine)
                ):
                    os.unlink(entry.path)


def _is_left(found: os.stat_result, made: os.stat_result) -> bool:
    # By the clock that dates the new one too: the folder's disk may be another machine's.
    is_old = found.st_mtime < made.st_mtime - _LEFT_SECONDS
    return is_old and found.st_uid == made.st_uid and found.st_nlink == 1
