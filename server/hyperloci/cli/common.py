"""Shared parts of the commands: settings, the open memory, output for people and for programs, exit codes."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from rich.text import Text
from typer.core import TyperOption

from hyperloci.cli.command_group import PlainCommand
from hyperloci.cli.folding import FoldingConsole
from hyperloci.clock import forget_offset
from hyperloci.config import Settings, has_foreign_clock
from hyperloci.errors import BadRequestError, HyperlociError
from hyperloci.memory import Memory
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.system.data_paths import find_claude_dir

_PLAIN: Final[dict[str, Any]] = {"markup": False, "emoji": False, "highlight": False, "soft_wrap": True}
"""Printed text is not ours: brackets and `:words:` in it are not markup, and no path is cut in two."""

console = FoldingConsole(**_PLAIN)
errors = FoldingConsole(stderr=True, **_PLAIN)


MAX_LISTED: Final = 1_000_000_000
"""Nobody has as many rows, and SQLite takes no number that is much larger."""


class Exit(IntEnum):
    """Exit codes of all commands."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    DEGRADED = 3
    INTERRUPTED = 130
    UNREAD = 141


ProjectOption = Annotated[
    Path,
    typer.Option(
        "--project",
        "-p",
        help="A folder of the project; the repository that contains it is the project.",
        envvar="CLAUDE_PROJECT_DIR",
        exists=True,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def load_settings(project: Path | None = None) -> Settings:
    """Return the settings in force; a clock that a file of the project moves is put right."""
    environ = os.environ  # noqa: TID251 - a process's entry point
    settings = Settings.from_env(environ, project)
    if project is not None and has_foreign_clock(environ, project):
        forget_offset(environ)
    return settings


def find_claude_folder() -> Path:
    """Return the folder in which Claude Code keeps its settings and transcripts."""
    return Path(find_claude_dir(dict(os.environ)))  # noqa: TID251 - a process's entry point


@contextlib.contextmanager
def open_memory(project: Path, *, searches: bool = False) -> Iterator[Memory]:
    """Open the memory of a project.

    A command that `searches` has its question encoded, by an embedder of its own where that takes one.
    """
    with (
        Memory.open(load_settings(project), project) as memory,
        memory.keep_questions_encodable() if searches else contextlib.nullcontext(),
    ):
        yield memory


def store_waiting_records(memory: Memory) -> None:
    """Store what hooks left in the spool, in a process of its own; tell why if some goes on waiting."""
    from hyperloci_hooks.drain import drain_in_subprocess
    from hyperloci_hooks.spool import has_work

    if not has_work(memory.settings):
        return
    try:
        _, fault = drain_in_subprocess(memory.settings, Path(memory.project.root))
    except (OSError, subprocess.TimeoutExpired) as error:
        fault = str(error)
    if fault:
        errors.print(f"what hooks left waits on: {fault}", style="yellow")


class ReportingCommand(PlainCommand):
    """A command whose errors, ours and SQLite's, end it with one line on stderr and the right exit code."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            with translate_block_errors():
                return super().invoke(ctx)
        except HyperlociError as error:
            print_error(_say_for_command(str(error), self.params, ctx.params))
            raise typer.Exit(Exit.USAGE if isinstance(error, BadRequestError) else Exit.FAILED) from error


_OTHER_NAMES: Final = {
    "content_type": "kind",
    "max_tokens": "tokens",
    "query": "text",
    "relationship": "relation",
    "session_id": "session",
}
"""Arguments of tools that are called otherwise on the command line."""

_OTHER_WORDS: Final = (
    ("search_memory (`hyperloci query`)", "`hyperloci query`"),
    ("list_topics (`hyperloci topics`)", "`hyperloci topics`"),
    ("index_path indexes", "`hyperloci index` indexes"),
    ("restore it first", "`hyperloci restore` brings it back"),
)


def _say_for_command(message: str, parameters: Sequence[Any], given: Mapping[str, Any]) -> str:
    """Return a message in the words of a command: `--type 'x'` for `content_type='x'`.

    A name that no parameter has is that of the parameter which was given the value.
    """
    for tool, command in _OTHER_WORDS:
        message = message.replace(tool, command)
    name, equals, rest = message.partition("=")
    if not equals:
        return message
    called = [one for one in parameters if one.name in (name, _OTHER_NAMES.get(name), f"{name}s")]
    called = called or [one for one in parameters if rest.startswith(f"{given.get(one.name)!r}:")]
    if not called:
        return message
    is_option = isinstance(called[0], TyperOption)
    label = max(called[0].opts, key=len) if is_option else called[0].metavar or called[0].name.upper()
    return f"{label.rstrip('.')} {rest}"


def find_in_project(path: Path, root: Path) -> Path:
    """Return a path that was typed as one from the project's root.

    It is one from the folder where the command runs, as in any shell, if that has it and lies in the project. Else it
    stays as it is: one from the root, or of no file of the project.

    Args:
        path: absolute, or relative to either.
        root: the real path of the project's root.
    """
    typed = Path(os.path.normpath(Path.cwd() / path))
    for place in (typed, Path(os.path.realpath(typed))):
        if place.is_relative_to(root) and (os.path.exists(place) or path.is_absolute()):
            return place.relative_to(root)
    return path


def print_error(message: str) -> None:
    """Print an error to stderr."""
    errors.print(Text.assemble(("error:", "red"), " ", message))


def ask_to_go_on(question: str) -> None:
    """Ask before something that can't be undone; where nobody can answer, say what to add.

    Raises:
        Abort: the answer is no.
        Exit: nobody is there to answer.
    """
    try:
        goes_on = typer.confirm(question, err=True)
    except typer.Abort:
        if sys.stdin.isatty():
            raise
        errors.print()
        print_error("Nothing was done: this needs a confirmation. Run it in a terminal, or add --yes.")
        raise typer.Exit(Exit.USAGE) from None
    if not goes_on:
        raise typer.Abort


def print_json(value: Any) -> None:
    """Print a value (dataclasses too) as JSON on stdout."""
    plain = asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
    typer.echo(json.dumps(plain, ensure_ascii=False, indent=2, default=_to_plain))


def _to_plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return str(value)
