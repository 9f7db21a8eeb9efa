"""Client: the assistants' names, as sessions and memories keep them and as people read them."""

from __future__ import annotations

import re
from typing import Final

TITLES: Final = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "cursor": "Cursor",
    "copilot": "Copilot CLI",
    "vscode": "VS Code",
}
"""Clients by the names that are stored; any other goes by what it calls itself."""

CLIENT_VERSION_NOTE: Final = "client_version."
"""Before a client's name, the name of the note of the version that it told a server last."""

_SELF_NAMES: Final = (
    (re.compile(r"claude[-_ ]code", re.IGNORECASE), "claude-code"),
    (re.compile(r"codex", re.IGNORECASE), "codex"),
    (re.compile(r"gemini", re.IGNORECASE), "gemini"),
    (re.compile(r"opencode", re.IGNORECASE), "opencode"),
    (re.compile(r"cursor", re.IGNORECASE), "cursor"),
    (re.compile(r"visual studio code|vscode", re.IGNORECASE), "vscode"),
    (re.compile(r"copilot", re.IGNORECASE), "copilot"),
)
"""What the beginning of the name that a client gives to an MCP server tells (`codex-mcp-client`)."""


def find_client(self_name: str) -> str | None:
    """Return the stored name of a client that calls itself so; None for a client that is not known."""
    return next((client for pattern, client in _SELF_NAMES if pattern.match(self_name.strip())), None)


def title_client(client: str) -> str:
    """Return a client's name for people."""
    return TITLES.get(client, client)
