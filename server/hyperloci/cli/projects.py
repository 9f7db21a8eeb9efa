"""Project commands: projects, link, unlink."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, console, errors, open_memory, print_error, print_json
from hyperloci.cli.layout import count_things, make_table
from hyperloci.clock import format_age, format_day, system_clock
from hyperloci.memory import Memory
from hyperloci.project.places import account_to_json
from hyperloci.store.projects.places import KnownProject, ScopeLink

YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(projects)
    app.command()(link)
    app.command()(unlink)


def describe_unplaced(project: KnownProject) -> str:
    """Say that no folder has a project's memories, which came with an export: it brings no folders."""
    lay = f", which lay in {project.root}" if project.root else ""
    return f"{count_things(project.memories, 'memory')} of {project.name}{lay}: no folder here has them yet"


def link_command(project: KnownProject) -> str:
    """Return the command that gives the folder it is run in a project's memories."""
    return f"hyperloci link {project.scope}"


def projects(project: ProjectOption = Path("."), json: JsonOption = False) -> None:
    """List the projects that have memories, the last used first; the current one is marked.

    A project is known by its folder: two clones of one repository are two projects until `hyperloci link` joins them.

    Examples:
      hyperloci projects
      hyperloci projects --json
    """
    with open_memory(project) as memory:
        here, found = memory.describe_place(), memory.list_projects()
    if json:
        print_json({"here": account_to_json(here), "projects": found})
        return
    table = make_table("", "project", "folder", "memories", "indexed", "last used", numbers=("memories", "indexed"))
    for one in found:
        mark = "*" if one.scope == here.scope else ""
        table.add_row(
            mark, Text(one.name), Text(one.root or "-"), f"{one.memories:,}", f"{one.indexed:,}", _describe_use(one)
        )
    console.print(table)
    console.print("indexed: pieces of code and documents, and commits", style="dim")
    console.print(f"* this folder, known {here.why}", style="dim")
    for alike in here.alike:
        errors.print(f"it looks like {alike.project.name} ({alike.project.scope}): {alike.because}", style="yellow")


def link(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[PROJECT]", help="Another project's folder, name or id; default: the only similar one."
        ),
    ] = None,
    project: ProjectOption = Path("."),
    list_: Annotated[bool, typer.Option("--list", help="List all links, including undone ones.")] = False,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Join this folder to another project's memory; memories of this folder move along.

    Use it for a second clone of a repository, a copy, or a folder that was moved without its Git folder.
    `hyperloci unlink` undoes it. Running sessions use the link from their next call on.

    Examples:
      hyperloci link
      hyperloci link ~/work/shop
      hyperloci link --list
    """
    with open_memory(project) as memory:
        if list_:
            _print_links(memory.list_links(), json=json)
            return
        wanted = memory.find_link_target(target)
        if not yes:
            _ask_to_link(memory, wanted)
        linked = memory.link_place(wanted)
    if json:
        print_json(linked)
        return
    console.print(f"linked {linked.root} to {_describe_project(linked.project)}; `hyperloci unlink` undoes it")


def unlink(project: ProjectOption = Path("."), json: JsonOption = False) -> None:
    """Give this folder its own memory back, as it was when it was linked.

    Memories stored since then stay with the project that it was linked to.

    Examples:
      hyperloci unlink
    """
    with open_memory(project) as memory:
        undone = memory.unlink_place()
    if json:
        print_json(undone)
        return
    console.print(f"{undone.root} has its own memory again: {_describe_project(undone.project)}")


def _ask_to_link(memory: Memory, wanted: KnownProject) -> None:
    if not _is_interactive():
        print_error("Joining two memories needs a confirmation: run this in a terminal, or add --yes.")
        raise typer.Exit(Exit.USAGE)
    errors.print(f"{memory.project.root} will share the memory of {_describe_project(wanted)}:")
    errors.print("sessions here will read it and add to it. Memories of this folder move along.")
    typer.confirm("Join them?", abort=True, err=True)


def _is_interactive() -> bool:
    return sys.stdin.isatty()


def _print_links(found: tuple[ScopeLink, ...], *, json: bool) -> None:
    if json:
        print_json(found)
        return
    if not found:
        console.print("No folder is joined to another project's memory.", style="dim")
    for one in found:
        undone = "" if one.unlinked_at is None else f", undone {format_day(one.unlinked_at)}"
        console.print(
            Text(f"{one.root} shares the memory of {one.name} ({one.joined}) since {format_day(one.linked_at)}{undone}")
        )


def _describe_project(one: KnownProject) -> str:
    count = f"{one.memories:,} {'memory' if one.memories == 1 else 'memories'}"
    return f"{one.name} ({one.scope}) at {one.root or '-'}: {count}, last used {_describe_use(one)}"


def _describe_use(one: KnownProject) -> str:
    return "-" if one.last_used_at is None else format_age(one.last_used_at, system_clock())
