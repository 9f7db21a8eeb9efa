"""Memory commands: show, list, history, facets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.table import Table
from rich.text import Text

from hyperloci.cli.common import (
    MAX_LISTED,
    Exit,
    JsonOption,
    ProjectOption,
    console,
    open_memory,
    print_error,
    print_json,
)
from hyperloci.cli.layout import NO_FACTS, NOTHING_YET, describe_age, print_memory, shorten_ids, to_one_line
from hyperloci.clock import format_day, format_minute, from_iso
from hyperloci.model.answers import Explanation
from hyperloci.model.kinds import Origin
from hyperloci.model.search import Hit
from hyperloci.store.ids import shorten_id

if TYPE_CHECKING:
    from hyperloci.queries.review import Dispute


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(show)
    app.command("list")(list_memories)
    app.command()(history)
    app.command()(facets)


def show(
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of memories, or their first characters.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Show memories whole: text, source, state, and what was noted about them. Forgotten ones too.

    Examples:
      hyperloci show 3f2a
      hyperloci show 3f2a 9c1e0b7d --json
    """
    with open_memory(project) as memory:
        found = memory.get_many(ids)
        disputes = {hit.id: () if json else memory.list_disputes_of(hit.id) for hit in found}
    if json:
        print_json(found)
    else:
        for hit in found:
            print_memory(hit, full=True)
            for dispute in disputes[hit.id]:
                _print_dispute(hit, dispute)
            console.print(Text(f"   {_describe_state(hit)}", style="dim"))
    if len(found) < len(ids):
        print_error("nothing is left of what was purged.")
        raise typer.Exit(Exit.FAILED)


def _print_dispute(hit: Hit, dispute: Dispute) -> None:
    """Print what stands against a memory, and how to settle it: of a possible replacement the older one goes."""
    is_replaced = dispute.label == "updates" and dispute.memories[0].id != hit.id
    if dispute.label == "updates" and not is_replaced:
        console.print(Text("   ! this may have replaced:", style="yellow"))
    for other in dispute.memories:
        if other.id != hit.id:
            console.print(Text(to_one_line(other.content, f"     {shorten_id(other.id)}: "), style="yellow"))
            past, which = (hit, "this") if is_replaced else (other, "that")
            console.print(Text(f"     if {which} no longer holds: hyperloci forget {shorten_id(past.id)}", style="dim"))


def _describe_state(hit: Hit) -> str:
    until = "" if hit.valid_until is None else f", valid until {format_day(from_iso(hit.valid_until))}"
    where = "every project" if hit.scope == "global" else "this project"
    through = f", through {hit.source.agent}" if hit.source.agent else ""
    shared = ", shared" if hit.source.shared else ""
    said = f", by {hit.source.author} as claimed" if hit.source.author else ""
    told_at = format_minute(from_iso(hit.created_at))
    stored = f"stored {told_at}{said}{through}{until}"
    return f"{stored}, confidence {hit.confidence:.2f}, of {where}{shared}\n   {hit.id}"


SHOWN: Final = 20
"""Memories that are listed for people: a screen."""


def list_memories(
    project: ProjectOption = Path("."),
    kinds: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this kind, such as decision, dead_end, preference; repeatable."),
    ] = None,
    origin: Annotated[
        list[Origin] | None, typer.Option("--origin", "-o", help="Only from this source; repeatable.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", help="Only since this time: last_week, '3 days ago', 2026-01-31.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", "-a", help="Also what was replaced or forgotten.")] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=1, max=MAX_LISTED, help="How many; 20 unless --json lists all.")
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Show whole memories.")] = False,
    json: JsonOption = False,
) -> None:
    """List what is remembered, the latest first: facts, decisions, dead ends.

    With --type also turns (episode), code and commits (commit).

    Examples:
      hyperloci list
      hyperloci list --type decision --since last_week
      hyperloci list --all --json | jq '.[] | select(.current | not)'
    """
    # A program that asks for JSON is not left in the dark about the rest.
    most = limit or (MAX_LISTED if json else SHOWN)
    with open_memory(project) as memory:
        found = memory.list_memories(
            kinds=kinds or (), origins=origin or (), since=since, include_ended=every, limit=most
        )
        has_others = not found and memory.get_embedding_coverage().total > 0
    if json:
        print_json([_as_row(hit) for hit in found])
        return
    for hit in found:
        print_memory(hit, full=full)
    if limit is None and len(found) == SHOWN:
        console.print(f"The latest {SHOWN}; -n shows more, --json all.", style="dim")
    if not found:
        is_narrowed = kinds or origin or since
        nothing = NO_FACTS if has_others else NOTHING_YET
        console.print("Nothing of this kind is remembered." if is_narrowed else nothing, style="dim")
        if origin and not kinds:
            console.print("Only what is stated was looked at; --type lists turns, code and commits.", style="dim")


def _as_row(hit: Hit) -> dict[str, Any]:
    return {
        "id": hit.id,
        "kind": hit.subtype or hit.type,
        "text": hit.content,
        "current": hit.valid_until is None and "forgotten" not in hit.notes,
        "valid_until": hit.valid_until,
        "source": hit.source,
        "created": hit.created_at,
    }


def history(
    id: Annotated[str, typer.Argument(help="A memory's id, or its first characters.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Tell where a memory came from, what it replaced, what replaced it and what happened to it.

    Example: hyperloci history 3f2a
    """
    with open_memory(project) as memory:
        found = memory.explain_fact(id)
    if json:
        print_json(found)
    else:
        _print_history(found)


def _print_history(found: Explanation) -> None:
    print_memory(found.node, full=True)
    for sentence in found.account:
        console.print(Text(f"   {shorten_ids(sentence)}"))
    replaced = [("replaced", hit) for hit in found.supersedes]
    successor = [("replaced by", found.superseded_by)] if found.superseded_by else []
    for relation, hit in (*successor, *replaced, *(("made of", hit) for hit in found.sources)):
        before = f"   {relation} {shorten_id(hit.id)} ({describe_age(hit.valid_from)}): "
        console.print(Text(to_one_line(hit.content, before), style="dim"))


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
