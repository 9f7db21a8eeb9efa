"""Clone token: identifies one clone: 128 random bits in a private file of its Git folder.

It is never in a working tree, so no commit, clone or archive contains it. A folder with the token is that clone, moved,
or a copy of it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Final

TOKEN_FILE: Final = "hyperloci"

_TOKEN: Final = re.compile(rb"[0-9a-f]{32}\n")
_MAX_BYTES: Final = 64


def ensure_token(common_dir: Path) -> str | None:
    """Return the hash of a Git folder's token, made if there is none yet; None where none can be kept.

    A folder of another user's gets none, and a link or a file of another user's in the token's place is none: it
    would lead to somebody else's.
    """
    path = common_dir / TOKEN_FILE
    token = _read_token_file(path) or (
        _write_token_file(path) if _belongs_to_user(common_dir) and not os.path.lexists(path) else None
    )
    return None if token is None else hashlib.sha256(b"hyperloci place " + token).hexdigest()


def read_token(common_dir: Path) -> str | None:
    """Return the hash of the token that a Git folder has, None without one; nothing is written."""
    token = _read_token_file(common_dir / TOKEN_FILE)
    return None if token is None else hashlib.sha256(b"hyperloci place " + token).hexdigest()


def _belongs_to_user(folder: Path) -> bool:
    if not hasattr(os, "geteuid"):
        return True
    try:
        return os.stat(folder).st_uid == os.geteuid()
    except OSError:
        return False


def _read_token_file(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return None
    try:
        status = os.fstat(descriptor)
        # A second name of the file may be another Git folder's.
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or path.is_symlink():
            return None
        if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
            return None
        content = os.read(descriptor, _MAX_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if _TOKEN.fullmatch(content) else None


def _write_token_file(path: Path) -> bytes | None:
    """Write a new token; whichever of two processes is first, both return the one that is there."""
    token = os.urandom(16).hex().encode() + b"\n"
    unfinished = path.with_name(f"{TOKEN_FILE}-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    try:
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except (OSError, ValueError):
        return None
    try:
        with contextlib.suppress(OSError):
            os.write(descriptor, token)
        os.close(descriptor)
        # Not a rename: that would replace the token of a process that was faster.
        with contextlib.suppress(OSError):
            os.link(unfinished, path)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink()
    return _read_token_file(path)
