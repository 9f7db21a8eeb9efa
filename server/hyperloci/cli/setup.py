"""Setup commands: install, uninstall, doctor, embedder status, embedder stop."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, console, load_settings, print_json
from hyperloci.cli.folding import fold_text
from hyperloci.cli.install import installer as installation
from hyperloci.cli.install.client_commands import (
    MeantClients,
    carry_out,
    find_others,
    install_clients,
    uninstall_clients,
)
from hyperloci.cli.install.commands import CommandLine, locate_commands
from hyperloci.cli.install.config_entries import REGISTERED_HOOKS
from hyperloci.cli.install.plugin import find_plugin
from hyperloci.cli.layout import count_things
from hyperloci.cli.transcripts import count_transcripts
from hyperloci.config import Settings
from hyperloci.conversations.capture.client_names import title_client
from hyperloci.errors import BadRequestError, ConfigurationError, HyperlociError
from hyperloci.project.clone_token import TOKEN_FILE
from hyperloci.setting_values import CHOICES
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.store.database.file_guard import list_rescued_copies
from hyperloci.store.restore import find_kept
from hyperloci.system.data_paths import find_user_file
from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, NAMES

STRATEGIES: Final = CHOICES["consolidation"]

ScopeOption = Annotated[
    installation.InstallScope,
    typer.Option("--scope", "-s", help="For this user in all projects, or for this project only."),
]
ConsolidationOption = Annotated[
    str | None,
    typer.Option(
        "--consolidation",
        metavar="|".join(STRATEGIES),
        help="Also set what makes facts of your sessions, in all projects. `claude` sends their turns to the model that"
        " your own Claude Code uses.",
    ),
]

CLAUDE_NOTICE: Final = """\
When a session has ended, what was said and done in it (without secrets and <private> parts) is sent to the model that
your own Claude Code uses, which Hyperloci starts in the background for it: {program}, model {model}, without tools,
hooks and MCP servers; nothing of the run is kept. It is paid for by your own subscription or key: at most {calls} calls
with {chars:,} characters a day. What it answers is checked against what was said before it is stored.
To turn it off: hyperloci install --consolidation heuristic"""

ClientOption = Annotated[
    str,
    typer.Option(
        "--client",
        metavar="|".join((CLAUDE_CODE, *NAMES, "all")),
        help="For this assistant, or for all that are found on this machine.",
    ),
]
PROGRAM: Final = "hyperloci"

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show what would change; change nothing.")]


embedder = typer.Typer(
    help="""The process that gives memories their vectors.

    Examples:
      hyperloci embedder status
      hyperloci embedder stop
    """,
    no_args_is_help=True,
)


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(install)
    app.command()(uninstall)
    app.command()(doctor)
    for command in (status, stop):
        embedder.command()(command)
    app.add_typer(embedder, name="embedder")


def install(
    scope: ScopeOption = installation.InstallScope.USER,
    project: ProjectOption = Path("."),
    dry_run: DryRunOption = False,
    consolidation: ConsolidationOption = None,
    client: ClientOption = CLAUDE_CODE,
    rules: Annotated[
        bool, typer.Option("--rules", help="Also tell assistants in this project's AGENTS.md to use the memory.")
    ] = False,
    trust: Annotated[
        bool, typer.Option("--trust", help="Also write into Codex's settings that it may run these hooks.")
    ] = False,
) -> None:
    """Add the MCP server and all hooks to an assistant's configuration; other entries stay unchanged.

    Examples:
      hyperloci install
      hyperloci install --scope project --dry-run
      hyperloci install --client all
      hyperloci install --client codex --trust
      hyperloci install --consolidation claude
    """
    settings = () if consolidation is None else (_plan_consolidation(consolidation),)
    if not settings:  # With it, this command may be what puts a wrong value right.
        load_settings()
    meant = install_clients(client, scope, project, dry_run=dry_run, rules=rules, trust=trust)
    if CLAUDE_CODE in meant.clients:
        _install_claude_code(scope, project, settings, dry_run=dry_run)
    elif settings:
        carry_out(installation.InstallPlan(scope, settings), dry_run)
    if consolidation == "claude":
        _explain_claude(load_settings())
    _end_short_of(meant)


def _install_claude_code(
    scope: installation.InstallScope,
    project: Path,
    settings: tuple[installation.FileChange, ...],
    *,
    dry_run: bool,
) -> None:
    is_shared = scope is installation.InstallScope.PROJECT
    # A project's entries are for those who work on it, whoever of them has the plugin; `doctor` tells who has both.
    if not is_shared and (plugin := find_plugin(home=Path.home(), config_dir=_config_dir())):
        console.print(PLUGIN_IN_USE.format(plugin=plugin))
        if settings:
            carry_out(installation.InstallPlan(scope, settings), dry_run)
        return
    commands = locate_commands(Path(sys.executable), portable=is_shared)
    plan = installation.plan_install(
        scope,
        project_root=project.absolute(),
        home=Path.home(),
        commands=commands,
        config_dir=_config_dir(),
    )
    if carry_out(replace(plan, changes=(*plan.changes, *settings)), dry_run):
        _explain_install(scope, project, commands.server)
    if is_shared and (own := _find_own_installation(project)):
        console.print(KEPT_TWICE.format(own=own))


def _find_own_installation(project: Path) -> str | None:
    """Return in words what the user has of Hyperloci in Claude Code for all projects; None where that is nothing."""
    if plugin := find_plugin(home=Path.home(), config_dir=_config_dir()):
        return f"the plugin {plugin}"
    with contextlib.suppress(HyperlociError):
        user = installation.InstallScope.USER
        plan = installation.plan_uninstall(user, project_root=project, home=Path.home(), config_dir=_config_dir())
        if plan.changed:
            return "entries for all your projects"
    return None


KEPT_TWICE: Final = """\
You have {own} as well: here every event would be kept twice. These entries are for all who work on the project: take
away yours, or these if nobody else needs them (hyperloci uninstall, with --scope project for these)."""

PLUGIN_IN_USE: Final = """\
Claude Code has the plugin {plugin}, which brings the server and the hooks: nothing is added beside it, as every event
would then be kept twice. To have entries in its place: claude plugin uninstall {plugin}, then hyperloci install."""


def uninstall(
    scope: ScopeOption = installation.InstallScope.USER,
    project: ProjectOption = Path("."),
    dry_run: DryRunOption = False,
    client: ClientOption = CLAUDE_CODE,
) -> None:
    """Remove Hyperloci from an assistant's configuration; the memory itself stays.

    Examples:
      hyperloci uninstall
      hyperloci uninstall --scope project --dry-run
      hyperloci uninstall --client all
    """
    meant = uninstall_clients(client, scope, project, dry_run=dry_run)
    if CLAUDE_CODE in meant.clients:
        _uninstall_claude_code(scope, project, dry_run=dry_run)
    _end_short_of(meant)


def _end_short_of(meant: MeantClients) -> None:
    """End a command as one that did not do all, where a client among several, or the rules, failed."""
    if meant.failed:
        raise typer.Exit(Exit.DEGRADED)


def _uninstall_claude_code(scope: installation.InstallScope, project: Path, *, dry_run: bool) -> None:
    plan = installation.plan_uninstall(
        scope, project_root=project.absolute(), home=Path.home(), config_dir=_config_dir()
    )
    if carry_out(plan, dry_run):
        try:
            settled = load_settings()
        except ConfigurationError as error:
            console.print(f"Removed. The memory stays; where it lies can't be told: {error}")
            return
        database = settled.database
        console.print(f"Removed. The memory stays in {database}." if database.exists() else "Removed.")
        if database.exists():
            folder = settled.state_dir
            # The archive's name begins as the file's does, but not with all of it.
            archive = Archive.for_database(database).folder
            settings = _find_settings_file()
            made = [path for path in (settings, installation.find_backup(settings)) if path and path.exists()]
            files = dict.fromkeys((*find_kept(database), *list_rescued_copies(database), *made))
            beside = "".join(f", {path}" for path in files)
            beside += "".join(f", the folder {path}" for path in (archive, folder) if path.exists())
            console.print(
                f"To be rid of it too, delete {database}*{beside} and .git/{TOKEN_FILE} in your projects.",
                style="dim",
                soft_wrap=True,
            )


def _plan_consolidation(strategy: str) -> installation.FileChange:
    if strategy not in STRATEGIES:
        raise BadRequestError(f"--consolidation {strategy} is unknown: use one of {', '.join(STRATEGIES)}.")
    return installation.plan_setting(_find_settings_file(), "consolidation", strategy)


def _find_settings_file() -> Path:
    return Path(find_user_file(dict(os.environ)))  # noqa: TID251 - a process's entry point


def _explain_claude(settings: Settings) -> None:
    """Say what the strategy does, sends and costs, and how to turn it off."""
    from hyperloci.conversations.chat_model import ChatError
    from hyperloci.conversations.claude_client import find_claude

    try:
        program = find_claude(settings.claude_program, os.environ)  # noqa: TID251 - a process's entry point
    except ChatError as error:
        program = f"not found yet ({str(error).rstrip('.')})"
    notice = CLAUDE_NOTICE.format(
        program=program,
        model=settings.claude_model,
        calls=settings.claude_calls_per_day,
        chars=settings.claude_chars_per_day,
    )
    console.print(notice)


def _config_dir() -> Path | None:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")  # noqa: TID251 - Claude Code's own variable, not a setting of ours
    return Path(folder) if folder else None


INSTALLED: Final = """\
Installed: one MCP server and hooks for {hooks} events, {reach}.
The memory is one file: {database}
{portable}
1. Restart Claude Code: from then on sessions are remembered.
2. Try: hyperloci remember "We deploy on Fridays" --category decision
        hyperloci query "when do we deploy"
        hyperloci index                     # code, documents, history
