"""Import of transcripts on the command line (`hyperloci import --claude-code`, `--client codex`)."""

from __future__ import annotations

import os
import shlex
import stat
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from hyperloci.cli.common import Exit, console, errors, find_claude_folder, open_memory, print_json
from hyperloci.cli.layout import count_things
from hyperloci.cli.progress import StepDisplay
from hyperloci.clock import format_day
from hyperloci.errors import BadRequestError
from hyperloci.model.answers import TranscriptReport
from hyperloci.model.record import CLAUDE_CODE
from hyperloci.project.identity import find_place_folder
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.conversations.transcript_import import TranscriptFile


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptChoice:
    """Which transcripts to import.

    Attributes:
        folder: where they lie; None for Claude Code's own folder.
        begun_in: only sessions of the project that lay there.
        every_project: sessions of every project.
    """

    folder: Path | None
    begun_in: Path | None
    every_project: bool


TRANSCRIPT_FOLDERS: Final = (CLAUDE_CODE, "codex", "gemini")
"""Clients whose transcripts can be read."""

GONE_SHOWN: Final = 3
"""Folders that are gone are named, at most."""


def find_transcript_folder(client: str) -> Path:
    """Return the folder in which a client keeps its transcripts.

    Raises:
        BadRequestError: it is not known where.
    """
    environ = os.environ  # noqa: TID251 - a process's entry point
    if client == CLAUDE_CODE:
        return transcript_folder()
    if client == "codex":
        return Path(environ.get("CODEX_HOME") or Path.home() / ".codex") / "sessions"
    if client == "gemini":
        return Path.home() / ".gemini" / "tmp"
    raise BadRequestError(f"--client {client}: its sessions can't be read; use one of {', '.join(TRANSCRIPT_FOLDERS)}.")


def transcript_folder() -> Path:
    """Return the folder in which Claude Code keeps the transcripts of all projects."""
    return find_claude_folder() / "projects"


def count_transcripts(project: Path) -> tuple[int, int]:
    """Return how many sessions Claude Code has kept of a project, and how many in all."""
    # Loads all that makes facts of sessions, which no other command needs.
    from hyperloci.conversations.transcript_import import find_transcripts, select_of_places

    found = find_transcripts(transcript_folder())
    return len(select_of_places(found, {find_place_folder(project)})), len(found)


def import_transcripts(project: Path, choice: TranscriptChoice, *, dry_run: bool, json: bool) -> None:
    """Import the transcripts that were chosen, and print what came of it."""
    with open_memory(project) as memory, StepDisplay(quiet=json) as steps:
        folder = choice.folder or transcript_folder()
        found = memory.find_transcripts(folder, begun_in=choice.begun_in, every_project=choice.every_project)
        report = None
        if found and not dry_run:
            try:
                report = memory.import_transcripts(found, every_project=choice.every_project, progress=steps.show_step)
            except KeyboardInterrupt:
                steps.interrupted = True
    if steps.interrupted:
        errors.print("stopped; what was read is kept, and the same command goes on")
        raise typer.Exit(Exit.INTERRUPTED)
    if json:
        print_json({"found": len(found), "dry_run": dry_run, "report": report})
    elif not found:
        more = "" if choice.every_project else " of this project; --all looks for those of every project"
        console.print(f"No session was found in {folder}{more}.")
        if choice.begun_in is None and not choice.every_project:
            _print_gone_folders(folder)
    elif report is None:
        _print_found(found)
    else:
        _print_report(report)
    if report is not None and report.failed:
        raise typer.Exit(Exit.DEGRADED)


def _print_gone_folders(folder: Path) -> None:
    """Name folders of sessions that are gone, the latest used first: the project may have lain there."""
    from hyperloci.conversations.transcript_import import find_transcripts

    clients = {file.folder: file.client for file in reversed(find_transcripts(folder))}
    gone = [(place, client) for place, client in clients.items() if _is_gone(place)]
    if not gone:
        return
    console.print("Some were begun in folders that are gone. If the project lay there:")
    for place, client in gone[:GONE_SHOWN]:
        call = ["hyperloci", "import", *(["--claude-code"] if client == CLAUDE_CODE else ["--client", client])]
        call += [] if folder == find_transcript_folder(client) else [str(folder)]
        # Not folded: whoever copies a command must get it in one piece.
        typer.echo(f"   {shlex.join([*call, '--from', str(place)])}")
    if len(gone) > GONE_SHOWN:
        console.print(f"and {len(gone) - GONE_SHOWN} more; --all names them")


def _is_gone(place: Path) -> bool:
    """Return whether a folder is known to be gone; of one that may not be looked at it isn't."""
    try:
        return not stat.S_ISDIR(place.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def _print_found(found: Sequence[TranscriptFile]) -> None:
    folders = Counter(str(file.folder) for file in found)
    first, last = (format_day(file.started_at) for file in (found[0], found[-1]))
    console.print(f"{count_things(len(found), 'session')}, {first} to {last}")
    for folder, count in folders.most_common():
        console.print(f"{count:>6}  {folder}")


def _print_report(report: TranscriptReport) -> None:
    if report.turns:
        made = ", ".join((count_things(report.turns, "turn"), count_things(report.facts, "fact")))
        console.print(f"{count_things(report.sessions, 'session')} remembered: {made}")
        console.print('Try: hyperloci sessions, hyperloci list, hyperloci query "why did we ..."')
    else:
        console.print("nothing new")
    if report.unchanged:
        console.print(f"{count_things(report.unchanged, 'session')} had nothing new", style="dim")
    for line in report.failed:
        errors.print(f"left out {line}", style="yellow")
