"""Commands that take care of the data: backup, restore-backup, purge, export, import, set-aside, migrate, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hyperloci.cli.common import (
    Exit,
    JsonOption,
    ProjectOption,
    console,
    errors,
    load_settings,
    open_memory,
    print_json,
    report_errors,
)
from hyperloci.model.answers import ImportReport, PurgeReport
from hyperloci.store import Store
from hyperloci.store.transfer import export_memory, restore_backup


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(backup)
    app.command("restore-backup")(restore)
    app.command()(purge)
    app.command("export")(export)
    app.command("import")(import_)
    app.command("set-aside")(set_aside)
    app.command()(migrate)
    app.command()(demo)


def backup(
    file: Annotated[Path, typer.Argument(help="Where to write the copy.")], project: ProjectOption = Path(".")
) -> None:
    """Copy the whole database to a file, also while it is in use; `hyperloci restore-backup` puts it back.

    Example: hyperloci backup ~/memory-backup.db
    """
    with open_memory(project) as memory:
        memory.store.back_up(file.absolute())
    console.print(f"wrote {file}")


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.", exists=True)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Put a backup in the database's place; the present database is kept beside it."""
    with report_errors():
        settings = load_settings()
        if not yes:
            typer.confirm(f"Replace {settings.database} by {file}? Close Claude Code first.", abort=True)
        kept = restore_backup(file, settings.database)
    console.print(f"restored {settings.database}" + (f"; the one before is {kept}" if kept else ""))


def purge(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of memories.")],
    project: ProjectOption = Path("."),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    json: JsonOption = False,
) -> None:
    """Remove memories for good: from the database, its log, the waiting records and the backups kept by Hyperloci.

    It can't be undone (`forget` can). Close other sessions first. Copies you made yourself are not touched.
    """
    with open_memory(project) as memory:
        if not yes:
            for hit in memory.get_many(ids):
                errors.print(f"{hit.id} {hit.subtype or hit.type}: {hit.content:.80}")
            typer.confirm("Remove for good, with no way back?", abort=True, err=True)
        purged = memory.purge(ids)
    if json:
        print_json(purged)
    else:
        _print_purged(purged)
    if purged.backups_unreadable:
        raise typer.Exit(Exit.DEGRADED)


def _print_purged(purged: PurgeReport) -> None:
    console.print(f"{len(purged.ids)} purged: {', '.join(purged.ids)}")
    facts = (
        ("with them went what only they spoke of", purged.entities),
        ("taken out of the backup", purged.backups_rewritten),
        ("deleted, since its schema is too old to be changed", purged.backups_deleted),
    )
    warnings = (
        ("may still hold it and can't be changed; delete it yourself", purged.backups_unreadable),
        ("holds the same text or was made from it; purge it too if it should go", purged.alike),
        ("it was indexed from this file; take it out of there, or it comes back when the file changes", purged.sources),
    )
    for what, items in facts:
        for item in items:
            console.print(f"{what}: {item}")
    for what, items in warnings:
        for item in items:
            errors.print(f"{what}: {item}", style="yellow")


def export(
    file: Annotated[Path, typer.Argument(help="Where to write JSON lines.")], project: ProjectOption = Path(".")
) -> None:
    """Write everything but derived data (vectors, indexes) as JSON lines, which `hyperloci import` reads.

    Example: hyperloci export memory.jsonl
    """
    with open_memory(project) as memory:
        count = export_memory(memory.store, file)
    console.print(f"wrote {count} lines to {file}")


def import_(
    file: Annotated[Path, typer.Argument(help="An export, a server-memory file, or notes (.md).", exists=True)],
    project: ProjectOption = Path("."),
    scope: Annotated[
        str | None, typer.Option(help="project (default) or global: where another program's facts belong.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be added.")] = False,
    json: JsonOption = False,
) -> None:
    """Read an export, or what another program remembered; what is there already stays as it is.

    Known are what `hyperloci export` wrote, the JSON lines of MCP's reference memory server, and Markdown notes:
    MEMORY.md with the notes it lists, CLAUDE.md. What others remembered is trusted less than what is said here.

    Examples:
      hyperloci import memory.jsonl --dry-run
      hyperloci import ~/.claude/projects/-home-me-shop/memory/MEMORY.md
    """
    with open_memory(project) as memory:
        report = memory.import_file(file, scope=scope, dry_run=dry_run)
    if json:
        print_json(report)
    else:
        _print_import(report)


def _print_import(report: ImportReport) -> None:
    added = ", ".join(f"{kind}: {count}" for kind, count in report.added.items()) or "nothing new"
    known = f"; {report.known} known already" if report.known else ""
    console.print(f"{'would add ' if report.dry_run else ''}{added}{known}")
    if report.redactions:
        errors.print(f"{report.redactions} secret(s) were redacted before storing.", style="yellow")
    for line in report.skipped:
        errors.print(f"left out {line}", style="yellow")


def set_aside(
    project: ProjectOption = Path("."),
    again: Annotated[bool, typer.Option("--again", help="Have all of it tried again.")] = False,
    json: JsonOption = False,
) -> None:
    """List what failed by itself and is left out, while everything else is there: files, commits, records.

    It is tried again when it, or the program, changes.

    Examples:
      hyperloci set-aside
      hyperloci set-aside --again && hyperloci index
    """
    with open_memory(project) as memory:
        found = memory.list_set_aside()
        if again:
            memory.try_again()
    if json:
        print_json(found)
        return
    for item in found:
        console.print(Text(f"{item.kind} {item.subject}: {item.reason} (tries: {item.tries})"), soft_wrap=True)
    if not found:
        console.print("nothing is set aside")
    elif again:
        console.print("all of it is tried again; run hyperloci index", style="yellow")


def migrate() -> None:
    """Bring the database's schema up to date (opening it does so too), after a backup."""
    with report_errors():
        settings = load_settings()
        with Store.open(settings.database, backup_dir=settings.backup_dir, synchronous=settings.synchronous) as store:
            console.print(f"{settings.database}: schema {store.count_everything()['schema_version']}")


def demo(project: ProjectOption = Path(".")) -> None:
    """Show the main job on this project in one go, in a throw-away database, through a real MCP client."""
    from hyperloci.cli.diagnostics.demo import run_demo

    if not run_demo(project.absolute()):
        errors.print("the demo failed; the lines above say where", style="red")
        raise typer.Exit(1)