3. Check: hyperloci doctor
   Undo: hyperloci uninstall{undo}"""

SHARED: Final = """\
Commit .mcp.json and .claude/settings.json to share them: whoever opens the
project then needs `{program}` on the PATH.
"""


NOT_FOUND: Final = """\
The command `hyperloci` is not on your PATH. Write in its place:
        {call}"""


def _explain_install(scope: installation.InstallScope, project: Path, server: CommandLine) -> None:
    """Say what was installed, what to try first, how to undo it, and which sessions could be read."""
    is_shared = scope is installation.InstallScope.PROJECT
    console.print(
        INSTALLED.format(
            hooks=len(REGISTERED_HOOKS),
            reach=f"for the project {project.absolute()}" if is_shared else "for you in all projects",
            database=load_settings().database,
            portable=SHARED.format(program=server.program) if is_shared else "",
            undo=" --scope project" if is_shared else "",
        )
    )
    # A runner puts the command on the PATH of this one run only.
    if server.arguments or (not is_shared and shutil.which(PROGRAM) is None):
        # Not folded: whoever copies a command must get it in one piece.
        typer.echo(NOT_FOUND.format(call=shlex.join((server.program, *server.arguments))))
    if others := find_others(project):
        titles = ", ".join(title_client(client) for client in others)
        console.print(
            f"\nFound here too: {titles}. One memory for all of them:\n        hyperloci install --client all"
        )
    own, every = count_transcripts(project)
    if every:
        console.print(
            f"\n{count_things(own, 'past session')} of this project found, {every:,} in all. To remember them:\n"
            f"        hyperloci import --claude-code{'' if own else ' --all'}"
        )


def doctor(
    project: ProjectOption = Path("."),
    repair: Annotated[bool, typer.Option("--repair", help="Repair what can be repaired.")] = False,
    json: JsonOption = False,
) -> None:
    """Check the installation, settings, database and hooks, and say how to fix each problem.

    Examples:
      hyperloci doctor
      hyperloci doctor --repair
    """
    # Loads numpy and sqlite-vec, which no other command needs.
    from hyperloci.cli.diagnostics.diagnosis import Severity
    from hyperloci.cli.diagnostics.doctor import run_checks

    findings = run_checks(project.absolute(), repair=repair)
    if json:
        print_json([finding.as_dict() for finding in findings])
    else:
        for finding in findings:
            style = {Severity.OK: "green", Severity.NOTE: "dim", Severity.WARNING: "yellow", Severity.ERROR: "red"}[
                finding.level
            ]
            line = Text.assemble((f"{finding.level:<8}", style), f"{finding.subject}: {finding.message}")
            console.print(fold_text(line, console.width, hang=8) if console.is_terminal else line)
            if finding.mend:
                console.print(Text(f"        -> {finding.mend}"))
    worst = {finding.level for finding in findings}
    if Severity.ERROR in worst:
        raise typer.Exit(Exit.FAILED)
    if Severity.WARNING in worst:
        raise typer.Exit(Exit.DEGRADED)


def status(json: JsonOption = False) -> None:
    """Show whether the embedder runs, its models, and what waits for it.

    Examples:
      hyperloci embedder status
    """
    from hyperloci.embedder.client import EmbedderClient
    from hyperloci.embedder.transport import find_address_fault, find_embedder_address

    settings = load_settings()
    found = EmbedderClient(settings).status()
    if json:
        print_json(found)
    elif found or not settings.embedder:
        console.print(str(found or "not running: it is switched off"))
    elif fault := find_address_fault(find_embedder_address(settings)):
        console.print(f"none can run: {fault}")
    else:
        console.print("not running; a session starts it when it is needed")


def stop() -> None:
    """Stop the embedder; a session that needs it starts it again.

    Examples:
      hyperloci embedder stop
    """
    from hyperloci.embedder.client import EmbedderClient

    console.print("stopped" if EmbedderClient(load_settings()).stop_embedder() else "not running")
