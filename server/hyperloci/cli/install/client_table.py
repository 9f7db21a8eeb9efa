"""Client table: which files make each assistant run our hooks and our server, and how each is changed.

A user's files are those that a client reads in every project, a project's those that lie in its repository.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from hyperloci.cli.install.client_entries import (
    add_flat,
    add_grouped,
    add_server,
    copilot_document,
    flat_hooks,
    grouped_hooks,
    has_remote_server,
    remove_flat,
    remove_grouped,
    remove_server,
)
from hyperloci.cli.install.codex_trust import without_trust
from hyperloci.cli.install.commands import InstalledCommands
from hyperloci.cli.install.config_entries import SERVER_NAME
from hyperloci.cli.install.installer import EditContent, InstallScope, edit_json, edit_text
from hyperloci.cli.install.json_edit import JsonObject
from hyperloci.cli.install.toml_tables import find_table, with_table, without_table
from hyperloci.system.values import dataclass
from hyperloci_hooks.dialects.dialect import Dialect, load_dialect

PLUGIN: Final = Path(__file__).parent / "data" / "opencode_plugin.js"

_PLACEHOLDER: Final = '["HYPERLOCI_COMMAND"]'

MILLISECONDS: Final = 1_000

CODEX_TABLE: Final = ("mcp_servers", SERVER_NAME)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFile:
    """One file of a client that is changed.

    Attributes:
        path: where it lies.
        add, remove: the edits of its bytes.
        holds_hooks: whether the hooks are in it, not the server.
        has_remote: tells of its bytes whether a person wrote our server over HTTP there: then no local one is lacking.
    """

    path: Path
    add: EditContent
    remove: EditContent
    holds_hooks: bool = False
    has_remote: Callable[[bytes], bool] = lambda before: False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientFolders:
    """Where to look for files of clients.

    Attributes:
        home: the user's folder.
        project: the project's folder.
        environ: the environment, which moves some of them.
    """

    home: Path
    project: Path
    environ: Mapping[str, str]

    @property
    def codex(self) -> Path:
        """Codex's own folder."""
        return Path(self.environ.get("CODEX_HOME") or self.home / ".codex")

    @property
    def opencode(self) -> Path:
        """OpenCode's own folder."""
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config") / "opencode"

    @property
    def vscode(self) -> Path:
        """The folder of VS Code's settings of a user."""
        if sys.platform == "darwin":
            return self.home / "Library" / "Application Support" / "Code" / "User"
        if sys.platform == "win32":
            return Path(self.environ.get("APPDATA") or self.home / "AppData" / "Roaming") / "Code" / "User"
        return Path(self.environ.get("XDG_CONFIG_HOME") or self.home / ".config") / "Code" / "User"


ListFiles = Callable[[Dialect, ClientFolders, InstallScope, InstalledCommands], list[ClientFile]]


