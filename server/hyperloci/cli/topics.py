"""Commands that show the memory as a whole: topics, timeline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import Exit, JsonOption, ProjectOption, console, errors, open_memory, print_error, print_json
from hyperloci.cli.layout import NO_SESSIONS, describe_age, make_table, print_notes, shorten_ids, to_one_line
from hyperloci.cli.progress import StepDisplay
from hyperloci.clock import format_minute, from_iso
from hyperloci.memory import Memory
from hyperloci.model.topic import TimelineEvent, TopicHit, TopicList
from hyperloci.store.ids import shorten_id


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(topics)
    app.command()(timeline)


def topics(
    project: ProjectOption = Path("."),
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=100, help="How many topics.")] = 20,
    topic: Annotated[str | None, typer.Option("--id", help="Show this topic with its memories.")] = None,
    refresh: Annotated[bool, typer.Option("--refresh", help="Search for topics again first.")] = False,
    json: JsonOption = False,
) -> None:
    """List what the memories are about, largest topic first.

    Examples:
      hyperloci topics
      hyperloci topics --refresh --limit 50
      hyperloci topics --id 0b0e --json
    """
    with open_memory(project) as memory:
        if refresh and not _refresh_topics(memory, quiet=json):
            print_error(_describe_delay(memory))
            raise typer.Exit(Exit.DEGRADED)
        found: TopicList | TopicHit = memory.list_topics(limit) if topic is None else memory.get_topic(topic)
    if json:
        print_json(found)
    elif isinstance(found, TopicHit):
        _print_topic(found)
    else:
        _print_topics(found)


def _refresh_topics(memory: Memory, *, quiet: bool) -> bool:
    with StepDisplay(quiet=quiet) as steps:
        return memory.refresh_topics(steps.show_step)


def _describe_delay(memory: Memory) -> str:
    if not memory.settings.embedder:
        return "topics can't be looked for: embeddings are switched off (HYPERLOCI_EMBEDDER)."
    pending = memory.count_pending()
    return (
        f"topics were not looked for yet: {pending:,} memories of this project get their vectors first. They are looked"
        " for after that, by a session or by this command."
    )


def _print_topics(found: TopicList) -> None:
    table = make_table("id", "topic", "phase", "memories", "agreement", numbers=("memories", "agreement"))
    for topic in found.topics:
        agreement = f"{topic.weighted_agreement:.1f}"
        table.add_row(shorten_id(topic.id), Text(topic.name), topic.phase, str(topic.member_count), agreement)
    if found.topics:
        console.print(table)
    if found.detected_at is not None:
        more = f", {found.total - len(found.topics)} more" if found.total > len(found.topics) else ""
        console.print(
            Text(f"{found.total} topics among {found.memories} memories{more}, {describe_age(found.detected_at)}")
        )
    if found.waiting:
        console.print(Text(found.waiting, style="dim"))


def _print_topic(topic: TopicHit) -> None:
    console.print(Text(f"{topic.name}  ({topic.phase}, {topic.member_count} memories)", style="bold"))
    strengths = ", ".join(f"{space} {value:.2f}" for space, value in topic.strengths.items())
    console.print(Text(f"agreement {topic.weighted_agreement:.2f} of 8.5: {strengths}"))
    console.print(Text(f"words: {', '.join(topic.terms)}"))
    for hit in topic.examples:
        console.print(Text(f"  {shorten_id(hit.id)}  {to_one_line(hit.content)}"))


def timeline(
    around: Annotated[str | None, typer.Argument(help="A memory's id, or words that find it.")] = None,
    project: ProjectOption = Path("."),
    session: Annotated[str | None, typer.Option("--session", help="Show this session instead.")] = None,
    direction: Annotated[str, typer.Option("--direction", "-d", help="before, after or both.")] = "both",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, max=50, help="How many on each side.")] = 10,
    json: JsonOption = False,
) -> None:
    """Show what happened before and after a memory, or in a session: the latest, if neither is named.

    Examples:
      hyperloci timeline
      hyperloci timeline "we dropped redis" --direction before
      hyperloci timeline --session 1f2e...
    """
    if around is not None and session is not None:
        raise typer.BadParameter("give words or a memory's id, or --session ID (`hyperloci sessions` lists them).")
    with open_memory(project, searches=True) as memory:
        found = memory.get_timeline(around, session_id=session, direction=direction, limit=limit)
    if json:
        print_json(found)
        return
    if found.start:
        errors.print(Text(shorten_ids(found.start), style="dim"))
    for event in found.events:
        _print_event(event)
    if not found.events:
        sessionless = found.anchor is None and found.session_id is None
        console.print(Text(NO_SESSIONS if sessionless else "No memories found there.", style="dim"))


def _print_event(event: TimelineEvent) -> None:
    kind = f"[{event.memory.subtype or event.memory.type}]"
    style = "bold" if event.relation == "anchor" else ""
    mark = "> " if event.relation == "anchor" else ""
    before = f"{mark}{shorten_id(event.memory.id)}  {format_minute(from_iso(event.at))}  {kind:<{KIND_WIDTH}}  "
    console.print(Text(to_one_line(event.memory.content, before), style=style))
    print_notes(event.memory)


KIND_WIDTH: Final = len("[preference]")
"""Of most kinds; the longer ones are rare."""
