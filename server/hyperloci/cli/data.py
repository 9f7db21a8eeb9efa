"""Data commands: backup, restore-backup, purge, export, import, set-aside, migrate, demo."""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import (
    Exit,
    JsonOption,
    ProjectOption,
    ask_to_go_on,
    console,
    errors,
    load_settings,
    open_memory,
    print_json,
)
from hyperloci.cli.layout import count_things, to_one_line
from hyperloci.cli.projects import describe_unplaced, link_command
from hyperloci.cli.transcripts import (
    TRANSCRIPT_FOLDERS,
    TranscriptChoice,
    find_transcript_folder,
    import_transcripts,
)
from hyperloci.clock import format_minute
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.facts.importers.importer import OWN_FORMAT
from hyperloci.facts.importers.piped_export import keep_piped
from hyperloci.model.answers import ImportReport, PurgeReport
from hyperloci.model.record import CLAUDE_CODE
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.store.export import check_is_export, write_private_file
from hyperloci.store.ids import shorten_id
from hyperloci.store.integrity import count_unreadable_turns
from hyperloci.store.projects.places import KnownProject
from hyperloci.store.restore import check_backup, restore_backup


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
    file: Annotated[
        Path, typer.Argument(help="Where to write the copy; an older one there is replaced, and that is said.")
    ],
    project: ProjectOption = Path("."),
) -> None:
    """Copy the whole database to a file, even while it is in use; `hyperloci restore-backup` puts it back.

    The archive of old conversations is a folder beside the database and not in the copy; an export has all in one file.

    Example: hyperloci backup ~/memory-backup.db
    """
    if str(file) == "-":
        raise typer.BadParameter("a database can't go to standard output; give a FILE, or use `hyperloci export -`.")
    _require_place(file)
    _require_memory(project)
    with open_memory(project) as memory:
        written_at = file.stat().st_mtime if file.is_file() else None
        memory.store.back_up(file.absolute())
        archive = Archive.for_database(memory.store.path)
    console.print(f"wrote {file}" + describe_replaced(written_at))
    if (usage := archive.measure_usage()).days:
        errors.print(
            f"not in it: {usage.bytes / 1e6:.1f} MB of texts of old conversations, in {archive.folder}. Here a restored"
            " backup finds them there; to take them elsewhere, copy that folder too, or `hyperloci export FILE`",
            style="yellow",
        )


def describe_replaced(written_at: float | None) -> str:
    """Return in words what a copy replaced, by when that was written, in seconds; '' for nothing."""
    if written_at is None:
        return ""
    with contextlib.suppress(OverflowError, ValueError):  # Any time can stand beside a file.
        return f", in place of a file of {format_minute(int(written_at * 1000))}"
    return ", in place of another file"


def _require_place(file: Path) -> None:
    """Refuse a folder, and a file in one that is not there: it may be misspelt, or not mounted."""
    if file.is_dir():
        raise BadRequestError(f"{file} is a folder: give a file.")
    folder = file.absolute().parent
    if not folder.is_dir():
        raise BadRequestError(f"{file} cannot be written: there is no folder {folder}; make it first.")


def _require_memory(project: Path) -> None:
    """Refuse to copy a memory that is not there: one begun for it is empty, and may take the place of a good copy."""
    database = load_settings(project).database
    if not os.path.exists(database):
        raise NotFoundError(
            f"There is no memory at {database}: nothing was written. The first session or `hyperloci remember` begins"
            " one; if there should be one, see that its folder is mounted and RLM_MEMORY_DB is right."
        )


