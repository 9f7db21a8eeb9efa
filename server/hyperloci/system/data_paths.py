"""Data paths: where the files of an installation and of a database are, for hooks, servers and settings alike.

A hook asks before it has loaded anything, and the plugin's launcher on whatever Python a machine has: the standard
library only, as little of it as can be, Python 3.7 and later.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

DATABASE_VARIABLE = "RLM_MEMORY_DB"
STATE_VARIABLE = "HYPERLOCI_STATE_DIR"
RUNTIME_VARIABLE = "HYPERLOCI_RUNTIME_DIR"

HOOKS_VARIABLE, HOOKS_OFF = "HYPERLOCI_HOOKS", "off"
"""A hook whose environment says so stores nothing and answers nothing: it belongs to no session of the user's."""

CLOCK_VARIABLE = "HYPERLOCI_CLOCK_OFFSET"
"""Moves the clock of every process (`hyperloci.clock`)."""

_SETTINGS = (("database", DATABASE_VARIABLE), ("state_dir", STATE_VARIABLE), ("runtime_dir", RUNTIME_VARIABLE))

_FNV_OFFSET, _FNV_PRIME, _KEY_MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
"""FNV-1a with 64 bits: hashlib takes a hook longer to load than all the rest it does. Two databases with one key are
told apart all the same, because whoever uses a key says the database too."""


class InstallationPaths:
    """Where one database's files lie.

    Attributes:
        database: the real path of its file.
        key: a short name that tells databases apart, of 12 hexadecimal digits.
        state_dir: the installation's folder of logs, locks and spools.
        runtime_dir: the folder of sockets.
    """

    def __init__(self, database: str, state_dir: str, runtime_dir: str) -> None:
        self.database = os.path.realpath(database)
        self.key = database_key(self.database)
        self.state_dir = state_dir
        self.runtime_dir = runtime_dir

    @property
    def sockets(self) -> str:
        """The folder in which the servers of the database listen to hooks."""
        return os.path.join(self.runtime_dir, self.key)

    @property
    def spool(self) -> str:
        """The folder in which records of the database wait."""
        return os.path.join(self.state_dir, "spool", self.key)

    @property
    def log(self) -> str:
        """The installation's log."""
        return os.path.join(self.state_dir, "hyperloci.log")


def find_paths(environ: dict[str, str]) -> InstallationPaths:
    """Return what the user's settings and environment lead to; a project's own file can choose none of it.

    Raises:
        ValueError, TypeError, OSError, ImportError: the user's file can't be read (here).
    """
    values = {
        "database": os.path.join(find_claude_dir(environ), "rlm-memory.db"),
        "state_dir": os.path.join(find_claude_dir(environ), "hyperloci"),
        "runtime_dir": choose_runtime_dir(environ),
    }
    values.update(_read_chosen_paths(find_user_file(environ)))
    for name, variable in _SETTINGS:
        if environ.get(variable):
            values[name] = absolute_path(environ[variable])
    return InstallationPaths(values["database"], values["state_dir"], values["runtime_dir"])


_KEY_CHARS = 12


def database_key(database: str) -> str:
    """Return the short name of a database by its path."""
    key = _FNV_OFFSET
    for byte in os.fsencode(os.path.normcase(os.path.realpath(database))):
        key = ((key ^ byte) * _FNV_PRIME) & _KEY_MASK
    return f"{key:016x}"[:_KEY_CHARS]


def name_copies(database: str) -> str:
    """Return how the names of a database's copies begin: by its file's name, and by a key of its path; not a link's."""
    real = os.path.realpath(database)
    return f"{os.path.splitext(os.path.basename(real))[0]}-{database_key(real)}"


def is_copy_of_another(file: str, database: str) -> bool:
    """Tell whether a copy's name says that it was made of another database, or of this one where it lay before."""
    parts = os.path.basename(file).rsplit("-", 3)
    return len(parts) == 4 and len(parts[1]) == _KEY_CHARS and parts[1] != database_key(database)


def drop_empty_home(environ: MutableMapping[str, str]) -> None:
    """Take an empty `HOME` out of a process's environment, so that `~` is what the password database says."""
    if environ.get("HOME") == "":
        del environ["HOME"]


def find_home(environ: Mapping[str, str]) -> str:
    """Return the user's home folder."""
    return environ.get("HOME") or environ.get("USERPROFILE") or os.path.expanduser("~")


def find_claude_dir(environ: dict[str, str]) -> str:
    """Return Claude Code's folder, in which the database and the user's settings lie unless they say otherwise."""
    return absolute_path(environ.get("CLAUDE_CONFIG_DIR") or os.path.join(find_home(environ), ".claude"))


def find_user_file(environ: dict[str, str]) -> str:
    """Return the path of the user's settings."""
    return absolute_path(environ.get("HYPERLOCI_CONFIG") or os.path.join(find_claude_dir(environ), "hyperloci.toml"))


def choose_runtime_dir(environ: dict[str, str]) -> str:
    """Return the folder of sockets where none is set.

    It depends on the environment as little as can be: a client may start a server with less of it than a hook.
    """
    if os.name != "posix":
        return os.path.join(environ.get("TEMP") or environ.get("TMP") or os.path.expanduser("~"), "hyperloci-user")
    given = environ.get("XDG_RUNTIME_DIR")
    if given and os.path.isdir(given):
        return os.path.join(given, "hyperloci")
    own = f"/run/user/{os.getuid()}"
    if os.access(own, os.W_OK | os.X_OK):
        return own + "/hyperloci"
    folder = next((path for path in ("/tmp", environ.get("TMPDIR") or "") if os.access(path, os.W_OK)), "/tmp")
    return os.path.join(folder, f"hyperloci-{os.getuid()}")


def absolute_path(path: str) -> str:
    """Return a path from the root on, `~` resolved, without a look at the disk.

    Raises:
        ValueError: it is empty, or begins with the name of a user that isn't known.
    """
    if path == "":
        raise ValueError("an empty path names no place")
    expanded = os.path.expanduser(path)
    if expanded.startswith("~"):
        raise ValueError(f"{path}: there is no such user")
    return expanded if os.path.isabs(expanded) else os.path.join(os.getcwd(), expanded)


def _read_chosen_paths(path: str) -> dict[str, str]:
    try:
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return {}
    # A key may be written with escapes; what has neither moves nothing, and TOML takes long to load.
    if not any(word in data for word in (b"database", b"_dir", b"\\")):
        return {}
    import tomllib

    values = tomllib.loads(data.decode("utf-8-sig"))
    return {name: absolute_path(values[name]) for name, _ in _SETTINGS if name in values}