def list_files(
    client: str, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    """Return the files that an installation for a client changes: none where the scope has none for it."""
    table = load_dialect(client)
    return [] if table is None else _FILES[client](table, folders, scope, commands)


def _codex_files(
    table: Dialect, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    folder = folders.codex if scope is InstallScope.USER else folders.project / ".codex"
    server = commands.server
    values = {"command": server.program, "args": [*server.arguments, "serve"]}
    return [
        ClientFile(
            path=folder / "hooks.json",
            add=edit_json(add_grouped(grouped_hooks(table, commands.hook))),
            remove=edit_json(remove_grouped),
            holds_hooks=True,
        ),
        ClientFile(
            path=folder / "config.toml",
            add=edit_text(lambda text: with_table(_without_remote(text), CODEX_TABLE, values)),
            remove=edit_text(lambda text: _without_local(without_trust(text, folder / "hooks.json"))),
            has_remote=lambda before: _is_remote(before.decode("utf-8")),
        ),
    ]


def _without_remote(text: str) -> str:
    """Return Codex's settings without our server over HTTP: Codex takes no table that has a url and a command."""
    return without_table(text, CODEX_TABLE) if _is_remote(text) else text


def _without_local(text: str) -> str:
    """Return Codex's settings without the server that an installation wrote."""
    return text if _is_remote(text) else without_table(text, CODEX_TABLE)


def _is_remote(text: str) -> bool:
    """Whether our server is one over HTTP; an older installation put its command beside the url."""
    return "url" in (find_table(text, CODEX_TABLE) or {})


def _gemini_files(
    table: Dialect, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    folder = folders.home if scope is InstallScope.USER else folders.project
    add_hooks = add_grouped(grouped_hooks(table, commands.hook, unit=MILLISECONDS, named=True))
    add_entry, remove_entry = add_server("mcpServers", _server_entry(commands)), remove_server("mcpServers")
    return [
        ClientFile(
            path=folder / ".gemini" / "settings.json",
            add=edit_json(lambda document: add_entry(add_hooks(document)), comments=True),
            remove=edit_json(lambda document: remove_entry(remove_grouped(document)), comments=True),
            holds_hooks=True,
        )
    ]


def _cursor_files(
    table: Dialect, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    folder = (folders.home if scope is InstallScope.USER else folders.project) / ".cursor"
    return [
        ClientFile(
            path=folder / "hooks.json",
            add=edit_json(add_flat(flat_hooks(table, commands.hook)), comments=True),
            remove=edit_json(remove_flat, comments=True),
            holds_hooks=True,
        ),
        _server_file(folder / "mcp.json", "mcpServers", _server_entry(commands)),
    ]


def _copilot_files(
    table: Dialect, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    document = copilot_document(table, commands.hook)
    if scope is InstallScope.PROJECT:
        return [_own_json(folders.project / ".github" / "hooks" / "hyperloci.json", document)]
    folder = folders.home / ".copilot"
    entry = {"type": "local", **_server_entry(commands), "tools": ["*"]}
    return [
        _own_json(folder / "hooks" / "hyperloci.json", document),
        _server_file(folder / "mcp-config.json", "mcpServers", entry),
    ]


def _vscode_files(
    table: Dialect, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    """Return VS Code's files. A user's hooks are Claude Code's, which it runs too; a project's are Copilot's."""
    entry = {"type": "stdio", **_server_entry(commands)}
    if scope is InstallScope.USER:
        return [_server_file(folders.vscode / "mcp.json", "servers", entry)]
    copilot = load_dialect("copilot")
    assert copilot is not None
    hooks = copilot_document(copilot, commands.hook)
    return [
        _own_json(folders.project / ".github" / "hooks" / "hyperloci.json", hooks),
        _server_file(folders.project / ".vscode" / "mcp.json", "servers", entry),
    ]


def _opencode_files(
    table: Dialect, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands
) -> list[ClientFile]:
    user = scope is InstallScope.USER
    plugins = (folders.opencode if user else folders.project / ".opencode") / "plugins"
    settings = folders.opencode if user else folders.project
    with_comments = settings / "opencode.jsonc"
    hook, server = commands.hook, commands.server
    entry = {"type": "local", "command": [server.program, *server.arguments, "serve"], "enabled": True}
    command = json.dumps([hook.program, *hook.arguments, "--client", table.name])
    plugin = PLUGIN.read_text("utf-8").replace(_PLACEHOLDER, command)
    return [
        _own_text(plugins / "hyperloci.js", plugin),
        _server_file(with_comments if with_comments.is_file() else settings / "opencode.json", "mcp", entry),
    ]


def _server_entry(commands: InstalledCommands) -> JsonObject:
    return {"command": commands.server.program, "args": [*commands.server.arguments, "serve"]}


def _server_file(path: Path, key: str, entry: JsonObject) -> ClientFile:
    return ClientFile(
        path=path,
        add=edit_json(add_server(key, entry), comments=True),
        remove=edit_json(remove_server(key), comments=True),
        has_remote=_find_remote(key),
    )


def _find_remote(key: str) -> Callable[[bytes], bool]:
    """Return what tells whether the server of our name, under a key of a JSON file with comments, is one over HTTP."""

    def look(before: bytes) -> bool:
        seen: list[bool] = []

        def see(document: JsonObject) -> JsonObject:
            seen.append(has_remote_server(document, key))
            return document

        edit_json(see, comments=True)(before)
        return any(seen)

    return look


def _own_json(path: Path, document: JsonObject) -> ClientFile:
    return _own_text(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n")


def _own_text(path: Path, content: str) -> ClientFile:
    """Return a file that is ours as a whole: written anew, and deleted."""

    def remove(before: bytes) -> bytes:
        return b"" if re.search(rb"hyperloci", before, re.IGNORECASE) else before

    return ClientFile(path=path, add=lambda before: content.encode("utf-8"), remove=remove, holds_hooks=True)


_FILES: Final[Mapping[str, ListFiles]] = {
    "codex": _codex_files,
    "gemini": _gemini_files,
    "opencode": _opencode_files,
    "cursor": _cursor_files,
    "copilot": _copilot_files,
    "vscode": _vscode_files,
}