def restore(
    file: Annotated[Path, typer.Argument(help="A backup.", exists=True)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
) -> None:
    """Replace the database by a backup; the current database is kept beside it.

    Examples:
      hyperloci restore-backup ~/hyperloci.db
    """
    settings = load_settings()
    if not yes:
        check_backup(file, settings.database)
        errors.print(f"This puts {file} in the place of {settings.database}.")
        errors.print("Open sessions go on with it; what is there now is kept beside it.")
        ask_to_go_on("Go on?")
    kept = restore_backup(file, settings.database)
    console.print(f"restored {settings.database}")
    if kept:
        console.print(f"the previous one is {kept}")
    with Store.open(settings.database, backup_dir=settings.backup_dir) as store:
        lost = count_unreadable_turns(store)
        archive = Archive.for_database(store.path).folder
    if lost:
        errors.print(
            f"of {count_things(lost, 'turn')} of old conversations only the beginning is in it: their texts are in the"
            f" archive that lay beside the database when the backup was made, and not in {archive}",
            style="yellow",
        )


def purge(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of memories.")],
    project: ProjectOption = Path("."),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    json: JsonOption = False,
) -> None:
    """Delete memories permanently: from the database, its log, waiting records and the backups made by Hyperloci.

    This can't be undone (`forget` can). Close other sessions first. Copies that you made yourself are not touched.

    Examples:
      hyperloci purge 0c6b
      hyperloci purge 0c6b 9f31 --yes
    """
    with open_memory(project) as memory:
        if not yes:
            for hit in memory.get_many(ids):
                errors.print(to_one_line(hit.content, f"{shorten_id(hit.id)} {hit.subtype or hit.type}: "))
            ask_to_go_on("Delete permanently?")
        purged = memory.purge(ids)
    if json:
        print_json(purged)
    else:
        _print_purged(purged)
    if purged.backups_unreadable:
        raise typer.Exit(Exit.DEGRADED)


def _print_purged(purged: PurgeReport) -> None:
    console.print(f"{len(purged.ids)} purged: {', '.join(map(shorten_id, purged.ids))}")
    facts = (
        ("deleted too, as nothing else mentions it", purged.entities),
        ("removed from the backup", purged.backups_rewritten),
        ("deleted the backup, as its schema is too old to be changed", purged.backups_deleted),
    )
    warnings = (
        ("this backup may still hold the text and can't be changed; delete it yourself", purged.backups_unreadable),
        ("this memory holds the same text or was made from it; purge it too if needed", purged.alike),
        ("the text was indexed from this file; remove it there, or it returns when the file changes", purged.sources),
    )
    for what, items in facts:
        for item in items:
            console.print(f"{what}: {item}")
    for what, items in warnings:
        for item in items:
            errors.print(f"{what}: {item}", style="yellow")


def export(
    file: Annotated[
        Path, typer.Argument(help="Where to write; an older export there is replaced. - is standard output.")
    ],
    project: Annotated[
        Path | None,
        typer.Option("--project", "-p", help="Only the memories of the project of this folder.", exists=True),
    ] = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this kind, such as decision; repeatable."),
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only since this time: last_week, '3 days ago', 2026-01-31.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Write Markdown to read; so do files in .md.")] = False,
) -> None:
    """Write the memory, or a part of it, as JSON lines for `hyperloci import`, or as Markdown.

    Left out is only what can be derived: vectors, indexes. Markdown has what is stated and holds.

    Examples:
      hyperloci export memory.jsonl
      hyperloci export --project . --type decision --since last_month decisions.md
      hyperloci export - | gzip > memory.jsonl.gz
    """
    if str(file) != "-":
        _require_place(file)
        check_is_export(file)
    elif sys.stdout is None:
        raise BadRequestError("standard output is closed: give a FILE.")
    _require_memory(project or Path("."))
    with open_memory(project or Path(".")) as memory:
        choice = memory.choose_export(this_project=project is not None, kinds=kinds or (), since=since)
        as_text = markdown or file.suffix == ".md"
        if str(file) == "-":
            memory.write_export(sys.stdout, choice, markdown=as_text)
            return
        written = write_private_file(file, lambda out: memory.write_export(out, choice, markdown=as_text))
    # What is no regular file may be standard output: it gets the lines and nothing else.
    (console if file.is_file() else errors).print(f"wrote {_describe_kinds(written)} to {file}")


def _describe_kinds(kinds: Counter[str]) -> str:
    """Return in words how many memories there are of each kind, the commonest first."""
    told = ", ".join(f"{kind}: {count:,}" for kind, count in kinds.most_common())
    return count_things(kinds.total(), "memory") + (f" ({told})" if told else "")


def import_(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="An export (- is standard input), a server-memory file, or notes (.md); or a folder of sessions.",
        ),
    ] = None,
    project: ProjectOption = Path("."),
    claude_code: Annotated[
        bool, typer.Option("--claude-code", help="Read the sessions that Claude Code has kept of this project.")
    ] = False,
    client: Annotated[
        str | None,
        typer.Option("--client", metavar="|".join(TRANSCRIPT_FOLDERS), help="Read the sessions that it has kept."),
    ] = None,
    every_project: Annotated[bool, typer.Option("--all", help="With past sessions: of every project.")] = False,
    begun_in: Annotated[
        Path | None,
        typer.Option("--from", metavar="FOLDER", help="With past sessions: of the project that lay in FOLDER before."),
    ] = None,
    scope: Annotated[
        str | None, typer.Option(help="project (default) or global: where another program's facts belong.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be added; add nothing.")] = False,
    json: JsonOption = False,
) -> None:
    """Read the memory of another program, past sessions of an assistant, or an export; nothing stored is changed.

    Reads files written by `hyperloci export`, the JSON lines of MCP's reference memory server, and Markdown notes:
    MEMORY.md with the notes that it lists, CLAUDE.md. Imported memories are trusted less than those of a session.

    With --claude-code, or --client codex or gemini, reads its transcripts, each turn at its own time, and makes facts
    of each session. Stop it with Ctrl-C and run it again: it goes on, and what was read is not read twice.

    Examples:
      hyperloci import --claude-code
      hyperloci import --client codex --all
      hyperloci import memory.jsonl --dry-run
      gunzip -c memory.jsonl.gz | hyperloci import -
      hyperloci import ~/.claude/projects/-home-me-shop/memory/MEMORY.md
    """
    past_sessions = claude_code or client is not None
    if file is not None and (past_sessions or str(file) != "-") and not os.path.exists(file):
        raise typer.BadParameter(f"path '{file}' does not exist.", param_hint="'file'")
    if past_sessions:
        folder = file or find_transcript_folder(client or CLAUDE_CODE)
        choice = TranscriptChoice(folder=folder, begun_in=begun_in, every_project=every_project)
        import_transcripts(project, choice, dry_run=dry_run, json=json)
        return
    if file is None or every_project or begun_in is not None:
        raise typer.BadParameter("give a FILE, or --claude-code; --all and --from belong to past sessions.")
    with keep_piped(file) as source, open_memory(project) as memory:
        report = memory.import_file(source, scope=scope, dry_run=dry_run)
        if source != file:
            report = replace(report, files=(str(file),))
        unplaced = memory.list_unplaced_projects() if report.format == OWN_FORMAT else ()
        alike = {one.project.scope: one.because for one in memory.describe_place().alike} if unplaced else {}
    if json:
        without_folder = [{**asdict(one), "alike": alike.get(one.scope), "mend": link_command(one)} for one in unplaced]
        print_json({**asdict(report), "without_folder": without_folder})
        return
    _print_import(report)
    for one in unplaced:
        errors.print(_tell_unplaced(one, alike.get(one.scope)), style="yellow")


