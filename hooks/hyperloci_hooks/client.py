"""Hook client: sends a hook's event to a running server of its database.

It uses as little of the standard library as possible and runs on Python 3.7 and later: the plugin's launcher uses this
file too.

A hook sends one frame (`hyperloci.system.framing`): its header is texts separated by NUL (see `pack_event`), its body
the payload as it came. The server sends `T` when it has taken the frame, then `A`, a JSON object and a newline once the
event is stored durably; or `N` and a newline if the hook must handle the event itself. Anything else, or the end of the
connection, is no answer.
"""

from __future__ import annotations

import _socket  # What `socket` wraps: its enumerations take a hook longer to load than all else that it does.
import os
import select
import time

from hyperloci.system.framing import pack_frame
from hyperloci.system.parents import PARENTS_VARIABLE, list_parents
from hyperloci.system.sockets import is_private_folder, is_same_user

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

VERSION = "1"
"""Version of the frame; a server answers `N` to another one."""

MARK = b"HOOK"
SUFFIX = ".s"
"""Suffix of the sockets in a database's folder: one per server, named by its process id."""

ANSWERED, REFUSED, LATE, TOLD = "answered", "refused", "late", "told"

TAKEN_SECONDS = 0.25
"""How long a server may take to accept a frame before the next one is tried: it may be suspended."""

MOST_SERVERS = 4
"""Servers that are tried for one event, at most."""

_BUSY_TRIES, _BUSY_SECONDS = 10, 0.02
_PIECE = 1 << 16

_NAMES = (
    "RLM_MEMORY_DB",
    "HOME",
    "USERPROFILE",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CODEX_HOME",
    "CURSOR_VERSION",
    "GEMINI_SESSION_ID",
    "XDG_RUNTIME_DIR",
    "TMPDIR",
)
_SECRETS = ("KEY", "TOKEN", "SECRET", "PASSWORD")


def note_parents(event: str, environ: MutableMapping[str, str]) -> None:
    """Note in the environment what started the hook that says that a session starts."""
    if event == "SessionStart":
        environ.setdefault(PARENTS_VARIABLE, " ".join(list_parents()))


def pack_event(event: str, payload: bytes, database: str, mark: str, environ: dict[str, str]) -> bytes:
    """Return the frame to send: the event, the payload, and the environment that its handling needs."""
    told = [f"{name}={environ[name]}" for name in environ if _is_relevant_variable(name)]
    head = "\0".join([VERSION, database, event, mark, _current_folder(), *told]).encode("utf-8", "surrogateescape")
    return pack_frame(MARK, head, payload)


def _is_relevant_variable(name: str) -> bool:
    return name in _NAMES or (name.startswith("HYPERLOCI_") and not name.endswith(_SECRETS))


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""


class ServerConnection:
    """A connection to a server, with the bytes still to send and the bytes received."""

    def __init__(self, connection: _socket.socket, said: bytes) -> None:
        self._connection = connection
        self._unsaid = memoryview(said)
        self._heard = b""

    @property
    def is_taken(self) -> bool:
        """Whether the server has the whole frame."""
        return bool(self._heard)

    @property
    def answer(self) -> bytes:
        """The JSON object and a newline; empty without an answer."""
        line, end, _ = self._heard.partition(b"\n")
        return line[2:] + end if end and line.startswith(b"TA") else b""

    def wait_for_answer(self, until: float, bell: int = -1) -> str:
        """Send and receive until there is an answer or a refusal, the time is over, or `bell` becomes readable."""
        while True:
            left = until - time.monotonic()
            heard: list[Any] = [self._connection] if bell < 0 else [self._connection, bell]
            readable, writable, _ = select.select(heard, [self._connection] if self._unsaid else [], [], max(left, 0))
            if bell in readable:
                return TOLD
            if not readable and not writable and left <= 0:
                return LATE
            try:
                if writable:
                    self._unsaid = self._unsaid[self._connection.send(self._unsaid[: 4 * _PIECE]) :]
                if readable and not self._receive_piece():
                    return ANSWERED if self.answer else REFUSED
            except BlockingIOError:
                continue
            except OSError:
                return REFUSED

    def _receive_piece(self) -> bool:
        """Receive a piece; return whether more is to come."""
        piece = self._connection.recv(_PIECE)
        self._heard += piece
        return bool(piece) and b"\n" not in piece

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def call_server(
    folders: tuple[str, ...], said: bytes, until: float, bell: int = -1, grace: float = 0
) -> tuple[str, ServerConnection | None]:
    """Send a frame to a server that listens in the last of `folders`; return the outcome and the connection.

    Args:
        folders: folders that must belong to this user, from the outermost on.
        said: the frame.
        until: when to stop waiting, in the time of `time.monotonic`.
        bell: a descriptor that ends the wait when it becomes readable.
        grace: how many seconds longer to wait for a server that has taken the frame.
    """
    paths = _find_sockets(folders)
    for number, path in enumerate(paths):
        connection = _connect_to_socket(path)
        if connection is None:
            continue
        line = ServerConnection(connection, said)
        last = number == len(paths) - 1
        outcome = line.wait_for_answer(until if last else min(until, time.monotonic() + TAKEN_SECONDS), bell)
        if outcome == LATE and line.is_taken:
            outcome = line.wait_for_answer(until + grace, bell)
        if outcome == REFUSED or (outcome == LATE and not last):
            line.close()
            continue
        return outcome, line
    return REFUSED, None


def _find_sockets(folders: tuple[str, ...]) -> list[str]:
    """Return the sockets in the last folder, the newest last; none unless all folders belong to this user."""
    if not hasattr(_socket, "AF_UNIX") or os.name != "posix":
        return []
    try:
        if not all(is_private_folder(folder) for folder in folders):
            return []
        with os.scandir(folders[-1]) as entries:
            found = [(entry.stat().st_mtime, entry.path) for entry in entries if entry.name.endswith(SUFFIX)]
    except OSError:
        return []
    return [path for _, path in sorted(found)[-MOST_SERVERS:]]


def _connect_to_socket(path: str) -> _socket.socket | None:
    """Return a connection to a server of this user, or None; the socket of a dead server is removed."""
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    connection.setblocking(False)
    for _ in range(_BUSY_TRIES):
        try:
            connection.connect(path)
        except BlockingIOError:
            # The server's queue of connections is full: fifty hooks at once.
            time.sleep(_BUSY_SECONDS)
        except ConnectionRefusedError:
            _remove_socket(path)
            break
        except OSError:
            break
        else:
            if is_same_user(connection):
                return connection
            break
    connection.close()
    return None


def _remove_socket(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
