"""Client entries: what Hyperloci adds to the configuration of each assistant but Claude Code, as edits of documents.

Pure functions; `client_table` says which of them belong to which file.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hyperloci.cli.install.commands import CommandLine
from hyperloci.cli.install.config_entries import SERVER_NAME, is_our_handler, is_remote, with_hooks, without_hooks
from hyperloci.cli.install.json_edit import JsonObject
from hyperloci.errors import ConfigurationError
from hyperloci_hooks.dialects.dialect import Dialect

EditDocument = Callable[[JsonObject], JsonObject]

SECONDS: Final = {"SessionStart": 10, "UserPromptSubmit": 5, "PreCompact": 10, "Stop": 10, "SessionEnd": 3}
"""Time-outs by our names of events; five for any other. A normal run takes a tenth of a second or two. Codex allows a
session's end no more than three."""

OTHER_SECONDS: Final = 5

TOOLS: Final = {"codex": "Bash|apply_patch|Edit|Write"}
"""Tools that change or decide something, as a client's matcher names them."""


def render_command(hook: CommandLine, client: str, event: str, *, windows: bool = sys.platform == "win32") -> str:
    """Return the line for a shell that runs a client's hook."""
    words = [hook.program, *hook.arguments, "--client", client, event]
    return subprocess.list2cmdline(words) if windows else shlex.join(words)


def grouped_hooks(
    table: Dialect, hook: CommandLine, *, unit: int = 1, named: bool = False
) -> dict[str, list[JsonObject]]:
    """Return hooks in Claude Code's shape: groups of handlers by event.

    Args:
        table: the client's dialect.
        hook: how a hook is started.
        unit: how many of the client's units of time a second has.
        named: whether a handler has a name.
    """
    entries: dict[str, list[JsonObject]] = {}
    for event, ours in table.events.items():
        handler: JsonObject = {"type": "command", "command": render_command(hook, table.name, event)}
        handler = {"name": "hyperloci", **handler} if named else handler
        handler["timeout"] = _find_seconds(ours) * unit
        group: JsonObject = {"matcher": TOOLS[table.name]} if ours == "PostToolUse" and table.name in TOOLS else {}
        entries[event] = [{**group, "hooks": [handler]}]
    return entries


def flat_hooks(table: Dialect, hook: CommandLine) -> dict[str, list[JsonObject]]:
    """Return hooks in Cursor's shape: handlers by event."""
    return {
        event: [{"command": render_command(hook, table.name, event), "timeout": _find_seconds(ours)}]
        for event, ours in table.events.items()
    }


def copilot_document(table: Dialect, hook: CommandLine) -> JsonObject:
    """Return the whole of a file of hooks for Copilot CLI and VS Code."""
    hooks = {
        event: [
            {
                "type": "command",
                "bash": render_command(hook, table.name, event, windows=False),
                "powershell": render_powershell(hook, table.name, event),
                "timeoutSec": _find_seconds(ours),
            }
        ]
        for event, ours in table.events.items()
    }
    return {"version": 1, "hooks": hooks}


def render_powershell(hook: CommandLine, client: str, event: str) -> str:
    """Return the line that runs a hook in PowerShell, which calls a quoted program with `&`."""
    words = [hook.program, *hook.arguments, "--client", client, event]
    return "& " + " ".join("'" + word.replace("'", "''") + "'" for word in words)


def _find_seconds(event: str) -> int:
    return SECONDS.get(event, OTHER_SECONDS)


def add_grouped(entries: Mapping[str, list[JsonObject]]) -> EditDocument:
    """Return the edit that adds hooks in Claude Code's shape."""
    return lambda document: with_hooks(document, entries)


remove_grouped: Final[EditDocument] = without_hooks


def add_flat(entries: Mapping[str, list[JsonObject]]) -> EditDocument:
    """Return the edit that adds hooks in Cursor's shape."""

    def add(document: JsonObject) -> JsonObject:
        old = _handlers_of(document)
        merged = {event: [*_keep_foreign(old.get(event, [])), *entries.get(event, [])] for event in {**old, **entries}}
        return {"version": 1, **document, "hooks": merged}

    return add


def remove_flat(document: JsonObject) -> JsonObject:
    """Return a document without our hooks in Cursor's shape, and without events that become empty."""
    old = _handlers_of(document)
    left = {event: kept for event, items in old.items() if (kept := _keep_foreign(items)) or not items}
    if left == old:
        return document
    others = {key: value for key, value in document.items() if key != "hooks"}
    return {**document, "hooks": left} if left else others


def _handlers_of(document: JsonObject) -> dict[str, list[Any]]:
    hooks = document.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(items, list) for items in hooks.values()):
        raise ConfigurationError('"hooks" must be an object of arrays.')
    return hooks


def _keep_foreign(handlers: Sequence[Any]) -> list[Any]:
    return [handler for handler in handlers if not is_our_handler(handler)]


def add_server(key: str, entry: JsonObject) -> EditDocument:
    """Return the edit that adds our MCP server under a key; what a person added to our entry stays."""

    def add(document: JsonObject) -> JsonObject:
        servers = _object_at(document, key)
        old = servers.get(SERVER_NAME)
        kept = old if isinstance(old, dict) and "command" in old else {}
        return {**document, key: {**servers, SERVER_NAME: {**kept, **entry}}}

    return add


def remove_server(key: str) -> EditDocument:
    """Return the edit that takes our MCP server out, and the object it stood in if that becomes empty."""

    def remove(document: JsonObject) -> JsonObject:
        servers = _object_at(document, key)
        if SERVER_NAME not in servers or is_remote(servers[SERVER_NAME]):
            return document
        left = {name: entry for name, entry in servers.items() if name != SERVER_NAME}
        return {**document, key: left} if left else {name: item for name, item in document.items() if name != key}

    return remove


def has_remote_server(document: JsonObject, key: str) -> bool:
    """Whether the server of our name under a key is one over HTTP."""
    return is_remote(_object_at(document, key).get(SERVER_NAME))


def _object_at(document: JsonObject, key: str) -> JsonObject:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise ConfigurationError(f'"{key}" is {type(value).__name__}; it must be an object.')
    return value
