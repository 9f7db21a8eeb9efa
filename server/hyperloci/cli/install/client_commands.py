"""Client commands: `hyperloci install --client NAME|all` and `uninstall --client NAME|all`, told to people."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import Final

import typer

from hyperloci.cli.common import console, print_error
from hyperloci.cli.install import installer
from hyperloci.cli.install.client_entries import render_command
from hyperloci.cli.install.client_install import (
    ALL,
    PROGRAMS,
    RULES_FILE,
    choose_clients,
    plan_client,
    plan_client_removal,
    plan_rules,
    plan_rules_removal,
)
from hyperloci.cli.install.client_table import ClientFolders
from hyperloci.cli.install.codex_trust import (
    CodexHook,
    CodexUnreachableError,
    choose_trustworthy,
    list_codex_hooks,
    plan_trust,
)
from hyperloci.cli.install.commands import InstalledCommands, locate_commands
from hyperloci.cli.install.installer import InstallPlan, InstallScope
from hyperloci.config import Settings
from hyperloci.errors import ConfigurationError, HyperlociError
from hyperloci.store import Store
from hyperloci.system.values import dataclass
from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, NAMES, load_dialect
from hyperloci_hooks.dialects.rules_file import remove_rules

NOTES: Final = {
    "codex": "Codex asks before it runs a hook: approve them there with /hooks (codex exec skips them silently until"
    " then), or run `hyperloci install --client codex --trust`.",
    "gemini": "Restart Gemini CLI. A project's hooks it asks about when they change.",
    "opencode": "Restart OpenCode: its plugin keeps what is said, and puts the notes before the model.",
    "cursor": "Restart Cursor. Some versions drop what a session's start brings: `--rules` tells it to ask.",
    "copilot": "Restart Copilot CLI. It reads no answer of a hook: what is said is kept, `--rules` tells it to ask.",
    "vscode": "VS Code runs Claude Code's hooks (Settings: chat.useClaudeHooks): `hyperloci install` puts them there.",
}
"""What a person has to know or do yet, by client."""


def find_folders(project: Path) -> ClientFolders:
    """Return where the clients' files lie for this user and project."""
    return ClientFolders(home=Path.home(), project=project.absolute(), environ=dict(os.environ))  # noqa: TID251


@dataclass(frozen=True, slots=True)
class MeantClients:
    """The clients that a word means, Claude Code among them, which its caller wires, and what failed."""

    clients: list[str]
    failed: list[str] = field(default_factory=list)

    @contextlib.contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Do something for a client or to the project's rules; a file that can't be changed stops nothing else.

        Raises:
            ConfigurationError: this client alone is meant, and a file can't be changed safely.
        """
        try:
            yield
        except ConfigurationError as error:
            if self.clients == [name]:
                raise
            print_error(str(error))
            self.failed.append(name)


def install_clients(
    name: str, scope: InstallScope, project: Path, *, dry_run: bool, rules: bool, trust: bool
) -> MeantClients:
    """Install for one client, or for all that are found but Claude Code.

    Raises:
        ConfigurationError: there is no such client, or a file of the only one can't be changed safely.
    """
    folders = find_folders(project)
    commands = locate_commands(Path(sys.executable), portable=scope is InstallScope.PROJECT)
    meant = MeantClients(choose_clients(name, folders))
    if name == ALL and set(meant.clients) <= {CLAUDE_CODE}:
        console.print(f"No other assistant was found here: {', '.join(NAMES)}; --client NAME is for one all the same.")
    for client in meant.clients:
        if client != CLAUDE_CODE:
            with meant.attempt(client):
                _install_client(client, folders, scope, commands, dry_run=dry_run)
    if rules:
        with meant.attempt(RULES_FILE):
            carry_out(plan_rules(folders.project), dry_run)
    if trust and "codex" in meant.clients and "codex" not in meant.failed and not dry_run:
        with meant.attempt("codex"):
            _trust_codex(folders, commands)
    return meant


def _install_client(
    client: str, folders: ClientFolders, scope: InstallScope, commands: InstalledCommands, *, dry_run: bool
) -> None:
    table = load_dialect(client)
    assert table is not None
    console.print(f"{table.title}:", style="bold")
    carry_out(plan_client(client, folders, scope, commands), dry_run)
    console.print(f"  {NOTES[client]}")


def _trust_codex(folders: ClientFolders, commands: InstalledCommands) -> None:
    table = load_dialect("codex")
    assert table is not None
    lines = {render_command(commands.hook, table.name, event) for event in table.events}
    try:
        listed = list_codex_hooks(PROGRAMS["codex"], folders.project, folders.environ)
    except CodexUnreachableError as error:
        console.print(f"  Codex could not be asked which hooks it trusts ({error}): approve them there with /hooks.")
        return
    hooks = choose_trustworthy(listed, lines)
    carry_out(InstallPlan(InstallScope.USER, (plan_trust(folders.codex / "config.toml", hooks),)), False)
    console.print(f"  {count_trusted(hooks)}")


def count_trusted(hooks: list[CodexHook]) -> str:
    """Say how many of our hooks Codex was asked about."""
    fresh = sum(not hook.is_trusted for hook in hooks)
    return f"{len(hooks)} hooks of Codex are trusted now, {fresh} of them since this command."


def find_others(project: Path) -> list[str]:
    """Return the other clients that are found here and lack our entries; not those whose files can't be read."""
    folders = find_folders(project)
    found: list[str] = []
    for client in choose_clients(ALL, folders):
        with contextlib.suppress(ConfigurationError):
            if client != CLAUDE_CODE and not plan_client_removal(client, folders, InstallScope.USER).changed:
                found.append(client)
    return found


