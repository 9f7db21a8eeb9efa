"""Demo: three days of work in half a minute (`hyperloci demo`): a decision, a dead end, and a mind that changes.

Reads a project (code, documents, git history) into a temporary database, found by words. Then each day is a session as
Claude Code has it: a `hyperloci serve` that the MCP SDK's client speaks to over stdio, and a process per hook. What the
hooks answer is shown as the assistant gets it.

The sessions are held in an empty folder, which has the project's memory by a name: what the project shares, such as
decisions on invoices, would mix with the story.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
import textwrap
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from hyperloci.cli.layout import count_things
from hyperloci.clock import MS_PER_DAY, OFFSET_VARIABLE
from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.answers import Progress
from hyperloci.system.values import dataclass

DECISION: Final = "We decided to use SQLite for the invoices, because it is one file."
DEAD_END: Final = "I tried to cache the sessions in Redis, but it failed: evictions logged users out."
CHANGE: Final = "We decided to use PostgreSQL for the invoices instead of SQLite, because two services must write."
TALK: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "Monday": ((DECISION, "Agreed: one file, one transaction."), (DEAD_END, "Then they stay where they are.")),
    "Tuesday": ((CHANGE, "Done, the tests pass."),),
    "Wednesday": (),
}
"""What the user says on each day, and what the assistant answers. The dates are those of the last three days."""

MEMORY_NAME: Final = "hyperloci-demo"
"""The project that is read and the folder of the sessions have one memory, that of this name."""

OLD, NEW, FAILED = "use SQLite", "PostgreSQL", "evictions"

ATTEMPTS: Final = 6
"""Times that a session's first hook is run: on a busy machine it keeps its time limit and answers nothing. With fifty
processes on two cores three were not enough."""

TOO_BUSY: Final = f"the hook kept its time limit {ATTEMPTS} times and answered nothing: this machine is very busy now"

NAME_WORDS: Final = 5
"""A name with this many words makes a good question."""

PREVIEW_CHARS: Final = 110

WIDTH: Final = 100
"""Columns at most: longer lines are hard to read."""

IN_THE_BACKGROUND: Final = (
    "With a session open, Hyperloci also works unasked: watchers read what you edit and commit; the embedder gives"
    " every memory its vectors, so that it is found by meaning as well as by words; maintenance makes summaries,"
    " forgets what faded and backs the memory up."
)


INDENT: Final = 14
"""Columns before what is told of a step."""


class _DemoReport:
    """Prints what happens, and notes whether all of it was as it should be."""

    def __init__(self) -> None:
        terminal = Console()
        self.console = Console(width=min(WIDTH, terminal.width), highlight=False)
        self.ok = True
        self._begun = time.perf_counter()
        self._last = self._begun

    def print_scene(self, title: str) -> None:
        self.console.print(Text(f"\n{title}", style="bold"))

    def print_step(self, text: str, *, ok: bool = True) -> None:
        """Print what was done, with the seconds since the last step."""
        now = time.perf_counter()
        mark = ("ok", "green") if ok else ("FAILED", "bold red")
        self._print_hanging(Text.assemble(mark, f" {now - self._last:.1f} s"), text)
        self.ok, self._last = self.ok and ok, now

    def print_line(self, who: str, text: str, style: str = "") -> None:
        self._print_hanging(Text(who, style="cyan"), text, style)

    def print_opening(self, text: str) -> None:
        """Show what the assistant reads first, as it gets it."""
        if text:
            self.console.print(
                Panel(Text(text), title="what the assistant reads first", title_align="left", border_style="magenta")
            )

    @contextlib.contextmanager
    def show_progress(self) -> Iterator[Progress]:
        """Show the progress of the block on a terminal."""
        with self.console.status("") as status:
            yield lambda done, total, what: status.update(Text(f"{done:,} of {total:,}  {what}"))

    def print_summary(self) -> None:
        total = time.perf_counter() - self._begun
        self.console.print(Text(f"\n{textwrap.fill(IN_THE_BACKGROUND, self.console.width)}", style="dim"))
        told = "All of it was remembered" if self.ok else "Some steps FAILED"
        self.console.print(Text(f"\n{told}, in {total:.1f} s. Yours: hyperloci install", style="bold"))

    def _print_hanging(self, head: Text, text: str, style: str = "") -> None:
        lines = textwrap.wrap(" ".join(text.split()), self.console.width - INDENT)
        head.pad_right(INDENT - len(head))
        for number, line in enumerate(lines):
            self.console.print(Text.assemble(head if number == 0 else " " * INDENT, (line, style)))


def run_demo(project: Path) -> bool:
    """Run the demo on a project and return whether every step did what it should."""
    report = _DemoReport()
    with tempfile.TemporaryDirectory(prefix="hyperloci-demo-") as folder:
        stage = Path(folder) / "stage"
        stage.mkdir()
        environment = _build_environment(Path(folder), stage)
        report.console.print(Text(f"Hyperloci on {project.name}, in a temporary database", style="bold"))
        settings = replace(Settings.from_env(environment, project), project=MEMORY_NAME)
        with Memory.open(settings, project) as memory:
            question = _index_project(report, memory)
        anyio.run(_DemoWeek(report, environment, stage).play, question)
    report.print_summary()
    return report.ok


def _build_environment(folder: Path, stage: Path) -> dict[str, str]:
    own = {
        "CLAUDE_PROJECT_DIR": str(stage),
        "HYPERLOCI_PROJECT": MEMORY_NAME,
        "RLM_MEMORY_DB": str(folder / "memory.db"),
        "HYPERLOCI_STATE_DIR": str(folder / "state"),
        "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
        "HYPERLOCI_CONFIG": os.devnull,
        "HYPERLOCI_EMBEDDER": "false",
        "HYPERLOCI_WATCH": "false",
    }
    # The demo shows the defaults: the user's own settings and memory stay out of it.
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - passed on to the server
        if not name.startswith("HYPERLOCI_")
    }
    return {**kept, **own}


def _index_project(report: _DemoReport, memory: Memory) -> str | None:
    """Index the project and return a question about it; None if there is nothing to index."""
    with report.show_progress() as progress:
        index = memory.index_path(progress=progress)
    older = f", {index.commits_waiting:,} older ones later" if index.commits_waiting else ""
    files, pieces = count_things(index.files, "file"), count_things(index.chunks, "piece")
    report.print_step(f"read this project: {files} in {pieces}, {count_things(index.commits, 'commit')}{older}")
    again = memory.index_path()
    changed = again.added + again.changed + again.removed
    report.print_step(f"read it again: {changed} pieces changed", ok=changed == 0)
    return _choose_question(memory)


def _choose_question(memory: Memory) -> str | None:
    """Return a question that something in the project answers: the name of a symbol or section, in words."""
    snippets = memory.store.nodes.query_nodes("snippet", subtypes=("code", "markdown"), scopes=(memory.project.id,))
    names = [snippet.title.rpartition(" > ")[2] for snippet in snippets]
    words = [" ".join(re.findall(r"[^\W\d_]+", name)).lower() for name in names]
    return max(words, key=lambda text: min(len(text.split()), NAME_WORDS), default=None) or None


@dataclass(frozen=True, slots=True)
class _DemoWeek:
    """Sessions on three days, the last of them today, in the folder `stage`."""

    report: _DemoReport
    environment: dict[str, str]
    stage: Path

    async def play(self, question: str | None) -> None:
        report = self.report
        report.print_scene("Monday: a decision, and a dead end")
        async with self._open_session("Monday") as monday:
            await monday.say_all()
        report.print_scene("Tuesday: a new session, which knows nothing of Monday; a hook tells it")
        async with self._open_session("Tuesday") as tuesday:
            report.print_opening(tuesday.opening)
            told = OLD in tuesday.opening and FAILED in tuesday.opening
            report.print_step("the decision and the dead end are there" if tuesday.opening else TOO_BUSY, ok=told)
            await tuesday.say_all()
        report.print_scene("Wednesday: the mind has changed")
        async with self._open_session("Wednesday") as wednesday:
            report.print_opening(wednesday.opening)
            changed = NEW in wednesday.opening and OLD not in wednesday.opening
            kept = "the new decision is there, the old one is gone; it is kept as history"
            report.print_step(kept if wednesday.opening else TOO_BUSY, ok=changed)
            await self._search(wednesday, "which database do the invoices use", NEW, content_type="decision")
            if question is not None:
                await self._search(wednesday, question)

    @contextlib.asynccontextmanager
    async def _open_session(self, day: str) -> AsyncIterator[_DemoSession]:
        days_ago = len(TALK) - 1 - list(TALK).index(day)
        environment = {**self.environment, OFFSET_VARIABLE: str(-days_ago * MS_PER_DAY // 1_000)}
        session = _DemoSession(self.report, environment, self.stage, day)
        async with _connect(environment, self.stage) as client:
            session.client = client
            session.opening = await session.open(expects_context=days_ago < len(TALK) - 1)
            yield session
            await session.run_hook("SessionEnd", reason="other")

    async def _search(self, session: _DemoSession, question: str, wanted: str = "", **conditions: str) -> None:
        answer = await session.client.call_tool("search_memory", {"query": question, "limit": 2, **conditions})
        hits = (answer.structured_content or {}).get("results", [])
        self.report.print_step(
            f"searched: {question}", ok=any(wanted in hit["content"] for hit in hits) and not answer.is_error
        )
        for hit in hits[:1]:
            source = hit.get("source", {})
            place = f"{source['path']}:{source.get('line_start') or 1}  " if source.get("path") else ""
            self.report.print_line(
                "", place + textwrap.shorten(hit["content"], PREVIEW_CHARS, placeholder=" ..."), "dim"
            )


class _DemoSession:
    """One session: its server, its hooks, and what is said in it."""

    client: ClientSession
    opening: str = ""

    def __init__(self, report: _DemoReport, environment: dict[str, str], stage: Path, day: str) -> None:
        self.environment = environment
        self._report = report
        self._stage = stage
        self._day = day

    async def open(self, *, expects_context: bool) -> str:
        """Begin the session and return what it begins with; a hook that ran out of time is run again."""
        for _ in range(ATTEMPTS):
            told = await self.run_hook("SessionStart", source="startup")
            if told or not expects_context:
                return told
        return ""

    async def say_all(self) -> None:
        """Say what is said on the day."""
        for prompt, answer in TALK[self._day]:
            self._report.print_line("you", prompt)
            await self.run_hook("UserPromptSubmit", prompt=prompt)
            self._report.print_line("assistant", answer, "dim")
            await self.run_hook("Stop", last_assistant_message=answer)

    async def run_hook(self, event: str, **fields: Any) -> str:
        """Run a hook as Claude Code does, and return the context that it answers with."""
        payload = {"session_id": f"demo-{self._day.lower()}", "cwd": str(self._stage), **fields}
        command = [sys.executable, "-m", "hyperloci", "hook", event]
        done = await anyio.run_process(
            command, input=json.dumps(payload).encode(), env=self.environment, cwd=self._stage
        )
        answer = json.loads(done.stdout)
        return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


@contextlib.asynccontextmanager
async def _connect(environment: dict[str, str], stage: Path) -> AsyncIterator[ClientSession]:
    """Start a server of our own, and speak to it with the SDK's client."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "hyperloci", "serve"], env=environment, cwd=str(stage)
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as client:
        await client.initialize()
        yield client
