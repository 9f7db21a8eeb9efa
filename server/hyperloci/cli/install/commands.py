"""Installed commands: how another program starts the server and the hooks of this installation.

A user's entries name the commands beside this Python by their full paths. A project's entries are shared through its
repository, so they name the commands alone. Where uvx or pipx run this program from an environment that they may clear
away at any time, the entries have them run it again.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Final

from hyperloci.errors import ConfigurationError
from hyperloci.system.values import dataclass

PACKAGE: Final = "hyperloci"

_SERVER, _HOOK = "hyperloci", "hyperloci-hook"

_UV_FOLDERS: Final = re.compile(r"[/\\](?:archive|environments|builds)-v\d+[/\\]")
_PIPX_FOLDERS: Final = re.compile(r"[/\\](?:pipx[/\\]\.cache|(?:\.cache|Caches?)[/\\]pipx)[/\\]")
"""Where uvx, `uv run --with` and `pipx run` build environments that they may delete."""

_INSTALL_FIRST: Final = "install Hyperloci (`uv tool install hyperloci` or `pipx install hyperloci`)"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A program, by its path or its name, and the arguments that come first."""

    program: str
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class InstalledCommands:
    """How the server and the hooks are started."""

    server: CommandLine
    hook: CommandLine


def locate_commands(
    interpreter: Path, *, portable: bool = False, windows: bool = sys.platform == "win32"
) -> InstalledCommands:
    """Return how the commands of the installation that `interpreter` (`sys.executable`) belongs to are started.

    Args:
        interpreter: the Python of the installation.
        portable: by names that mean the same on every machine.
        windows: whether commands are files that end in `.exe`.

    Raises:
        ConfigurationError: they are not installed, or the program that ran them is not on the PATH.
    """
    suffix = ".exe" if windows else ""
    found = [_find_command(interpreter.absolute().parent, name + suffix) for name in (_SERVER, _HOOK)]
    for pattern, runner, options in (
        (_UV_FOLDERS, "uvx", ("--from",)),
        (_PIPX_FOLDERS, "pipx", ("run", "--spec")),
    ):
        if pattern.search(str(found[0])):
            first = (*options, _describe_requirement(distribution(PACKAGE), portable=portable))
            program = runner if portable else _find_runner(runner)
            return InstalledCommands(*(CommandLine(program, (*first, name)) for name in (_SERVER, _HOOK)))
    if portable:
        return InstalledCommands(CommandLine(_SERVER), CommandLine(_HOOK))
    return InstalledCommands(*(CommandLine(_read_text(path)) for path in found))


def _describe_requirement(installed: Distribution, *, portable: bool) -> str:
    """Return what the running program was installed from, as a requirement: its version, or where it came from."""
    origin = json.loads(installed.read_text("direct_url.json") or "{}")
    url, repository = str(origin.get("url", "")), origin.get("vcs_info")
    if isinstance(repository, dict):
        return f"{PACKAGE} @ {repository['vcs']}+{url}@{repository['commit_id']}"
    if url and not (portable and url.startswith("file:")):
        return f"{PACKAGE} @ {url}"
    return f"{PACKAGE}=={installed.version}"


def _find_runner(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise ConfigurationError(
            f"This program runs from an environment of {name} that may be cleared away, and {name} is not on the PATH: "
            f"{_INSTALL_FIRST}, then run `hyperloci install`."
        )
    return _read_text(Path(found).absolute())


def _find_command(folder: Path, name: str) -> Path:
    beside = folder / name
    found = beside if beside.is_file() else shutil.which(name)
    if found is None:
        raise ConfigurationError(f"The command {name} is not in {folder} and not on the PATH: {_INSTALL_FIRST}.")
    return Path(found).absolute()


def _read_text(path: Path) -> str:
    text = str(path)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"{path!a} is not valid UTF-8 and can't be written into a JSON file; install Hyperloci in another folder."
        ) from None
    return text
