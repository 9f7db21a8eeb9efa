"""The command line's root: every command is registered here."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from hyperloci import __version__
from hyperloci.cli import care, read, setup, write
from hyperloci.cli.common import Exit

app = typer.Typer(
    name="hyperloci",
    help="Long-term memory for coding assistants: one SQLite file, an MCP server, Claude Code hooks.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hyperloci {__version__}")
        raise typer.Exit()


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for coding assistants."""


@app.command()
def serve() -> None:
    """Run the MCP server on stdin and stdout (what Claude Code starts)."""
    from hyperloci.app import main as run

    raise typer.Exit(run())


@app.command()
def hook(event: Annotated[str, typer.Argument(help="The event, such as SessionStart.")]) -> None:
    """Answer one Claude Code hook: JSON on stdin, JSON on stdout (the same as `hyperloci-hook EVENT`)."""
    # The hook's package stands above this one, so it is started as the program it is.
    os.execv(sys.executable, [sys.executable, "-m", "hyperloci_hooks.run", event])


read.register(app)
write.register(app)
setup.register(app)
care.register(app)

__all__ = ["Exit", "app"]
