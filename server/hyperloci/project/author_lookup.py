"""Author lookup: who the person at this machine is, as others know them."""

from __future__ import annotations

import functools
import getpass
import subprocess
from pathlib import Path
from typing import Final

from hyperloci.model.author import make_author, parse_author
from hyperloci.project.git import neutral_command, neutral_environment

LOOKUP_SECONDS: Final = 2.0
"""How long Git may take to say who commits; it takes some milliseconds, and is asked once a process."""


def find_author(setting: str | None, root: Path) -> str | None:
    """Return the person who writes here: the setting, who Git commits as in this folder, or the login name.

    None if none of them is known, or Git takes too long to answer: then it is better to say nothing than another name.
    """
    if setting is not None and setting.strip():
        return str(parse_author(setting))
    return _find_by_git(root)


@functools.lru_cache(maxsize=64)
def _find_by_git(root: Path) -> str | None:
    try:
        done = subprocess.run(
            neutral_command("git", root, ["config", "--null", "--get-regexp", r"^user\.(name|email)$"]),
            env=neutral_environment(root),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=LOOKUP_SECONDS,
            check=False,
        )
        told = done.stdout.decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        return None
    except OSError:
        told = ""
    # The last one counts: Git lists what its files say from the widest to the nearest.
    values = dict(entry.partition("\n")[::2] for entry in told.split("\0") if "\n" in entry)
    try:
        return str(make_author(values.get("user.name") or _login_name(), values.get("user.email", "")))
    except ValueError:
        return None


def _login_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
