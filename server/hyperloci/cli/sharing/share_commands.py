"""Sharing commands: share, unshare."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, console, errors, open_memory, print_json
from hyperloci.cli.layout import count_things, to_one_line
from hyperloci.config import Settings
from hyperloci.errors import BadRequestError
from hyperloci.facts.sharing.intake_report import IntakeReport
from hyperloci.facts.sharing.promotion import ShareReport, check_folder
from hyperloci.facts.sharing.shared_folder import FOLDER
from hyperloci.memory import Memory
from hyperloci.project.git import GitError, GitRepository
from hyperloci.project.git_folder import BrokenRepositoryError, open_repository
from hyperloci.store.ids import shorten_id

if TYPE_CHECKING:
    from hyperloci.queries.review import Dispute

SHOWN_DISPUTES: Final = 20
"""Contradictions looked at, the latest: more are a matter for the viewer's review."""


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(share)
    app.command()(unshare)


def share(
    ids: Annotated[
        list[str] | None, typer.Argument(help="Ids of the memories; or choose by --type and --since.")
    ] = None,
    project: ProjectOption = Path("."),
    type: Annotated[list[str] | None, typer.Option("--type", "-t", help="decision, constraint, dead_end...")] = None,
    since: Annotated[str | None, typer.Option(help="Only of this time or later.")] = None,
    team: Annotated[bool, typer.Option("--team", help="Through the team's database instead of Git.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what others would get.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Check the folder, for CI; needs no database.")] = False,
    read: Annotated[bool, typer.Option("--read", help="Take in what others share, now and all of it.")] = False,
    json: JsonOption = False,
) -> None:
    """Share memories with everybody who works on the project, through files that Git carries, or with your team.

    Nothing is shared by itself. What is shared is redacted again; what looks like an instruction or is withheld stays.

    Examples:
      hyperloci share 0c6b
      hyperloci share --type decision --since "last week"
      hyperloci share 0c6b --team
      hyperloci share --check
    """
    if check:
        _check(project, json)
        return
    if read:
        with open_memory(project) as memory:
            taken = memory.read_shared(thorough=True)
            disputes = _list_disputes(memory)
        if json:
            print_json(_with_disputes(taken, disputes))
            return
        console.print(describe_reading(taken))
        if taken.uncompared:
            console.print(f"{taken.uncompared} of them are compared with the rest in the background.")
        _print_disputes(disputes)
        return
    with open_memory(project) as memory:
        report = memory.share(ids or (), kinds=type or (), since=since, dry_run=dry_run, through_team=team)
        disputes = _list_disputes(memory, {item.id for item in report.shared})
    _print_report(report, json, "would be shared" if dry_run else "shared", disputes)
    if report.shared and not (json or dry_run):
        path = report.shared[-1].path
        if path is None:
            console.print("Others get it with the next exchange (`hyperloci team sync`).")
        else:
            _tell_carrier(Path(path))


def _tell_carrier(file: Path) -> None:
    """Say what takes a file to others, and what is in the way."""
    root = file.parents[len(FOLDER.parts)]
    try:
        is_git, is_ignored = open_repository(root) is not None, GitRepository(root).ignores(str(file))
    except (BrokenRepositoryError, GitError):
        is_git, is_ignored = True, False  # Whoever commits is told by Git.
    if not is_git:
        told = f"Nothing carries it to others yet: {root} is no Git repository. They get it with the files in {FOLDER}."
        errors.print(told, style="yellow", soft_wrap=True)
    elif is_ignored:
        mend = f"`git check-ignore -v {FOLDER}/*` names the rule, `git add -f {FOLDER}` adds it all the same"
        errors.print(f"Git ignores it, so no commit takes it to others: {mend}.", style="yellow", soft_wrap=True)
    else:
        console.print(f"Others get it with your next commit of {FOLDER}.")


