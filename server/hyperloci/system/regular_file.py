"""Regular files: opens untrusted paths safely, and tells what may be replaced; a pipe or a device is neither."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular_file(path: Path) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        OSError: it is gone, may not be read, or is no regular file.
    """
    # Opening a pipe waits for somebody to write to it.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    raise OSError(errno.EINVAL, "not a regular file", str(path))


def find_replaceable(path: Path) -> Path | None:
    """Return the file that a new one may take the place of by this name, or where the first one goes.

    Links are followed: what they lead to is replaced, they stay. None: a device, a pipe or a socket is there, or a file
    that has no name any more; whoever put another file in its place would take it from everybody.

    Raises:
        OSError: a folder is there, or it can't be looked at.
    """
    real = os.path.realpath(path)
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return Path(real)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return Path(real) if stat.S_ISREG(status.st_mode) and os.path.exists(real) else None
