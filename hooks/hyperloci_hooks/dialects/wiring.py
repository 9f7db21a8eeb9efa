"""Wiring: which of a client's hooks are ours, told by its files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Final

from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, SILENT, load_dialect

_PROGRAM: Final = b"hyperloci"
_HOOK: Final = re.compile(
    rb"hyperloci[-_]hook"  # the program, or the package after `python -m`
    rb"|(?<![\w./\\-])hook(?![\w./\\-])"  # `hyperloci hook`; not another's my-hook.sh
    rb'|hyperloci@[\w.-]++"\s*+:\s*+(?!false\b)'  # the plugin; not the version that uvx runs a server of
)
"""What a file with a hook of ours says; one that names our server or its tools does not, whoever's hooks it has."""
_TRUSTED_PROMPT: Final = b":user_prompt_submit:"


class CaptureState(StrEnum):
    """What reaches the memory by itself where a client runs, and what comes back unasked."""

    WHOLE = "whole"
    KEPT = "kept"
    NOTHING = "nothing"


_MOVED: Final = (
    ("~/.claude/", "CLAUDE_CONFIG_DIR"),
    ("~/.codex/", "CODEX_HOME"),
    ("~/.config/", "XDG_CONFIG_HOME"),
)
"""Folders of a user that a variable moves."""


def is_captured_elsewhere(
    client: str, wired: str, *, home: Path, project: Path, environ: Mapping[str, str] = MappingProxyType({})
) -> bool:
    """Tell whether a client runs this hook beside another wiring of ours that counts, so that this one must do nothing.

    Args:
        client: the client that runs the hook.
        wired: the client whose dialect the hook's command was installed for.
        home: the user's folder.
        project: the folder of the session.
        environ: the client's environment, which moves some of its files.
    """
    source = _find_source(client, home, project, environ)
    return source is not None and source != wired


def find_capture_state(
    client: str | None, *, home: Path, project: Path, environ: Mapping[str, str] = MappingProxyType({})
) -> CaptureState:
    """Return what is captured of a client's sessions.

    Claude Code is taken to have its hooks: a plugin's can't be told by a file.
    """
    if client == CLAUDE_CODE:
        return CaptureState.WHOLE
    table = load_dialect(client or "")
    if client is None or table is None or _find_source(client, home, project, environ) is None:
        return CaptureState.NOTHING
    if client == "codex" and _TRUSTED_PROMPT not in _read_file(
        _find_file("~/.codex/config.toml", home, project, environ)
    ):
        return CaptureState.NOTHING  # It skips hooks that it was not told to trust.
    brings = table.form != SILENT and "UserPromptSubmit" in table.context_events
    return CaptureState.WHOLE if brings else CaptureState.KEPT


def _find_source(client: str, home: Path, project: Path, environ: Mapping[str, str]) -> str | None:
    """Return for whose dialect the wiring was installed that counts for a client; None without one."""
    table = load_dialect(client)
    for source, name in table.sources if table is not None else ():
        content = _read_file(_find_file(name, home, project, environ))
        if _PROGRAM in content and _HOOK.search(content):
            return source
    return None


def _find_file(name: str, home: Path, project: Path, environ: Mapping[str, str]) -> Path:
    if not name.startswith("~/"):
        return project / name
    for folder, variable in _MOVED:
        if name.startswith(folder) and environ.get(variable):
            return Path(environ[variable]) / name[len(folder) :]
    return home / name[2:]


def _read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