def uninstall_clients(name: str, scope: InstallScope, project: Path, *, dry_run: bool) -> MeantClients:
    """Take our entries out of the files of one client, or of all that are found but Claude Code.

    Raises:
        ConfigurationError: there is no such client, or a file of the only one can't be changed safely.
    """
    folders = find_folders(project)
    meant = MeantClients(choose_clients(name, folders))
    for client in meant.clients:
        with meant.attempt(client):
            _uninstall_client(client, folders, scope, dry_run=dry_run)
    with meant.attempt(RULES_FILE):
        rules = plan_rules_removal(folders.project)
        if rules.changed:
            carry_out(rules, dry_run)
    return meant


def _uninstall_client(client: str, folders: ClientFolders, scope: InstallScope, *, dry_run: bool) -> None:
    table = load_dialect(client)
    if table is None:
        return
    console.print(f"{table.title}:", style="bold")
    carry_out(plan_client_removal(client, folders, scope), dry_run)
    if table.rules_file and not dry_run:
        _remove_rules_files(table.rules_file, folders.project)


def _remove_rules_files(name: str, project: Path) -> None:
    """Remove what hooks wrote for a client, from this project and every other that the memory knows."""
    for place in dict.fromkeys((project, *_list_projects(project))):
        try:
            removed = remove_rules(place, name)
        except OSError as error:
            console.print(f"{place / name} cannot be removed: {error.strerror}", style="yellow")
            continue
        if removed:
            console.print(f"deleted {place / name}")


def _list_projects(project: Path) -> list[Path]:
    with contextlib.suppress(HyperlociError):
        settings = Settings.from_env(os.environ, project)  # noqa: TID251 - a command's own environment
        if Path(settings.database).exists():
            with Store.open(settings.database, read_only=True) as store:
                return [Path(found.root) for found in store.places.list_projects() if found.root]
    return []


def carry_out(plan: InstallPlan, dry_run: bool) -> bool:
    """Show a plan, or carry it out and say what became of each file; return whether that was done."""
    if not plan.changed:
        files = " and ".join(str(change.path) for change in plan.changes)
        console.print(f"Nothing to change in {files}." if files else "Nothing to change.", soft_wrap=True, markup=False)
        return False
    if dry_run:
        typer.echo(plan.diff())
        return False
    deleted = {change.path for change in plan.changes if change.after is None}
    for path in installer.apply_plan(plan):
        console.print(f"{'deleted' if path in deleted else 'wrote'} {path}")
        if (backup := installer.find_backup(path)) is not None:
            console.print(f"  {backup} is the file as it was before", style="dim")
    return True
