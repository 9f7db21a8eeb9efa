"""Write commands: remember, dead-end, confirm, forget, restore, index."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Annotated, Final

import typer
from rich.table import Table
from rich.text import Text

from hyperloci.cli.common import (
    Exit,
    JsonOption,
    ProjectOption,
    console,
    errors,
    find_in_project,
    open_memory,
    print_json,
    store_waiting_records,
)
from hyperloci.cli.layout import count_things, shorten_ids, to_one_line
from hyperloci.cli.progress import StepDisplay
from hyperloci.clock import format_day, from_iso
from hyperloci.errors import BadRequestError, ConfigurationError, EmbedderError, NotFoundError
from hyperloci.facts.categories import CATEGORIES
from hyperloci.model.answers import CommitCounts, IndexReport, SkippedFile
from hyperloci.model.node import MAX_CONTENT_CHARS
from hyperloci.model.search import VectorCoverage
from hyperloci.model.write_answers import RememberedFact
from hyperloci.store.ids import shorten_id
from hyperloci.system.values import dataclass

SKIPPED_SHOWN: Final = 10
"""Skipped files that are named one by one; of more, the reasons are counted."""

REASONS_SHOWN: Final = 8
"""Reasons that are counted each; sizes and targets of links make many that hold for one file."""

KINDS_NAMED: Final = 3
"""Kinds of file that are named with a reason."""


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(remember)
    app.command("dead-end")(dead_end)
    app.command()(confirm)
    app.command()(forget)
    app.command()(restore)
    app.command()(index)


def remember(
    fact: Annotated[str, typer.Argument(help="What to remember. - is standard input.")],
    project: ProjectOption = Path("."),
    category: Annotated[str, typer.Option("--category", "-c", help=f"{', '.join(CATEGORIES)}.")] = "insight",
    scope: Annotated[str | None, typer.Option(help="project or global; default: by category.")] = None,
    replaces: Annotated[str | None, typer.Option(help="Id of the memory that this one replaces.")] = None,
    entity: Annotated[
        list[str] | None, typer.Option("--entity", "-e", help="What it is about; may be given several times.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Remember a fact.

    Examples:
      hyperloci remember "The CI runs on Python 3.11 only" --category constraint
      hyperloci remember "Restart it after each update" --entity "the main database"
      git log -1 --format=%B | hyperloci remember -
    """
    fact = _read_input() if fact == "-" else fact
    with open_memory(project) as memory:
        store_waiting_records(memory)  # The session that it is remembered in may have ended.
        remembered = memory.remember_fact(
            fact, category=category, scope=scope, replaces=replaces, entities=entity or ()
        )
    _print_remembered(remembered, json)


def _read_input() -> str:
    """Return what standard input holds, without the end of its last line.

    Raises:
        BadRequestError: it is closed.
    """
    if sys.stdin is None:
        raise BadRequestError("standard input is closed: give a FACT.")
    # One character more than is kept: what is too long is refused, and what never ends is not awaited.
    return typer.get_text_stream("stdin", errors="replace").read(MAX_CONTENT_CHARS + 1).rstrip("\r\n")


