"""Entity commands: the things that memories are about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import JsonOption, ProjectOption, console, open_memory, print_json
from hyperloci.cli.layout import count_things, make_table, to_one_line
from hyperloci.clock import format_day, from_iso
from hyperloci.model.answers import EntityMerge, EntityProfile
from hyperloci.model.kinds import NodeType
from hyperloci.model.search import Hit
from hyperloci.store.ids import shorten_id


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(entities)
    app.command()(entity)
    app.command("merge-entities")(merge_entities)


def entities(
    project: ProjectOption = Path("."),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many.")] = 20,
    merges: Annotated[bool, typer.Option("--merges", help="List what was merged instead.")] = False,
    json: JsonOption = False,
) -> None:
    """List the people, projects, tools, places, files and symbols that memories mention most.

    Examples:
      hyperloci entities -n 50
      hyperloci entities --merges
    """
    with open_memory(project) as memory:
        merged = memory.list_entity_merges(limit) if merges else ()
        known = () if merges else memory.list_entities(limit)
    if json:
        print_json(merged if merges else known)
        return
    if merges:
        for one in merged:
            console.print(Text(_describe_merge(one)))
        if not merged:
            console.print("Nothing was merged yet.", style="dim")
        return
    if not known:
        console.print("No memory names anything yet; `hyperloci index` reads this project.", style="dim")
        return
    table = make_table("name", "type", "memories", "also called", numbers=("memories",))
    for info in known:
        table.add_row(
            Text(info.canonical_name), info.type, str(info.mention_count), Text(", ".join(info.aliases), style="dim")
        )
    console.print(table)


def entity(
    name: Annotated[str, typer.Argument(help="A name or alias, in any case.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Show what is known about one entity: facts or else code and documents, timeline, what is mentioned with it.

    Examples:
      hyperloci entity AuthService
      hyperloci entity "Jane Doe" --json
    """
    with open_memory(project) as memory:
        profile = memory.get_entity_info(name)
    if json:
        print_json(profile)
    else:
        _print_profile(profile)


def merge_entities(
    kept: Annotated[str, typer.Argument(help="The name that stays.")] = "",
    merged: Annotated[str, typer.Argument(help="The name that becomes an alias of it.")] = "",
    project: ProjectOption = Path("."),
    undo: Annotated[int | None, typer.Option("--undo", help="Undo the merge with this number instead.")] = None,
    json: JsonOption = False,
) -> None:
    """Merge two entities that are the same thing, or undo a merge.

    Both must be known: `hyperloci entities` lists what memories mention, and `remember --entity` declares what no rule
    takes for a name.

    Examples:
      hyperloci remember "It is restarted on Sundays" --entity "the main database"
      hyperloci merge-entities PostgreSQL "the main database"
      hyperloci merge-entities --undo 3
    """
    with open_memory(project) as memory:
        done = memory.unmerge_entities(undo) if undo is not None else memory.merge_entities(kept, merged)
    if json:
        print_json(done)
    else:
        console.print(Text(_describe_merge(done)))


def _describe_merge(merge: EntityMerge) -> str:
    undone = f", undone {format_day(from_iso(merge.undone_at))}" if merge.undone_at else ""
    return (
        f"{merge.id}. {merge.merged} is {merge.kept} ({merge.reason}; {format_day(from_iso(merge.merged_at))}{undone})"
    )


_KIND_TITLES: Final = {"fact": "facts", "decision": "decisions", "code": "code", "markdown": "documents"}


def _group_by_kind(hits: Sequence[Hit]) -> dict[str, list[Hit]]:
    """Return memories by the heading that they stand under; the heading of the first comes first."""
    groups: dict[str, list[Hit]] = {}
    for hit in hits:
        kind = (hit.subtype or "") if hit.type == NodeType.SNIPPET else hit.type
        groups.setdefault(_KIND_TITLES.get(kind, "other files"), []).append(hit)
    return groups


def _print_profile(profile: EntityProfile) -> None:
    info = profile.entity
    count = count_things(info.mention_count, "memory")
    console.print(Text(f"{info.canonical_name}  [{info.type}]  {count}", style="bold"))
    if info.aliases:
        console.print(Text(f"also: {', '.join(info.aliases)}", style="dim"))
    if info.summary:
        console.print(Text(info.summary))
    for title, hits in (*_group_by_kind(profile.facts).items(), ("timeline", profile.timeline)):
        if hits:
            console.print(Text(f"\n{title}", style="bold"))
        for hit in hits:
            kind = f"[{hit.subtype or hit.type}]"
            day = format_day(from_iso(hit.valid_from))
            console.print(Text(to_one_line(hit.content, f"  {shorten_id(hit.id)}  {day}  {kind}  ")))
    if profile.related_entities:
        others = ", ".join(f"{other.name} ({other.together})" for other in profile.related_entities)
        console.print(Text(f"\nmentioned with: {others}"))