def describe_reading(read: IntakeReport) -> str:
    """Return in a line what became of what others share; what there was none of is not named."""
    said = [
        f"{count_things(read.taken, 'memory')} taken in" if read.taken else "",
        f"{count_things(read.ended, 'memory')} no longer valid" if read.ended else "",
        f"{count_things(read.withdrawn, 'memory')} forgotten as withdrawn" if read.withdrawn else "",
        f"{count_things(read.disputes, 'contradiction')} found" if read.disputes else "",
        f"{count_things(len(read.refused), 'line')} left out" if read.refused else "",
    ]
    return ", ".join(filter(None, said)) or "nothing new"


def unshare(
    ids: Annotated[list[str], typer.Argument(help="Ids of the memories.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Take shared memories back: others forget them, you keep them. Git's history keeps what was committed.

    Examples:
      hyperloci unshare 0c6b
    """
    with open_memory(project) as memory:
        report = memory.unshare(ids)
    _print_report(report, json, "no longer shared")


def _list_disputes(memory: Memory, chosen: Collection[str] = ()) -> tuple[Dispute, ...]:
    """Return what contradicts, as it is known, and all holds: shared memories, or those chosen, and whatever others."""
    known = memory.list_disputes("contradicts", limit=SHOWN_DISPUTES).disputes
    return tuple(one for one in known if any(hit.source.shared or hit.id in chosen for hit in one.memories))


def _with_disputes(report: ShareReport | IntakeReport, disputes: Sequence[Dispute]) -> dict[str, object]:
    told = [[{"id": hit.id, "text": hit.content} for hit in one.memories] for one in disputes]
    return {**asdict(report), "contradictions": told}


def _print_disputes(disputes: Sequence[Dispute]) -> None:
    for one in disputes:
        errors.print(Text("These contradict each other, and both hold; forget or correct one:", style="yellow"))
        for hit in one.memories:
            errors.print(Text(to_one_line(hit.content, f"   {shorten_id(hit.id)}  ")))


def _print_report(report: ShareReport, json: bool, done: str, disputes: Sequence[Dispute] | None = None) -> None:
    if json:
        print_json(report if disputes is None else _with_disputes(report, disputes))
    else:
        for item in report.shared:
            console.print(to_one_line(item.text, f"{shorten_id(item.id)} {done}: "), markup=False)
        if report.redactions:
            errors.print(f"Left out, as secret or private: {count_things(report.redactions, 'part')}.", style="yellow")
        for id, reason in report.refused:
            errors.print(Text(f"{shorten_id(id)} stays private: {reason}", style="yellow"))
        _print_disputes(disputes or ())
        if not (report.shared or report.refused):
            console.print("Nothing of this kind and time is left to share.", style="dim")
    if report.refused and not report.shared:
        raise typer.Exit(Exit.FAILED)


def _check(project: Path, json: bool) -> None:
    root = next(
        (place for place in (project.absolute(), *project.absolute().parents) if (place / FOLDER).is_dir()), None
    )
    if root is None:
        raise BadRequestError(f"there is no {FOLDER} in {project} or above it: nothing is shared here.")
    count, problems = check_folder(root)
    if json:
        print_json({"memories": count, "problems": [asdict(problem) for problem in problems]})
    else:
        for problem in problems:
            errors.print(Text(f"{problem.file}:{problem.line}: {problem.reason}", style="yellow"))
        console.print(f"{count_things(count, 'memory')}, {count_things(len(problems), 'problem')}")
        _warn_of_pending(root)
    if problems:
        raise typer.Exit(Exit.FAILED)


def _warn_of_pending(root: Path) -> None:
    """Name what was corrected here and not shared; where there is no memory, as in CI, nothing was."""
    settings = Settings.from_env(os.environ, root)  # noqa: TID251 - a command's own environment
    if not Path(settings.database).exists():
        return
    from hyperloci.facts.sharing.publication import describe_pending

    with open_memory(root) as memory:
        for pending in memory.list_pending_corrections():
            errors.print(Text(describe_pending(pending), style="yellow"))
