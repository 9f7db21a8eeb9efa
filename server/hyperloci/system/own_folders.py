"""Own folders: those that hold what nobody else may see, from the first that is missing on."""

from __future__ import annotations

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
