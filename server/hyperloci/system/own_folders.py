"""Own folders and files: what nobody else may see, whatever the umask says."""

from __future__ import annotations

import contextlib
import os


def make_own_folders(folder: str | os.PathLike[str]) -> None:
    """Create a folder for this user alone, and those above it that are missing; what exists stays as it is.

    `os.makedirs` gives its mode to the last folder only: the others could be listed by everybody.

    Raises:
        OSError: it can't be made, or a file has its name.
    """
    missing, path = [], os.path.abspath(folder)
    while not os.path.isdir(path):
        missing.append(path)
        above = os.path.dirname(path)
        if above == path:
            break
        path = above
    for path in reversed(missing):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:  # Made by somebody else meanwhile, or a file.
            if not os.path.isdir(path):
                raise


def open_own_file(path: str, flags: int) -> int:
    """Open a file for this user alone: an opener for `open`. One that others may read is closed to them."""
    descriptor = os.open(path, flags, 0o600)
    if os.name == "posix":
        with contextlib.suppress(OSError):  # Somebody else's, who lets this user write.
            os.fchmod(descriptor, 0o600)
    return descriptor
