"""Root command: every subcommand is registered here."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Annotated, Final

import typer
from typer.models import CommandInfo

from hyperloci import __version__
from hyperloci.cli import (
    conversations,
    data,
    entities,
    graph,
    maintenance,
    memories,
    projects,
    read,
    setup,
    topics,
    viewer,
    write,
)
from hyperloci.cli.command_group import HintingGroup, PlainGroup
from hyperloci.cli.common import Exit, ReportingCommand, load_settings, print_error
from hyperloci.cli.install import model_command
from hyperloci.cli.sharing import access, share_commands
from hyperloci.cli.team import commands as team_commands
from hyperloci.errors import HyperlociError
from hyperloci.idle_settings import list_idle_variables
from hyperloci.store.database.error_translation import describe_error

app = typer.Typer(
    name="hyperloci",
    help="""Long-term memory for coding assistants: one SQLite file, an MCP server, Claude Code hooks.

    Examples:
      hyperloci remember "We deploy on Fridays" --category decision
      hyperloci query "when do we deploy"
      hyperloci view
      hyperloci query --help
    """,
    no_args_is_help=True,
    rich_markup_mode="rich",
    cls=HintingGroup,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 failed; 2 wrong arguments; 3 done, but not all of it; 130 stopped by Ctrl-C;"
    " 141 nobody reads on. --json prints JSON for programs, on stdout alone.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperloci {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    ctx: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for coding assistants."""
    # A server and a doctor tell it themselves; a hook says nothing to people.
    if ctx.invoked_subcommand not in ("serve", "hook", "doctor"):
        for line in list_idle_variables(os.environ):  # noqa: TID251 - a process's entry point
            typer.echo(f"Warning: {line}", err=True)


@app.command()
def hook(event: Annotated[str, typer.Argument(help="The event, such as SessionStart.")]) -> None:
    """Answer one Claude Code hook: JSON on stdin, JSON on stdout (the same as `hyperloci-hook EVENT`).

    Examples:
      echo '{"session_id": "a", "cwd": "/my/project"}' | hyperloci hook SessionStart
    """
    from hyperloci_hooks.run import main as answer

    answer(event)


read.register_commands(app)
memories.register_commands(app)
graph.register_commands(app)
write.register_commands(app)
share_commands.register_commands(app)
setup.register_commands(app)
data.register_commands(app)
topics.register_commands(app)
maintenance.register_commands(app)
entities.register_commands(app)
conversations.register_commands(app)
projects.register_commands(app)
team_commands.register_commands(app)
model_command.register_commands(app)
viewer.register_command(app)
access.register_commands(app)

PANELS: Final = {
    "Every day": ("query", "remember", "dead-end", "list", "show", "history", "view"),
    "Sessions": ("sessions", "last", "recap", "timeline", "expand"),
    "Correct and tidy up": ("confirm", "forget", "restore", "weak", "facets", "purge", "prune"),
    "The project": ("index", "outline", "graph", "topics", "entities", "entity", "merge-entities", "set-aside"),
    "Projects": ("projects", "link", "unlink"),
    "Together": ("share", "unshare", "team", "token", "audit"),
    "Backups and other programs": ("backup", "restore-backup", "export", "import"),
    "Set up": (
        "install",
        "uninstall",
        "doctor",
        "demo",
        "stats",
        "embedder",
        "model",
        "upkeep",
        "migrate",
        "serve",
        "hook",
    ),
}
"""The commands as `--help` lists them, those of every day first."""


def _arrange_commands() -> None:
    """Put every command and group into its panel, in the order of `PANELS`, and have each command report its errors."""
    places = {name: (panel, number) for number, (panel, name) in enumerate(_list_panels())}
    for command in app.registered_commands:
        command.cls = ReportingCommand
        command.rich_help_panel = places.get(_name_of(command), ("More", 0))[0]
    for group in app.registered_groups:
        group.cls, group.rich_help_panel = PlainGroup, places.get(group.name or "", ("More", 0))[0]
        for command in group.typer_instance.registered_commands if group.typer_instance else ():
            command.cls = ReportingCommand
    app.registered_commands.sort(key=lambda command: places.get(_name_of(command), ("", len(places)))[1])


def _list_panels() -> Iterator[tuple[str, str]]:
    for panel, names in PANELS.items():
        yield from ((panel, name) for name in names)


def _name_of(command: CommandInfo) -> str:
    return command.name or str(getattr(command.callback, "__name__", ""))


_arrange_commands()


def run_command() -> None:
    """Run one command as this process; any error is shown as one line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or pipe with an old encoding shows an escape in place of a character that it lacks.
            stream.reconfigure(errors="backslashreplace")
    stdout = sys.stdout
    try:
        app()
    except SystemExit:
        # Typer puts another stdout in place of one that nobody reads, and ends as if the command had failed.
        if sys.stdout is stdout and _flush_output():
            raise
        sys.exit(Exit.UNREAD)
    except OSError as error:
        print_error(_of_the_system(error))
        sys.exit(Exit.FAILED)
    except Exception as error:
        print_error(_describe_unplanned(error))
        sys.exit(Exit.FAILED)


def _flush_output() -> bool:
    """Write out what stdout holds; False where nobody reads it, and then it is dropped."""
    if sys.stdout is None:  # Closed by who started us, who wants nothing of it.
        return True
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None
        return False
    return True


def _of_the_system(error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and not _has_folder():
        return "the current folder has been deleted; change to another folder."
    return f"{error.filename}: {error.strerror}." if error.filename else f"{error}."


def _describe_unplanned(error: Exception) -> str:
    from hyperloci_hooks.log import append_to_log

    message = f"unexpected error: {describe_error(error)}"
    try:
        file = load_settings().log_file
    except HyperlociError:
        return message
    append_to_log(str(file), "".join(traceback.format_exception(error)), level="ERROR", who="hyperloci.cli")
    return f"{message} (the traceback is in {file}; please report it)"


def _has_folder() -> bool:
    try:
        return bool(os.getcwd())
    except FileNotFoundError:
        return False


__all__ = ["Exit", "app", "run_command"]
