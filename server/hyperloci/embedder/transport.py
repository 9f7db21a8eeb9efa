"""Transport: the socket where sessions and the embedder meet, and how each verifies the other.

On Unix: a socket of mode 0600 in a folder of mode 0700 that belongs to the user, and the kernel tells which user is at
the other end. Elsewhere (`loopback`): a TCP port of the loopback interface, announced in a file that only the user can
read, with a secret that both ends prove to know without sending it.

The lock that elects the owner of the embedder lies beside the socket that it guards.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import socket
import stat
import sys
from pathlib import Path
from typing import Final

from hyperloci.config import Settings
from hyperloci.embedder import protocol
from hyperloci.errors import ConfigurationError, NoEmbedderError, NotReadyError
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.sockets import MAX_PATH_BYTES, is_same_user, is_supported, listen_at
from hyperloci.system.values import dataclass

UNIX: Final = "unix"
LOOPBACK: Final = "loopback"

_BACKLOG: Final = 64
_NONCE_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class EmbedderAddress:
    """The address of the embedder of one model on one device.

    Attributes:
        folder: the private folder that holds it.
        name: tells models, devices and protocol versions apart.
        transport: `unix` or `loopback`.
    """

    folder: Path
    name: str
    transport: str

    @property
    def path(self) -> Path:
        """The socket, or the file that tells port and secret."""
        return self.folder / f"{self.name}.{'sock' if self.transport == UNIX else 'port'}"

    @property
    def lock_path(self) -> Path:
        """The file whose lock the owner's session holds."""
        return self.folder / f"{self.name}.lock"


def find_embedder_address(settings: Settings, transport: str | None = None) -> EmbedderAddress:
    """Return the address for `settings`; `transport` is the platform's own unless given."""
    chosen = transport or (UNIX if is_supported() else LOOPBACK)
    models = [protocol.VERSION, settings.profile, settings.model, settings.device]
    if settings.profile in settings.profiles:
        models.append(settings.profiles[settings.profile])  # The user may change it under its name.
    what = json.dumps(models, sort_keys=True, default=str)
    return EmbedderAddress(settings.runtime_dir, f"e-{hashlib.sha256(what.encode()).hexdigest()[:12]}", chosen)


def prepare_address(place: EmbedderAddress) -> None:
    """Make sure that somebody can listen there: the folder is there and private, and a socket can have the path.

    Raises:
        ConfigurationError: it can't be so.
    """
    if place.transport == UNIX:
        require_short_path(place.path)
    make_private_folder(place.folder)


def find_address_fault(place: EmbedderAddress) -> str | None:
    """Return in words why nobody can listen there, None where nothing is known against it; nothing is made."""
    try:
        if place.transport == UNIX:
            require_short_path(place.path)
            _require_own_folder(place.folder)
    except ConfigurationError as error:
        return str(error)
    except OSError:
        pass  # It is made when it is needed.
    return None


def require_short_path(address: Path) -> None:
    """Make sure that a socket can have this path.

    Raises:
        ConfigurationError: it is too long.
    """
    length = len(os.fsencode(address))
    if length > MAX_PATH_BYTES:
        raise ConfigurationError(
            f"{address} has {length} bytes; a socket's path may have at most {MAX_PATH_BYTES}. "
            "Set HYPERLOCI_RUNTIME_DIR to a shorter folder."
        )


def make_private_folder(folder: Path) -> None:
    """Create `folder` for this user alone, or check that it is private.

    Raises:
        ConfigurationError: it cannot be made, is a link, belongs to somebody else, or has other files in it and is
            open to others: the user's own folder stays as it is.
    """
    try:
        make_own_folders(folder)
    except OSError as error:
        raise ConfigurationError(f"The runtime folder {folder} cannot be created: {error}") from error
    if sys.platform == "win32":
        return
    _require_own_folder(folder)
    if _is_open(folder):
        folder.chmod(0o700)


def listen_for_sessions(place: EmbedderAddress) -> tuple[socket.socket, bytes]:
    """Open the address; return the listening socket and the secret that clients need (empty on Unix).

    The address appears at once and complete, over whatever a dead embedder has left there.
    """
    prepare_address(place)
    if place.transport == UNIX:
        return listen_at(str(place.path), _BACKLOG), b""
    draft = place.folder / f"{place.name}.{os.getpid()}"
    draft.unlink(missing_ok=True)
    listener = socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG)
    secret = secrets.token_bytes(_NONCE_BYTES)
    note = json.dumps({"port": listener.getsockname()[1], "secret": secret.hex()})
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(note)
    draft.replace(place.path)
    return listener, secret


