"""Configuration entries: what Hyperloci adds to Claude Code's configuration, and how to add and remove it.

Pure functions over parsed JSON; `hyperloci.cli.install.installer` reads and writes the files. Commands are in the exec
form (`command` and `args`, no shell), so paths with spaces and Windows work. `HOOKS` is the one list of hooks: the
plugin's `hooks/hooks.json` and `claude_config.example.json` are tested against it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hyperloci.cli.install.json_edit import JsonObject
from hyperloci.errors import ConfigurationError
from hyperloci.system.values import dataclass

SERVER_NAME: Final = "hyperloci"
"""The key under `mcpServers`; tools appear to the model as `mcp__hyperloci__<tool>`."""


@dataclass(frozen=True, slots=True)
class HookEntry:
    """One hook event that Hyperloci listens to.

    Attributes:
        event: Claude Code's name for it.
        timeout: seconds after which Claude Code ends the process and goes on without it.
        matcher: which tools; None if the event is not about a tool.
    """

    event: str
    timeout: int
    matcher: str | None = None


WATCHED_TOOLS: Final = "Edit|Write|MultiEdit|NotebookEdit|Bash|PowerShell|Task|Agent|ExitPlanMode|AskUserQuestion"
"""Tools that change or decide something. Reads and searches leave nothing worth remembering; `Task` and
`Agent` are the same tool in older and newer versions of Claude Code."""

REGISTERED_HOOKS: Final = (
    # A normal run takes a tenth of a second or two. The time-outs only limit the wait on a failing disk.
    HookEntry("SessionStart", 10),
    HookEntry("UserPromptSubmit", 5),
    HookEntry("PostToolUse", 5, WATCHED_TOOLS),
    HookEntry("PostToolUseFailure", 5, WATCHED_TOOLS),
    HookEntry("PreCompact", 10),
    HookEntry("Stop", 10),
    # Without a time-out here, Claude Code gives SessionEnd 1.5 s.
    HookEntry("SessionEnd", 5),
)


def server_entry(command: str, *arguments: str) -> JsonObject:
    """Return an MCP server entry in the form that `claude mcp add` writes."""
    return {"type": "stdio", "command": command, "args": [*arguments, "serve"]}


def hook_entries(command: str, *arguments: str) -> dict[str, list[JsonObject]]:
    """Return the value of `hooks` in settings or in a plugin's `hooks.json`, the event as the last argument."""
    entries: dict[str, list[JsonObject]] = {}
    for hook in REGISTERED_HOOKS:
        handler = {"type": "command", "command": command, "args": [*arguments, hook.event], "timeout": hook.timeout}
        group: JsonObject = {} if hook.matcher is None else {"matcher": hook.matcher}
        entries[hook.event] = [{**group, "hooks": [handler]}]
    return entries


def with_server(document: JsonObject, command: str, *arguments: str) -> JsonObject:
    """Return the document with our server in it; what a person added to our entry (`env`, `timeout`) stays."""
    servers = _object_at(document, "mcpServers")
    old = servers.get(SERVER_NAME)
    kept = old if isinstance(old, dict) and "command" in old else {}
    return {**document, "mcpServers": {**servers, SERVER_NAME: {**kept, **server_entry(command, *arguments)}}}


def is_remote(entry: Any) -> bool:
    """Whether an entry under our name is a server over HTTP, which a person added and no installation wrote."""
    return isinstance(entry, dict) and "command" not in entry and any(key.lower().endswith("url") for key in entry)


def without_server(document: JsonObject) -> JsonObject:
    """Return the document without our server."""
    servers = _object_at(document, "mcpServers")
    if SERVER_NAME not in servers or is_remote(servers[SERVER_NAME]):
        return document
    left = {name: entry for name, entry in servers.items() if name != SERVER_NAME}
    others = {key: value for key, value in document.items() if key != "mcpServers"}
    # A `.mcp.json` without `mcpServers` is an error to Claude Code, so an otherwise empty document keeps the key.
    return {**document, "mcpServers": left} if left or not others else others


def with_hooks(document: JsonObject, entries: Mapping[str, list[JsonObject]]) -> JsonObject:
    """Return the settings with our hooks: those already there are updated in place, missing ones come last."""
    return {**document, "hooks": _merged_events(document, entries)}


def without_hooks(document: JsonObject) -> JsonObject:
    """Return the settings without our hooks, and without objects that become empty."""
    left = _merged_events(document, {})
    if left == document.get("hooks", {}):
        return document
    others = {key: value for key, value in document.items() if key != "hooks"}
    return {**document, "hooks": left} if left else others


def _merged_events(document: JsonObject, entries: Mapping[str, list[JsonObject]]) -> JsonObject:
    old = {event: _event_groups(document, event) for event in _object_at(document, "hooks")}
    merged = {event: list(_merge_groups(old.get(event, []), entries.get(event, []))) for event in {**old, **entries}}
    return {event: groups for event, groups in merged.items() if groups or not old[event]}


def _merge_groups(groups: Sequence[Any], ours: Sequence[JsonObject]) -> Iterator[Any]:
    """Yield the groups of one event with every handler of ours taken out, and `ours` where the first of them stood."""
    pending = list(ours)
    for group in groups:
        handlers = group.get("hooks") if isinstance(group, dict) else None
        foreign = (
            [handler for handler in handlers if not is_our_handler(handler)] if isinstance(handlers, list) else handlers
        )
        if foreign == handlers:
            yield group
            continue
        if foreign:
            yield {**group, "hooks": foreign}
        yield from pending
        pending.clear()
    yield from pending


_FIRST_WORD: Final = re.compile(r"""\s*(?:"([^"]+)"|'([^']+)'|(\S+))\s*(\S*)""")


def is_our_handler(handler: Any) -> bool:
    """Tell our handlers by their program, in the exec form and in a shell line that a person wrote by hand."""
    if not isinstance(handler, dict) or not isinstance(handler.get("command"), str):
        return False
    command, arguments = handler["command"], handler.get("args")
    if isinstance(arguments, list):
        program, first = command, next((str(argument) for argument in arguments), "")
    elif matched := _FIRST_WORD.match(command):
        program, first = next(filter(None, matched.groups()[:3])), matched[4]
    else:
        return False
    name = _name_program(program)
    if name in _RUNNERS:
        return "hyperloci-hook" in (arguments if isinstance(arguments, list) else command.split())
    return name == "hyperloci-hook" or (name == "hyperloci" and first == "hook")


_RUNNERS: Final = frozenset({"uvx", "uv", "pipx"})


def _name_program(path: str) -> str:
    return re.split(r"[/\\]", path)[-1].lower().removesuffix(".exe")


def _object_at(document: JsonObject, key: str) -> JsonObject:
    value = document.get(key, {})
    if not isinstance(value, dict):
        raise ConfigurationError(f'"{key}" is {type(value).__name__}; it must be an object.')
    return value


def _event_groups(document: JsonObject, event: str) -> list[Any]:
    value = _object_at(document, "hooks")[event]
    if not isinstance(value, list):
        raise ConfigurationError(f'"hooks.{event}" is {type(value).__name__}; it must be an array.')
    return value
