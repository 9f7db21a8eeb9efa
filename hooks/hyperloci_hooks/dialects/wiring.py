"""Wiring: which of a client's hooks are ours, told by its files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Final

from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, SILENT, load_dialect

_PROGRAM: Final = b"hyperloci"
_TRUSTED_PROMPT: Final = b":user_prompt_submit:"


class CaptureState(StrEnum):
    """What reaches the memory by itself where a client runs, and what comes back unasked."""

    WHOLE = "whole"
    KEPT = "kept"
    NOTHING = "nothing"


def is_captured_elsewhere(client: str, wired: str, *, home: Path, project: Path) -> bool:
    """Tell whether a client runs this hook beside another wiring of ours that counts, so that this one must do nothing.

    Args:
        client: the client that runs the hook.
        wired: the client whose dialect the hook's command was installed for.
        home: the user's folder.
        project: the folder of the session.
    """
    source = _find_source(client, home, project)
    return source is not None and source != wired


def find_capture_state(client: str | None, *, home: Path, project: Path) -> CaptureState:
    """Return what is captured of a client's sessions.

    Claude Code is taken to have its hooks: a plugin's can't be told by a file.
    """
    if client == CLAUDE_CODE:
        return CaptureState.WHOLE
    table = load_dialect(client or "")
    if client is None or table is None or _find_source(client, home, project) is None:
        return CaptureState.NOTHING
    if client == "codex" and not _names(home / ".codex" / "config.toml", _TRUSTED_PROMPT):
        return CaptureState.NOTHING  # It skips hooks that it was not told to trust.
    brings = table.form != SILENT and "UserPromptSubmit" in table.context_events
    return CaptureState.WHOLE if brings else CaptureState.KEPT


def _find_source(client: str, home: Path, project: Path) -> str | None:
    """Return for whose dialect the wiring was installed that counts for a client; None without one."""
    table = load_dialect(client)
    for source, name in table.sources if table is not None else ():
        if _names(home / name[2:] if name.startswith("~/") else project / name, _PROGRAM):
            return source
    return None


def _names(path: Path, word: bytes) -> bool:
    try:
        return word in path.read_bytes()
    except OSError:
        return False
