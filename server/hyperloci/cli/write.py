"""Commands that write: remember, dead-end, confirm, forget, restore, index."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, console, errors, opened, print_json
from hyperloci.errors import EmbedderError
from hyperloci.memory import Memory
from hyperloci.model.answers import IndexReport
from hyperloci.model.written import Remembered

SKIPPED_SHOWN = 10
"""Skipped files listed after indexing; `--json` lists all."""


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(remember)
    app.command("dead-end")(dead_end)
    app.command()(confirm)
    app.command()(forget)
    app.command()(restore)
    app.command()(index)


def remember(
    fact: Annotated[str, typer.Argument(help="What to remember.")],
    project: ProjectOption = Path("."),
    category: Annotated[
        str, typer.Option("--category", "-c", help="user_info, decision, preference, constraint or insight.")
    ] = "insight",
    scope: Annotated[str | None, typer.Option(help="project or global; by default what suits the category.")] = None,
    replaces: Annotated[str | None, typer.Option(help="Id of a memory that this one replaces.")] = None,
    json: JsonOption = False,
) -> None:
    """Remember a fact.

    Example: hyperloci remember "The CI runs on Python 3.11 only" --category constraint
    """
    with opened(project) as memory:
        remembered = memory.remember_fact(fact, category=category, scope=scope, replaces=replaces)
    _print_remembered(remembered, json)


def dead_end(
    approach: Annotated[str, typer.Argument(help="What was tried.")],
    reason: Annotated[str, typer.Argument(help="Why it failed.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Remember that an approach failed, so that nobody tries it again.

    Example: hyperloci dead-end "Caching sessions in Redis" "evictions logged users out"
    """
    with opened(project) as memory:
        remembered = memory.mark_dead_end(approach, reason)
    _print_remembered(remembered, json)


def _print_remembered(remembered: Remembered, json: bool) -> None:
    if json:
        print_json(remembered)
        return
    known = " (known already)" if remembered.duplicate_of else ""
    console.print(f"{remembered.id}{known}")
    for item in remembered.contradictions:
        errors.print(f"contradicts {item.id}: {item.reason}", style="yellow")
    if remembered.redactions:
        errors.print(f"{remembered.redactions} secret(s) were redacted before storing.", style="yellow")


def confirm(
    id: Annotated[str, typer.Argument(help="A memory's id, or a relation's as `hyperloci graph` shows it.")],
    project: ProjectOption = Path("."),
) -> None:
    """Confirm that a memory or a relation is right: it never fades.

    Examples:
      hyperloci confirm 0c6b2a58-6f0e-4a39-9b7c-1d6a3a0e7c11
      hyperloci confirm 976bdca7
    """
    with opened(project) as memory:
        if memory.store.nodes.get_node(id) is None and memory.store.edges.ids_like(id):
            edge = memory.confirm_link(id)
            console.print(f"{edge.id} ({edge.label}) confirmed")
            return
        hit = memory.confirm_fact(id)
    console.print(f"{hit.id} confirmed")


def forget(
    id: Annotated[str, typer.Argument(help="A memory's id.")],
    project: ProjectOption = Path("."),
    reason: Annotated[str | None, typer.Option(help="Why; kept in the log.")] = None,
) -> None:
    """Forget a memory; it can be restored for 30 days."""
    with opened(project) as memory:
        forgotten = memory.forget(id, reason=reason)
    console.print(f"{forgotten.id} forgotten; `hyperloci restore` works until {forgotten.restorable_until}")


def restore(
    id: Annotated[str, typer.Argument(help="A forgotten memory's id.")], project: ProjectOption = Path(".")
) -> None:
    """Bring a forgotten memory back."""
    with opened(project) as memory:
        hit = memory.restore(id)
    console.print(f"{hit.id} restored")


def index(
    path: Annotated[Path | None, typer.Argument(help="A file or folder of the project; all of it by default.")] = None,
    project: ProjectOption = Path("."),
    embed: Annotated[bool, typer.Option("--embed/--no-embed", help="Wait until everything has its vectors.")] = True,
    json: JsonOption = False,
) -> None:
    """Index code, documents and git history; only what changed is touched.

    Examples:
      hyperloci index
      hyperloci index docs --no-embed
    """
    with opened(project) as memory, _bar(json) as bar:
        files = bar.add_task("reading", total=None)
        report = memory.index_path(
            path, progress=lambda done, total, what: bar.update(files, completed=done, total=total, description=what)
        )
        fault = _embed(memory, bar) if embed else None
        pending = memory.stats()["fingerprints_pending"]
    if json:
        print_json({"report": report, "pending": pending})
    else:
        _print_report(report, pending)
    if fault is not None:
        errors.print(f"indexed, but searches use words only for now: {fault}", style="yellow")
        raise typer.Exit(Exit.DEGRADED)


def _embed(memory: Memory, bar: Progress) -> str | None:
    """Wait for the vectors, and return what keeps them from being made."""
    vectors = bar.add_task("embedding", total=None)
    try:
        memory.embed_pending(lambda done, total, what: bar.update(vectors, completed=done, total=total))
    except EmbedderError as error:
        return str(error)
    return None


def _bar(quiet: bool) -> Progress:
    return Progress(
        TextColumn("{task.description:<24.24}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=errors,
        disable=quiet or not errors.is_terminal,
        transient=True,
    )


def _print_report(report: IndexReport, pending: int) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2))
    for name in ("files", "unchanged_files", "chunks", "added", "changed", "moved", "removed", "commits"):
        table.add_row(name.replace("_", " "), str(getattr(report, name)))
    table.add_row("seconds", f"{report.seconds:.1f}")
    table.add_row("without vectors", str(pending))
    console.print(table)
    if report.set_aside:
        console.print(f"{report.set_aside} set aside; hyperloci set-aside lists what, and why", style="yellow")
    for skipped in report.skipped[:SKIPPED_SHOWN]:
        console.print(f"skipped {skipped.path}: {skipped.reason}", style="dim")
    if len(report.skipped) > SKIPPED_SHOWN:
        console.print(f"... and {len(report.skipped) - SKIPPED_SHOWN} more skipped (--json lists them)", style="dim")
