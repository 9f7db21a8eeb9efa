"""Demo: the main features on a real project (`hyperloci demo`).

Indexes a project (code, documents, git history) into a temporary database, then talks to `hyperloci serve` over stdio
with the MCP SDK's client: remembers, finds, contradicts, marks a dead end, stops the server, starts another and finds
again.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import anyio
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from rich.console import Console
from rich.text import Text

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci.model.answers import Progress

DECISION: Final = "We decided to keep everything in one SQLite file, because two stores drift apart."
CONTRARY: Final = "We decided not to keep everything in one SQLite file."
APPROACH: Final = "Loading sentence-transformers inside the server process"
REASON: Final = "its import takes five seconds, and clients give up on slow starts"

QUESTION: Final = "why one sqlite file"
FAILED_QUESTION: Final = "import sentence-transformers in the server"
NAME_WORDS: Final = 5
"""A name with this many words makes a good question."""

PREVIEW_CHARS: Final = 90


class _DemoReport:
    """Prints each step with the time it took, and notes whether all steps passed."""

    def __init__(self) -> None:
        self.console = Console()
        self.ok = True
        self._begun = time.perf_counter()
        self._last = self._begun

    def print_step(self, text: str, *, ok: bool = True) -> None:
        now = time.perf_counter()
        mark = Text("ok    " if ok else "FAILED", style="green" if ok else "bold red")
        self.console.print(mark, Text(f"{now - self._last:7.2f} s  {text}"), soft_wrap=True)
        self.ok = self.ok and ok
        self._last = now

    @contextlib.contextmanager
    def show_progress(self) -> Iterator[Progress]:
        """Show the progress of the block on a terminal."""
        with self.console.status("") as status:
            yield lambda done, total, what: status.update(Text(f"{done} of {total}  {what}"))

    def print_detail(self, text: str) -> None:
        self.console.print(Text(f"                  {text}", style="dim"), soft_wrap=True)

    def print_summary(self) -> None:
        total = time.perf_counter() - self._begun
        self.console.print(
            Text(f"\n{'All steps done' if self.ok else 'Some steps FAILED'} in {total:.1f} s.", style="bold")
        )


def run_demo(project: Path) -> bool:
    """Run the demo on a project and return whether every step did what it should."""
    report = _DemoReport()
    with tempfile.TemporaryDirectory(prefix="hyperloci-demo-") as folder:
        environment = _build_environment(Path(folder))
        settings = Settings.from_env(environment, project)
        report.console.print(Text(f"Hyperloci demo on {project.name}, in a temporary database\n", style="bold"))
        with Memory.open(settings, project) as memory:
            question = _index_project(report, memory)
            with memory.keep_embedder_running():
                report.print_step(
                    "started the embedder: it creates vectors in the background; search by words works now"
                )
                anyio.run(_run_first_session, report, environment, project, question)
                anyio.run(_run_second_session, report, environment, project)
            reach = memory.get_embedding_coverage()
            report.print_detail(f"by now {reach.embedded} of {reach.total} memories can also be found by meaning")
    report.print_summary()
    return report.ok


def _build_environment(folder: Path) -> dict[str, str]:
    own = {
        "RLM_MEMORY_DB": str(folder / "memory.db"),
        "HYPERLOCI_STATE_DIR": str(folder / "state"),
        "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
    }
    # The demo shows the defaults: the user's own settings and memory stay out of it.
    kept = {
        name: value
        for name, value in os.environ.items()  # noqa: TID251 - passed on to the server
        if not name.startswith("HYPERLOCI_")
    }
    return {**kept, **own, "HYPERLOCI_CONFIG": str(folder / "none.toml")}


def _index_project(report: _DemoReport, memory: Memory) -> str | None:
    """Index the project and return a question about it; None if there is nothing to index."""
    with report.show_progress() as progress:
        index = memory.index_path(progress=progress)
    report.print_step(
        f"indexed {index.files} files and {index.commits} commits: {index.chunks} chunks, searchable by words"
    )
    if index.commits_waiting:
        report.print_detail(
            f"{index.commits_waiting} older commits are not stored yet; a session reads them in the background"
        )
    again = memory.index_path()
    report.print_step(
        f"indexed again: {again.added + again.changed + again.removed} chunks changed",
        ok=again.added + again.changed + again.removed == 0,
    )
    return _choose_question(memory)


def _choose_question(memory: Memory) -> str | None:
    """Return a question that something in the project answers: the name of a symbol or section, in words."""
    snippets = memory.store.nodes.query_nodes("snippet", subtypes=("code", "markdown"), scopes=(memory.project.id,))
    names = [snippet.title.rpartition(" > ")[2] for snippet in snippets]
    words = [" ".join(re.findall(r"[^\W\d_]+", name)).lower() for name in names]
    return max(words, key=lambda text: min(len(text.split()), NAME_WORDS), default=None) or None


async def _run_first_session(
    report: _DemoReport, environment: dict[str, str], project: Path, question: str | None
) -> None:
    async with _DemoClient(environment, project) as client:
        report.print_step("started `hyperloci serve` and connected over stdio")
        decision = await client.call_tool("remember_fact", fact=DECISION, category="decision")
        report.print_step(f"remembered a decision: {DECISION}", ok="id" in decision)
        dead_end = await client.call_tool("mark_dead_end", approach=APPROACH, reason=REASON)
        report.print_step(f"marked a dead end: {APPROACH}", ok="id" in dead_end)
        await _search_and_report(report, client, QUESTION, lambda hit: hit["id"] == decision["id"])
        if question is not None:
            await _search_and_report(report, client, question, lambda hit: bool(hit.get("source", {}).get("path")))
        found = (await client.call_tool("find_contradictions", statement=CONTRARY))["contradictions"]
        report.print_step(
            f"searched for contradictions of: {CONTRARY}", ok=any(item["id"] == decision["id"] for item in found)
        )
        for item in found[:2]:
            report.print_detail(f"{item['kind']}: {item['reason']}")
    report.print_step("stopped the server")


async def _run_second_session(report: _DemoReport, environment: dict[str, str], project: Path) -> None:
    async with _DemoClient(environment, project) as client:
        report.print_step("started another `hyperloci serve`")
        await _search_and_report(report, client, QUESTION, lambda hit: hit["content"] == DECISION)
        await _search_and_report(report, client, FAILED_QUESTION, lambda hit: hit.get("subtype") == "dead_end")
        stats = await client.call_tool("memory_stats")
        report.print_step(f"counted: {stats['nodes']} memories, {stats['edges']} relations", ok=stats["nodes"] > 0)
    report.print_step("stopped the server")


async def _search_and_report(
    report: _DemoReport, client: _DemoClient, query: str, wanted: Callable[[dict[str, Any]], bool]
) -> None:
    answer = await client.call_tool("search_memory", query=query, limit=5)
    hits = answer["results"]
    reach = answer.get("by_meaning", {"embedded": 0, "total": 0})
    seen = f"{reach['embedded']} of {reach['total']} by meaning" if reach["embedded"] else "by words"
    report.print_step(f"searched: {query} ({seen}, {answer['took_ms']:.0f} ms)", ok=any(map(wanted, hits)))
    for hit in hits[:2]:
        text = " ".join(hit["content"].split())
        place = hit.get("source", {}).get("path") or hit.get("source", {}).get("kind", "")
        report.print_detail(f"{hit['score']:.2f}  {place}  {text[:PREVIEW_CHARS]}")


class _DemoClient:
    """The SDK's client to a server process of our own."""

    def __init__(self, environment: dict[str, str], project: Path) -> None:
        self._parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "hyperloci", "serve"], env=environment, cwd=str(project)
        )

    async def __aenter__(self) -> _DemoClient:
        self._stdio = stdio_client(self._parameters)
        read, write = await self._stdio.__aenter__()
        self._session = ClientSession(read, write)
        await self._session.__aenter__()
        await self._session.initialize()
        return self

    async def __aexit__(self, *exception: Any) -> None:
        await self._session.__aexit__(*exception)
        await self._stdio.__aexit__(*exception)

    async def call_tool(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self._session.call_tool(tool, arguments)
        if result.is_error or result.structured_content is None:
            raise RuntimeError(f"{tool} failed: {result.content}")
        return dict(result.structured_content)
