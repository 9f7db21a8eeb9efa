"""Local sockets, and how one user's processes verify each other.

Little of the standard library is loaded with this module, and it runs on Python 3.7 and later: hooks and the plugin's
launcher use it too.
"""

from __future__ import annotations

import _socket
import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket

MAX_PATH_BYTES = 103
"""What fits `sun_path` on macOS and the BSDs with its closing NUL; Linux has room for four more."""


def is_supported() -> bool:
    """Tell whether this system has sockets with a path."""
    return hasattr(_socket, "AF_UNIX") and sys.platform != "win32"


def listen_at(address: str, backlog: int) -> socket.socket:
    """Return a listening socket that this user alone may connect to.

    The address appears at once and complete, over whatever a dead server has left there.

    Raises:
        OSError: it can't be listened there.
    """
    import socket

    draft = os.path.join(os.path.dirname(address), f"{os.getpid()}.t")
    if os.path.lexists(draft):
        os.unlink(draft)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(draft)
    os.chmod(draft, 0o600)
    listener.listen(backlog)
    os.replace(draft, address)
    return listener


def is_private_folder(folder: str) -> bool:
    """Tell whether a folder is no link, and this user's alone.

    Raises:
        OSError: there is none.
    """
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & 0o077


def is_same_user(connection: _socket.socket) -> bool:
    """Ask the kernel whether the process at the other end of a Unix socket runs as this user.

    Where the kernel has no such answer (macOS, BSD) the private folder alone keeps others out.
    """
    if not sys.platform.startswith("linux"):
        return True
    credentials = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[4:8], sys.byteorder) == os.getuid()
