"""Conversation commands: recap, expand."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer
from rich.text import Text

from hyperloci.cli.common import JsonOption, ProjectOption, console, open_memory, print_json
from hyperloci.cli.layout import NO_SESSIONS, cut_preview, describe_age
from hyperloci.clock import format_minute, from_iso
from hyperloci.model.kinds import Origin
from hyperloci.model.search import Hit
from hyperloci.store.ids import shorten_id


def register_commands(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(recap)
    app.command()(expand)


WHOLE_BELOW: Final = 1_000
"""Tokens of a conversation that is shown whole: two fifths of a short one would be nothing."""

HEADINGS: Final = {
    "summary": "Earlier, summed up (hyperloci expand ID gives the turns):",
    "warm": "Earlier, on your question:",
    "hot": "Last:",
}


def recap(
    question: Annotated[str | None, typer.Argument(help="Choose older turns by this question.")] = None,
    project: ProjectOption = Path("."),
    session: Annotated[str | None, typer.Option("--session", "-s", help="A session's id; default: the latest.")] = None,
    tokens: Annotated[
        int | None,
        typer.Option("--tokens", "-n", min=1, help="Token budget; default: two fifths of a long conversation."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print a conversation within a token budget: summaries, turns relevant to a question, the latest turns.

    Examples:
      hyperloci recap
      hyperloci recap "which database did we settle on" --tokens 2000
      hyperloci recap --session 0a1b --json
    """
    with open_memory(project, searches=True) as memory:
        if session is None and not json and not memory.list_recent_sessions(1):
            console.print(NO_SESSIONS, style="dim")
            return
        window = memory.get_context_window(tokens, question, session_id=session)
        if tokens is None and window.raw_tokens < WHOLE_BELOW:
            window = memory.get_context_window(WHOLE_BELOW, question, session_id=session)
        said = {part: memory.get_many(part.ids) for part in window.parts if part.kind != "summary"}
    if json:
        print_json(window)
        return
    for part in window.parts:
        console.print(Text(HEADINGS[part.kind], style="bold"))
        if part.kind == "summary":
            console.print(Text(cut_preview(part.text, full=True)))
        for hit in said.get(part, ()):
            console.print(
                Text(f"{_name_speaker(hit)}, {describe_age(hit.valid_from)}  {shorten_id(hit.id)}", style="cyan")
            )
            console.print(Text(cut_preview(hit.content, full=True)))
    state = f"{window.tokens:,} of {window.raw_tokens:,} tokens, older turns by {window.mode}"
    if window.tokens >= window.raw_tokens:
        state = "the whole conversation"
    console.print(Text(state + (f"; {window.degraded}" if window.degraded else ""), style="dim"))


def _name_speaker(hit: Hit) -> str:
    return {Origin.USER_PROMPT: "you", Origin.CLAUDE_RESPONSE: "assistant"}.get(Origin(hit.source.kind), "tool")


def expand(
    id: Annotated[str, typer.Argument(help="The id of a conversation chunk.")],
    project: ProjectOption = Path("."),
    json: JsonOption = False,
) -> None:
    """Print the turns behind a summary of a conversation, word for word.

    Examples:
      hyperloci expand 0a1b
      hyperloci expand 0a1b --json
    """
    with open_memory(project) as memory:
        chunk = memory.expand_chunk(id)
    if json:
        print_json(chunk)
        return
    console.print(Text(f"{chunk.level} chunk of session {shorten_id(chunk.session_id)}, {chunk.stage}", style="bold"))
    console.print(Text(chunk.content, style="dim"))
    for turn in chunk.turns:
        cut = "" if turn.whole else " (only the beginning is left)"
        at = format_minute(from_iso(turn.at))
        console.print(Text(f"\n{turn.role}, turn {turn.seq}, {at}{cut}", style="bold"))
        console.print(Text(turn.content))