def dead_end(
    approach: Annotated[str, typer.Argument(help="What was tried.")],
    reason: Annotated[str, typer.Argument(help="Why it failed.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Remember that an approach failed, so that no session tries it again.

    Example: hyperloci dead-end "Caching sessions in Redis" "evictions logged users out"
    """
    with open_memory(project) as memory:
        store_waiting_records(memory)
        remembered = memory.mark_dead_end(approach, reason)
    _print_remembered(remembered, json)


def _print_remembered(remembered: RememberedFact, json: bool) -> None:
    if json:
        print_json(remembered)
        return
    id = shorten_id(remembered.id)
    replaced = f", in place of {shorten_id(remembered.supersedes)}" if remembered.supersedes else ""
    reach = ", for all projects" if remembered.holds_everywhere else ""
    ends = f"; its last day is {remembered.until}" if remembered.until else ""
    known = f"already known as {id}{reach}{ends}"
    console.print(known if remembered.duplicate_of else f"remembered as {id}{reach}{replaced}{ends}")
    if remembered.withheld:
        errors.print(
            "it is withheld: no search finds it and no session is shown it until `Recall again` in `hyperloci view`",
            style="yellow",
        )
    if reach and not remembered.duplicate_of:
        errors.print("for this project alone: forget it, and remember it with --scope project", style="dim")
    against = {item.id for item in remembered.contradictions}
    told: set[str] = set()
    for item in remembered.contradictions:
        if item.content in told:
            continue  # What was said, and the memory that was made of it.
        told.add(item.content)
        _print_conflict(to_one_line(item.content, f"! contradicts {shorten_id(item.id)}: "), item.reason)
    for memory in remembered.affected:
        if memory.id not in against:
            said = to_one_line(memory.content, f"! on the same subject, {shorten_id(memory.id)}: ")
            _print_conflict(said, f"stored {memory.date}")
    others = [*(item.id for item in remembered.contradictions), *(memory.id for memory in remembered.affected)]
    if others:
        errors.print(f"   if the older no longer holds: hyperloci forget {shorten_id(others[0])}")
        errors.print(f"   if the new one is wrong:      hyperloci forget {id}")
    if remembered.sharing:
        errors.print(Text(remembered.sharing, style="yellow"))
    if remembered.redactions:
        errors.print(f"{count_things(remembered.redactions, 'secret')} redacted before storing.", style="yellow")
    if remembered.flags and not remembered.duplicate_of:
        errors.print(f"! suspicious: {', '.join(remembered.flags)}", style="yellow")
        errors.print("   a search finds it, no assistant is shown it unasked; `hyperloci view` can find it harmless")


def _print_conflict(said: str, why: str) -> None:
    errors.print(Text(said, style="yellow"))
    errors.print(Text(f"   ({shorten_ids(why)})", style="dim"))


def confirm(
    id: Annotated[str, typer.Argument(help="A memory's id, or a relation's as `hyperloci graph` shows it.")],
    project: ProjectOption = Path("."),
) -> None:
    """Confirm that a memory or a relation is right; it then never fades.

    Examples:
      hyperloci confirm 0c6b
      hyperloci confirm 976bdca7
    """
    with open_memory(project) as memory:
        try:
            edge = memory.confirm_link(id)
            confirmed = f"{shorten_id(edge.id)} ({edge.label})"
        except NotFoundError:
            confirmed = shorten_id(memory.confirm_fact(id).id)
    console.print(f"{confirmed} confirmed")


def forget(
    id: Annotated[str, typer.Argument(help="A memory's id.")],
    project: ProjectOption = Path("."),
    reason: Annotated[str | None, typer.Option(help="Why; kept in the log.")] = None,
) -> None:
    """Forget a memory; it can be restored for 30 days.

    Examples:
      hyperloci forget 0c6b
      hyperloci forget 0c6b --reason "we moved to PostgreSQL"
    """
    with open_memory(project) as memory:
        forgotten = memory.forget(id, reason=reason)
        node = memory.store.nodes.get_node(forgotten.id)
    short = shorten_id(forgotten.id)
    until = format_day(from_iso(forgotten.restorable_until))
    console.print(f"{short} forgotten; until {until}: hyperloci restore {short}")
    if node is not None:
        # The beginning of an id may be another memory's.
        console.print(Text(to_one_line(node.content, f"   [{node.subtype or node.type}] "), style="dim"))
    if forgotten.sharing is not None:
        console.print(forgotten.sharing)


def restore(
    id: Annotated[str, typer.Argument(help="A forgotten memory's id.")], project: ProjectOption = Path(".")
) -> None:
    """Bring a forgotten memory back.

    Examples:
      hyperloci restore 0c6b
    """
    with open_memory(project) as memory:
        restored = memory.restore(id)
    console.print(to_one_line(restored.memory.content, f"{shorten_id(restored.memory.id)} restored: "))
    for note in restored.memory.notes if restored.ended is None else (restored.ended,):
        errors.print(Text(f"! {shorten_ids(note)}", style="yellow"))
    if (newer := restored.replaced_by) is not None:
        errors.print(Text(to_one_line(newer.content, f"   {shorten_id(newer.id)}: "), style="dim"))
    if restored.sharing is not None:
        errors.print(Text(restored.sharing, style="yellow"))


def index(
    path: Annotated[
        Path | None, typer.Argument(help="A file or folder, from here or from the project's root; all by default.")
    ] = None,
    project: ProjectOption = Path("."),
    embed: Annotated[
        bool,
        typer.Option("--embed/--no-embed", " /--no-wait", help="Wait until everything can be searched by meaning."),
    ] = True,
    json: JsonOption = False,
) -> None:
    """Index code, documents and git history; only changes are processed.

    Files and the latest commits come first and can be searched by words at once; then come older commits, then the
    vectors for search by meaning. You can stop it with Ctrl-C: finished work is kept, and the next session or the next
    run of this command does the rest.

    Examples:
      hyperloci index
      hyperloci index docs --no-wait
    """
    with open_memory(project) as memory:
        target = None if path is None else find_in_project(path, memory.project.root)
        report, fault = None, None
        with StepDisplay(quiet=json) as steps:
            try:
                report = memory.index_path(target, progress=steps.show_step)
                if target is None or memory.project.means_root(target):
                    memory.index_history(steps.show_step)
                if embed:
                    memory.embed_pending(steps.show_step)
            except (EmbedderError, ConfigurationError) as error:
                fault = str(error)
            except KeyboardInterrupt:
                steps.interrupted = True
        told = _IndexState(
            history=memory.get_history_progress(),
            reach=memory.get_embedding_coverage(),
            embedder=memory.settings.embedder,
        )
        pending = memory.store.count_everything()["fingerprints_pending"]
    if json:
        print_json(
            {"report": report, "pending": pending, "history": told.history, "by_meaning": told.reach, "fault": fault}
        )
    else:
        _print_report(report, told)
        for line in _describe_remaining(report, told):
            console.print(line)
        if fault is not None:
            errors.print(f"no vectors were created: {fault}", style="yellow")
    if steps.interrupted:
        raise typer.Exit(Exit.INTERRUPTED)


@dataclass(frozen=True, slots=True, kw_only=True)
class _IndexState:
    """What is indexed now, and whether there may be an embedder."""

    history: CommitCounts
    reach: VectorCoverage
    embedder: bool


def _print_report(report: IndexReport | None, state: _IndexState) -> None:
    table = Table(box=None, show_header=False, padding=(0, 2))
    if report is not None:
        for name in ("files", "unchanged_files", "chunks", "added", "changed", "moved", "removed"):
            table.add_row(name.replace("_", " "), str(getattr(report, name)))
        table.add_row("seconds", f"{report.seconds:.1f}")
    table.add_row("history", state.history.describe_progress())
    table.add_row("by meaning", f"{state.reach.embedded:,} of {state.reach.total:,} memories ({state.reach.percent}%)")
    console.print(table)
    if report is not None and report.set_aside:
        console.print(f"{report.set_aside} set aside; hyperloci set-aside lists each with its reason", style="yellow")
    skipped = () if report is None else report.skipped
    for line in describe_skipped(skipped):
        console.print(line, style="dim")


def describe_skipped(skipped: Sequence[SkippedFile]) -> Iterator[str]:
    """Describe what was not indexed: few by their paths, many by the reasons, with the commonest kinds of file."""
    if len(skipped) <= SKIPPED_SHOWN:
        yield from (f"skipped {item.path}: {item.reason}" for item in skipped)
        return
    yield f"{len(skipped):,} files and folders skipped (--json lists them):"
    reasons = Counter(item.reason for item in skipped).most_common()
    for reason, count in reasons[:REASONS_SHOWN]:
        kinds = Counter(_name_kind(item.path) for item in skipped if item.reason == reason).most_common()
        named = ", ".join(f"{kind} {of_kind:,}" for kind, of_kind in kinds[:KINDS_NAMED])
        yield f"  {count:>6,}  {reason}: {named}{', ...' if len(kinds) > KINDS_NAMED else ''}"
    if rest := sum(count for _, count in reasons[REASONS_SHOWN:]):
        yield f"  {rest:>6,}  for other reasons"


def _name_kind(path: str) -> str:
    """Return the ending of a skipped file, the whole name where there is none, or that it is a folder."""
    return "folders" if path.endswith("/") else PurePosixPath(path).suffix or PurePosixPath(path).name


def _describe_remaining(report: IndexReport | None, state: _IndexState) -> Iterator[str]:
    """Describe what is left to do, and who will do it."""
    if report is None:
        yield "Not all files are indexed: the next session indexes the rest in the background; or run this again."
    if state.history.waiting:
        yield (
            f"{state.history.waiting:,} older commits are not stored yet: an open session, or the next one, stores them"
            " in the background; or run hyperloci index again."
        )
    if not state.reach.waiting:
        return
    if state.embedder:
        yield (
            f"{state.reach.waiting:,} memories have no vectors yet and are found by words only: an open session, or the"
            " next one, creates them in the background; or run hyperloci index again."
        )
    else:
        yield "Memories are found by words only: embeddings are switched off (HYPERLOCI_EMBEDDER)."
