"""Vector extension: loads sqlite-vec if this Python can; nothing depends on it.

Many Pythons are built without `enable_load_extension` (pyenv's, macOS's own). Where `_sqlite3` is linked to a
shared libsqlite3, registering the extension in that very library works for stock connections.
"""

from __future__ import annotations

import ctypes
import functools
import logging
import sqlite3
import sys
from pathlib import Path
from typing import Final

import sqlite_vec

logger = logging.getLogger(__name__)

EXTENSION: Final = "extension"
AUTO_EXTENSION: Final = "auto_extension"
ABSENT: Final = "absent"


@functools.cache
def prepare_vec() -> str:
    """Find out how connections opened from now on can load sqlite-vec: `extension`, `auto_extension` or `absent`."""
    if hasattr(sqlite3.Connection, "enable_load_extension"):
        return EXTENSION
    library = _linked_library()
    if library is None:
        return ABSENT
    try:
        extension = ctypes.CDLL(sqlite_vec.loadable_path() + _library_suffix())
        status = library.sqlite3_auto_extension(extension.sqlite3_vec_init)
    except (OSError, AttributeError) as error:
        logger.info("sqlite-vec is not usable here (%s): numpy ranks instead", error)
        return ABSENT
    return AUTO_EXTENSION if status == sqlite3.SQLITE_OK else ABSENT


def attach_vec(connection: sqlite3.Connection) -> bool:
    """Make sqlite-vec's functions usable on a connection opened after `prepare_vec`; False if that is not possible."""
    if prepare_vec() == EXTENSION:
        try:
            connection.enable_load_extension(True)
            sqlite_vec.load(connection)
        except sqlite3.Error as error:
            logger.info("sqlite-vec did not load (%s): numpy ranks instead", error)
        finally:
            # Left on, SQL text could load any library.
            connection.enable_load_extension(False)
    return is_attached(connection)


def is_attached(connection: sqlite3.Connection) -> bool:
    """Return whether sqlite-vec's functions answer on this connection."""
    try:
        connection.execute("SELECT vec_version()").fetchone()
    except sqlite3.OperationalError:
        return False
    return True


def _library_suffix() -> str:
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def _linked_library() -> ctypes.CDLL | None:
    """Return the libsqlite3 that `_sqlite3` is linked to, or None if that can't be told for sure."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return None
    paths = {line.split()[-1] for line in maps.read_text().splitlines() if "libsqlite3" in line}
    if len(paths) != 1:
        return None
    try:
        library = ctypes.CDLL(paths.pop())
    except OSError:
        return None
    library.sqlite3_libversion.restype = ctypes.c_char_p
    same = library.sqlite3_libversion().decode() == sqlite3.sqlite_version
    return library if same else None
