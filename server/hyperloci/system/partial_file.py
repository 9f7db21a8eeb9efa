"""Partial files: what is written beside its place and takes it once it is whole."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

_RANDOM_BYTES = 6
_LEFT = re.compile(rf"\.partial-[0-9a-f]{{{2 * _RANDOM_BYTES}}}\Z")
_LEFT_SECONDS = 24 * 60 * 60
"""No copy takes so long: a partial file that nobody wrote to since was left by a process that was killed."""


@contextlib.contextmanager
def make_partial_file(place: Path) -> Iterator[Path]:
    """Make an empty file of this user's beside a place, under a name that nobody else uses; yield it.

    The block writes it and has it replace what is at the place. What is still there afterwards is removed, and so is
    what a process that was killed left in the folder over a day ago.

    Raises:
        OSError: it can't be made.
    """
    partial = place.with_name(f"{place.name}.partial-{os.urandom(_RANDOM_BYTES).hex()}")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        _remove_left(partial)
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)


def _remove_left(made: Path) -> None:
    """Remove the partial files that killed processes left in the folder of one just made; others' files stay."""
    with contextlib.suppress(OSError), os.scandir(made.parent) as entries:
        # By the clock that dates the others too: the folder's disk may be another machine's.
        last = made.stat().st_mtime - _LEFT_SECONDS
        for entry in entries:
            if _LEFT.search(entry.name) is None or not entry.is_file(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_mtime < last:
                    os.unlink(entry.path)
