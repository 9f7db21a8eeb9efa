"""Commands that take care of the data: backup, restore-backup, export, import, migrate, demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hyperloci.cli.common import ProjectOption, console, errors, explained, load_settings, opened
from hyperloci.store import Store
from hyperloci.store.transfer import export_all, import_all, restore_backup


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(backup)
    app.command("restore-backup")(restore)
    app.command("export")(export)
    app.command("import")(import_)
    app.command()(migrate)
    app.command()(demo)


def backup(
    file: Annotated[Path, typer.Argument(help="Where to write the copy.")], project: ProjectOption = Path(".")
) -> None:
    """Copy the whole database to a file, also while it is in use."""
    with opened(project) as memory:
        memory.store.back_up(file.absolute())
    console.print(f"wrote {file}", highlight=False)


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.", exists=True)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Put a backup in the database's place; the present database is kept beside it."""
    with explained():
        settings = load_settings()
        if not yes:
            typer.confirm(f"Replace {settings.database} by {file}? Close Claude Code first.", abort=True)
        kept = restore_backup(file, settings.database)
    console.print(f"restored {settings.database}" + (f"; the one before is {kept}" if kept else ""), highlight=False)


def export(
    file: Annotated[Path, typer.Argument(help="Where to write JSON lines.")], project: ProjectOption = Path(".")
) -> None:
    """Write everything but derived data (vectors, indexes) as JSON lines."""
    with opened(project) as memory:
        count = export_all(memory.store, file)
    console.print(f"wrote {count} lines to {file}", highlight=False)


def import_(
    file: Annotated[Path, typer.Argument(help="A file that `export` wrote.", exists=True)],
    project: ProjectOption = Path("."),
) -> None:
    """Read what `export` wrote into this database; what is there already stays as it is."""
    with opened(project) as memory:
        counts = import_all(memory.store, file)
    console.print(
        ", ".join(f"{table}: {count}" for table, count in counts.items() if count) or "nothing new", highlight=False
    )


def migrate() -> None:
    """Bring the database's schema up to date (opening it does so too), after a backup."""
    with explained():
        settings = load_settings()
        with Store.open(settings.database, backup_dir=settings.backup_dir, synchronous=settings.synchronous) as store:
            console.print(f"{settings.database}: schema {store.stats()['schema_version']}", highlight=False)


def demo(project: ProjectOption = Path(".")) -> None:
    """Show the main job on this project in one go, in a throw-away database, through a real MCP client."""
    from hyperloci.demo import run

    if not run(project.absolute()):
        errors.print("the demo failed; the lines above say where", style="red")
        raise typer.Exit(1)
