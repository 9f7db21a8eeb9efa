"""Partial files: what is written beside its place and takes it once it is whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

_RANDOM_BYTES = 6


@contextlib.contextmanager
def make_partial_file(place: Path) -> Iterator[Path]:
    """Make an empty file of this user's beside a place, under a name that nobody else uses; yield it.

    The block writes it and has it replace what is at the place. What is still there afterwards is removed.

    Raises:
        OSError: it can't be made.
    """
    partial = place.with_name(f"{place.name}.partial-{os.urandom(_RANDOM_BYTES).hex()}")
    os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield partial
    finally:
        with contextlib.suppress(OSError):
            partial.unlink(missing_ok=True)
