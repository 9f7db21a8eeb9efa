"""Maintenance commands: upkeep, prune, weak."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hyperloci.cli.common import (
    MAX_LISTED,
    Exit,
    JsonOption,
    ProjectOption,
    console,
    errors,
    open_memory,
    print_error,
    print_json,
    store_waiting_records,
)
from hyperloci.cli.layout import make_table, to_one_line
from hyperloci.store.ids import shorten_id

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Show what would change; change nothing.")]


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(upkeep)
    app.command()(prune)
    app.command()(weak)


def upkeep(
    project: ProjectOption = Path("."),
    dry_run: DryRunOption = False,
    due: Annotated[bool, typer.Option("--due", help="Only jobs that are due now.")] = False,
    json: JsonOption = False,
) -> None:
    """Run maintenance now: store what hooks left, close abandoned sessions, consolidate, forget what faded, and more.

    Idle servers run it by themselves. A dry run works on a copy of the database.

    Examples:
      hyperloci upkeep --dry-run
      hyperloci upkeep
    """
    with open_memory(project) as memory:
        if not dry_run:
            store_waiting_records(memory)
        report = memory.run_maintenance(dry_run=dry_run, force=not due)
    if report is None:
        print_error("another process is running maintenance; try again when it is done.")
        raise typer.Exit(Exit.DEGRADED)
    if json:
        print_json(report)
    else:
        table = make_table("step", "changes", "seconds", numbers=("changes", "seconds"))
        for step in report.steps:
            table.add_row(step.name, str(step.changed), f"{step.seconds:.2f}")
        console.print(table)
        for step in report.steps:
            if step.error:
                errors.print(f"{step.name}: {step.error}", style="yellow")
        if dry_run:
            console.print("dry run: nothing was changed")
    if any(step.error for step in report.steps):
        raise typer.Exit(Exit.DEGRADED)


def prune(
    project: ProjectOption = Path("."),
    dry_run: DryRunOption = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, max=MAX_LISTED, help="Forget at most this many.")
    ] = None,
    edges: Annotated[bool, typer.Option("--edges", help="Prune faded relations that rules found, instead.")] = False,
    json: JsonOption = False,
) -> None:
    """Forget memories that have faded below `decay_threshold`, in every project; `hyperloci restore ID` undoes it.

    Confirmed memories stay, and at most `prune_cap` are forgotten a day. `hyperloci upkeep` does this too.

    Examples:
      hyperloci prune --dry-run
      hyperloci prune --limit 20
      hyperloci prune --edges --dry-run
    """
    if edges:
        _prune_edges(project, dry_run=dry_run, json=json)
        return
    with open_memory(project) as memory:
        done = memory.prune_faded(limit=limit, dry_run=dry_run)
        hits = memory.get_many(done.ids)
    if json:
        print_json(done)
        return
    for hit in hits:
        console.print(Text(to_one_line(hit.content, f"{shorten_id(hit.id)}  [{hit.subtype or hit.type}]  ")))
    verb = "would be forgotten" if dry_run else "forgotten; restorable for 30 days"
    why = "--limit" if limit is not None and len(done.ids) == limit else f"prune_cap is {done.cap} a day"
    console.print(f"{len(done.ids)} {verb}" + (f"; {done.left} wait ({why})" if done.left else ""))


def _prune_edges(project: Path, *, dry_run: bool, json: bool) -> None:
    with open_memory(project) as memory:
        pruned = memory.prune_links(dry_run=dry_run)
    if json:
        print_json(pruned)
        return
    verb = "would be removed" if dry_run else "removed"
    console.print(
        f"{pruned.faded + pruned.crowded} relations {verb}: {pruned.faded} faded,"
        f" {pruned.crowded} beyond the fifty most certain of a memory"
    )


def weak(
    project: ProjectOption = Path("."),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=200, help="How many.")] = 20,
    json: JsonOption = False,
) -> None:
    """List low-confidence memories and when each is forgotten; `hyperloci confirm ID` keeps one.

    Example: hyperloci weak
    """
    with open_memory(project) as memory:
        found = memory.list_weak_facts(limit)
    if json:
        print_json(list(found))
        return
    if not found:
        console.print("No memory is weak: none is as likely wrong as right.", style="dim")
        return
    table = make_table("id", "confidence", "days left", "memory", numbers=("confidence", "days left"))
    for item in found:
        days = "-" if item.days_to_prune is None else f"{item.days_to_prune:.0f}"
        text = Text(to_one_line(item.hit.content))
        table.add_row(shorten_id(item.hit.id), f"{item.confidence_now:.2f}", days, text)
    console.print(table)