def connect_to_embedder(place: EmbedderAddress, *, deadline: float) -> socket.socket:
    """Connect to the embedder of `place` and make sure that it is this user's.

    Raises:
        NoEmbedderError: nobody listens there, or it can't be reached.
        NotReadyError: too many wait for it.
        ConfigurationError: the folder is not this user's alone, or its path is too long for a socket.
        EmbedderError: the listener is another user or program, or does not answer.
    """
    try:
        if place.transport == UNIX:
            require_short_path(place.path)
            _require_own_folder(place.folder)
            return _connect_unix(place)
        return _connect_loopback(place, deadline)
    except (FileNotFoundError, ConnectionRefusedError, NotADirectoryError):
        raise NoEmbedderError from None
    except (BlockingIOError, TimeoutError) as error:
        raise NotReadyError(f"The embedder cannot be reached now: {error}") from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NoEmbedderError(f"The embedder cannot be reached: {error}") from error


def admit_visitor(connection: socket.socket, secret: bytes, *, deadline: float) -> bool:
    """Return, in the embedder, whether a connection comes from this user (and prove the same to it)."""
    if not secret:
        return is_same_user(connection)
    return _exchange_nonces(connection, secret, b"embedder", b"visitor", deadline)


def _require_own_folder(folder: Path) -> None:
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise ConfigurationError(
            f"The runtime folder {folder} is a link or belongs to user {found.st_uid}. Remove it, or set "
            "HYPERLOCI_RUNTIME_DIR to a folder of your own."
        )
    if _is_open(folder) and any(folder.iterdir()):
        raise ConfigurationError(
            f"The runtime folder {folder} is open to others, and not empty. Set HYPERLOCI_RUNTIME_DIR to a folder for "
            "it alone, or close this one (chmod 700)."
        )


def _is_open(folder: Path) -> bool:
    return stat.S_IMODE(folder.lstat().st_mode) & 0o077 != 0


def _connect_unix(place: EmbedderAddress) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with contextlib.ExitStack() as undo:
        undo.callback(connection.close)
        # A full backlog makes a blocking connect wait without end; this one refuses at once instead.
        connection.setblocking(False)
        connection.connect(str(place.path))
        if not is_same_user(connection):
            raise protocol.ProtocolError(f"{place.path} belongs to another user.")
        undo.pop_all()
    return connection


def _connect_loopback(place: EmbedderAddress, deadline: float) -> socket.socket:
    note = json.loads(place.path.read_text(encoding="ascii"))
    port, secret = int(note["port"]), bytes.fromhex(note["secret"])
    connection = socket.create_connection(("127.0.0.1", port), timeout=protocol.seconds_left(deadline))
    with contextlib.ExitStack() as undo:
        undo.callback(connection.close)
        if not _exchange_nonces(connection, secret, b"visitor", b"embedder", deadline):
            raise protocol.ProtocolError(f"Port {port} belongs to another program.")
        undo.pop_all()
    return connection


def _exchange_nonces(connection: socket.socket, secret: bytes, own: bytes, other: bytes, deadline: float) -> bool:
    """Prove knowledge of the secret and check that the other end knows it; the roles prevent echoed answers."""
    mine = secrets.token_bytes(_NONCE_BYTES)
    protocol.send_message(connection, {"nonce": mine.hex()}, deadline=deadline)
    theirs, _ = protocol.receive_message(connection, deadline=deadline)
    protocol.send_message(
        connection, {"proof": _compute_proof(secret, own, str(theirs.get("nonce")))}, deadline=deadline
    )
    answer, _ = protocol.receive_message(connection, deadline=deadline)
    expected = _compute_proof(secret, other, mine.hex())
    return hmac.compare_digest(str(answer.get("proof")).encode("utf-8", "replace"), expected.encode("ascii"))


def _compute_proof(secret: bytes, role: bytes, nonce: str) -> str:
    return hmac.new(secret, role + b":" + nonce.encode("utf-8", "replace"), hashlib.sha256).hexdigest()
