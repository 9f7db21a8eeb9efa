"""Facet command: what kind of content a memory is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, console, open_memory, print_error, print_json


def register_command(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(facets)


def facets(
    id: Annotated[str, typer.Argument(help="A memory's id, or its beginning.")],
    project: ProjectOption = Path("."),
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="NAME=VALUE, such as diataxis=reference or domain_tags=api,security; repeatable."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show what kind of content a memory is, or correct it; rules don't change what you set.

    Examples:
      hyperloci facets 3f2a9c1e
      hyperloci facets 3f2a9c1e --set diataxis=reference --set verification=verified
      hyperloci facets 3f2a9c1e --set domain_tags=api,security --set persona=
    """
    values = {}
    for pair in change or ():
        name, equals, value = pair.partition("=")
        if not equals:
            print_error(f"--set {pair!r} must be NAME=VALUE, such as diataxis=reference.")
            raise typer.Exit(Exit.USAGE)
        values[name.strip()] = value.strip()
    with open_memory(project) as memory:
        found = memory.set_facets(id, values) if values else memory.get_facets(id)
    if json:
        print_json(found)
        return
    table = Table(box=None, show_header=False, padding=(0, 2))
    for name, value in found.items():
        shown = ", ".join(value) if isinstance(value, list) else value
        table.add_row(name.replace("_", " "), "-" if shown in (None, "") else str(shown))
    console.print(table)