_THINGS: Final = {"nodes": "memories", "hyperedges": "relations"}
"""What people call the rows of an export."""

_DETAILS: Final = frozenset(
    (
        *("scopes", "links", "facets", "domain_tags", "aliases", "mentions", "keywords", "membership", "positions"),
        *("evolution_log", "evolution_nodes", "chunk_turns", "spoken_times", "anchors", "withheld", "code_facts"),
        *("statement_reviews", "passing_statements", "shared_comparisons", "consolidations", "transcripts"),
    )
)
"""Rows of an export that belong to others; `--json` counts them too."""


def _tell_unplaced(project: KnownProject, because: str | None) -> Text:
    """Return how to give a folder the memories of a project that came with an export."""
    where = "In the one that should" if because is None else f"This one looks like it ({because})"
    return Text(f"{describe_unplaced(project)}. {where}: {link_command(project)}")


def _print_import(report: ImportReport) -> None:
    # Each entity of an export is a node too.
    counts = dict(report.added)
    if "nodes" in counts:
        counts["nodes"] -= counts.get("entities", 0)
    rows = {_THINGS.get(kind, kind): count for kind, count in counts.items() if count and kind not in _DETAILS}
    added = ", ".join(f"{kind}: {count:,}" for kind, count in rows.items()) or (
        "details of known memories" if report.added else "nothing new"
    )
    known = f"; {report.known} known already" if report.known else ""
    done = "would add " if report.dry_run else "added " if report.added else ""
    console.print(f"{done}{added}{known}")
    if report.redactions:
        errors.print(f"{count_things(report.redactions, 'secret')} redacted before storing.", style="yellow")
    for line in report.skipped:
        errors.print(f"left out {line}", style="yellow")


def set_aside(
    project: ProjectOption = Path("."),
    again: Annotated[bool, typer.Option("--again", help="Have all of it tried again.")] = False,
    json: JsonOption = False,
) -> None:
    """List files, commits and records that failed and were set aside; everything else is stored.

    Each is tried again when it or the program changes.

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
        console.print("everything will be tried again; run hyperloci index", style="yellow")


def migrate() -> None:
    """Bring the database's schema up to date, after a backup (opening the database does this too).

    Examples:
      hyperloci migrate
    """
    settings = load_settings()
    with Store.open(settings.database, backup_dir=settings.backup_dir, synchronous=settings.synchronous) as store:
        console.print(f"{settings.database}: schema {store.count_everything()['schema_version']}")


def demo(project: ProjectOption = Path(".")) -> None:
    """Show three days of sessions on this project, in a temporary database, with real hooks and a real MCP client.

    Examples:
      hyperloci demo
    """
    from hyperloci.cli.diagnostics.demo import run_demo

    if not run_demo(project.absolute()):
        errors.print("the demo failed; see the lines above", style="red")
        raise typer.Exit(1)
