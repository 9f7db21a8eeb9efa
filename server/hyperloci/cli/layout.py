"""Layout: how memories, ids, ages and sources look in a terminal of 80 columns."""

from __future__ import annotations

from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from hyperloci.cli.common import console
from hyperloci.cli.folding import TAB_COLUMNS, fold_text
from hyperloci.clock import format_age, from_iso, system_clock
from hyperloci.model.author import parse_author
from hyperloci.model.kinds import Origin
from hyperloci.model.pyramid_levels import GIVES_TURNS
from hyperloci.model.search import Hit
from hyperloci.store.ids import shorten_id

PREVIEW_LINES: Final = 6
"""Lines shown of a memory in a list, as they stand in the terminal; `--full` shows all."""

NOTHING_YET: Final = """\
Nothing is remembered here yet.
   hyperloci remember "We deploy on Fridays"   stores what you say
   hyperloci index                             reads code, documents and history
   hyperloci import --claude-code              reads past sessions"""
"""What is told of a project without memories."""

NO_FACTS: Final = """\
No fact is remembered here yet; what else is stored (conversations, code, documents, history) is found.
   hyperloci query "where are sessions kept"   searches it
   hyperloci list --type commit                lists it, by kind
   hyperloci sessions                          lists the conversations
   hyperloci import --claude-code              reads earlier ones"""
"""What is told of a project of which all memories are indexed, or turns of sessions."""

NO_SESSIONS: Final = """\
No session of this project is remembered yet.
   hyperloci install                lets Claude Code's sessions be remembered
   hyperloci import --claude-code   reads those that there were"""
"""What is told of a project without sessions."""

MIN_PREVIEW: Final = 30
"""Characters shown of a text behind a long beginning, even if the line is too long then."""

_SOURCE_WORDS: Final = {
    Origin.USER_PROMPT: "said by you",
    Origin.TOOL: "remembered",
    Origin.CLAUDE_RESPONSE: "said by the assistant",
    Origin.HOOK: "done by a tool",
    Origin.EXTRACTION: "extracted",
    Origin.COMMIT: "commit",
    Origin.MARKDOWN: "document",
    Origin.CODE: "code",
    Origin.IMPORT: "imported",
    Origin.TEAMMATE: "from a teammate",
}


def describe_age(iso: str | None) -> str:
    """Return how long ago a time was; `-` for none."""
    return "-" if iso is None else format_age(from_iso(iso), system_clock())


def describe_source(hit: Hit) -> str:
    """Return where a memory is from: a file's line, a commit, or who told it and in which session."""
    source = hit.source
    if source.path:
        place = ", ".join(filter(None, (source.cells, source.symbol or " > ".join(source.section_path))))
        line = f":{source.line_start}" if source.line_start else ""
        return f"{source.path}{line}" + (f"  {place}" if place else "")
    if source.commit:
        return f"commit {source.commit[:12]}"
    session = f" in session {shorten_id(source.session_id)}" if source.session_id else ""
    if source.author:
        return f"from {parse_author(source.author).name}, a teammate"
    return f"{_SOURCE_WORDS.get(Origin(source.kind), source.kind)}{session}"


def format_heading(hit: Hit, *parts: str) -> str:
    """Return a memory's kind, short id, age and source, and what else there is to say of it, as one line."""
    kind = f"[{hit.subtype or hit.type}]"
    said = (kind, shorten_id(hit.id), describe_age(hit.valid_from), describe_source(hit), *parts)
    return "  ".join(part for part in said if part)


def print_memory(hit: Hit, *, mark: str = "", full: bool = False, score: str = "") -> None:
    """Print one memory: its heading, its text and what there is to note."""
    console.print(Text(f"{mark}{format_heading(hit, score)}", style="bold"))
    console.print(Text(cut_preview(hit.content, full=full)))
    print_notes(hit)


def print_notes(hit: Hit) -> None:
    """Print what there is to note of a memory: that it was replaced, is contradicted, warns of something."""
    for note in hit.notes:
        # An assistant searches; a person has a command.
        told = note.replace(GIVES_TURNS, f"`hyperloci expand {shorten_id(hit.id)}` prints them")
        console.print(Text(f"   ! {shorten_ids(told)}", style="yellow"))


def count_things(number: int, noun: str) -> str:
    """Return a number of things in words: `1 session`, `2,000 sessions`, `3 memories`."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def cut_preview(content: str, *, full: bool = False) -> str:
    """Return a text indented by three columns, its first lines unless all are wanted."""
    # Before the indent, which would move what stands after a tab to another stop.
    whole = content.rstrip().expandtabs(TAB_COLUMNS) if console.is_terminal else content.rstrip()
    text = "\n".join(f"   {line}" for line in whole.splitlines())
    lines = (fold_text(Text(text), console.width).plain if console.is_terminal else text).split("\n")
    shown = lines if full else lines[:PREVIEW_LINES]
    return "\n".join(shown) + ("\n   ..." if len(lines) > len(shown) else "")


def shorten_ids(text: str) -> str:
    """Return a text with every id in it as lists show it."""
    return " ".join(_shorten_word(word) for word in text.split(" "))


def _shorten_word(word: str) -> str:
    bare = word.strip("(),.;:")
    return word.replace(bare, shorten_id(bare)) if bare else word


def make_table(*columns: str, numbers: tuple[str, ...] = ()) -> Table:
    """Return an empty table as all commands print them; columns of numbers stand at the right, ids are never cut."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), show_edge=False, header_style="bold", pad_edge=False)
    for name in columns:
        table.add_column(name, justify="right" if name in numbers else "left", no_wrap=name in ("id", *numbers))
    return table


def to_one_line(text: str, before: str = "") -> str:
    """Return a text on one line behind another, cut so that both fit the terminal."""
    line, width = " ".join(text.split()), max(MIN_PREVIEW, console.width - len(before))
    return before + (line if len(line) <= width else f"{line[: width - 3].rstrip()}...")
