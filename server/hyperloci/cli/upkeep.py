"""Commands that look after the memory by hand: upkeep."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, complain, console, errors, opened, print_json

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Change nothing; tell what would change.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(upkeep)


def upkeep(
    project: ProjectOption = Path("."),
    dry_run: DryRunOption = False,
    due: Annotated[bool, typer.Option("--due", help="Only what is due by now.")] = False,
    json: JsonOption = False,
) -> None:
    """Look after the memory now: end left sessions, consolidate them, let what was never recalled fade, and so on.

    Servers do this by themselves while idle. A dry run works on a copy of the database.

    Examples:
      hyperloci upkeep --dry-run
      hyperloci upkeep
    """
    with opened(project) as memory:
        report = memory.upkeep(dry_run=dry_run, force=not due)
    if report is None:
        complain("another process is at it; try again when it is done.")
        raise typer.Exit(Exit.DEGRADED)
    if json:
        print_json(report)
    else:
        table = Table("step", "changes", "seconds", box=None, padding=(0, 2))
        for step in report.steps:
            table.add_row(step.name, str(step.changed), f"{step.seconds:.2f}")
        console.print(table)
        for step in report.steps:
            if step.error:
                errors.print(f"{step.name}: {step.error}", style="yellow")
        if dry_run:
            console.print("a dry run: nothing was changed")
    if any(step.error for step in report.steps):
        raise typer.Exit(Exit.DEGRADED)
