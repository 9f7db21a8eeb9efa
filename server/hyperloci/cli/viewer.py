"""Viewer command: view."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from hyperloci.cli.common import ProjectOption, console, errors, load_settings

DEFAULT_IDLE_MINUTES = 60.0
"""A page may be left open over a meal; a viewer that was forgotten should not listen through the night."""


def register_command(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(view)


def view(
    project: ProjectOption = Path("."),
    port: Annotated[int, typer.Option(min=0, max=65_535, help="The port on this machine; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the browser.")] = True,
    idle: Annotated[
        float, typer.Option(min=0.01, help="End after so many minutes without a request.")
    ] = DEFAULT_IDLE_MINUTES,
) -> None:
    """Open the memory in a browser: search it, see where each memory came from, correct it, replay sessions.

    Only this machine can reach it, and only the browser that opens the printed address first. Ctrl+C ends it.

    Examples:
      hyperloci view
      hyperloci view --no-browser --port 8765
    """
    from hyperloci.viewer.serving import ViewerOptions, serve_viewer

    def announce(address: str) -> None:
        console.print(address)
        told = "If no page opens, open it yourself. " if browser else ""
        errors.print(f"{told}The address is good once. Ctrl+C ends the viewer.")

    options = ViewerOptions(port=port, open_browser=browser, idle_seconds=60 * idle, announce=announce)
    with contextlib.suppress(KeyboardInterrupt):
        serve_viewer(load_settings(project), project, options)
