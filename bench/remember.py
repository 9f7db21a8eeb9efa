"""How long `remember_fact` takes over stdio, with what it contradicts and may outdate in the answer.

    python -m bench remember [--facts 2000] [--calls 200] [--embedder] [--pause 0.3] [--again FOLDER] [--json]

A memory of labelled statements (`bench/data`) is made in this process. Then the SDK's client tells the server of the
code under `PYTHONPATH` new statements one after the other, a third of which contradict what is there. `--again` names
a folder in which the filled memory is kept, so that two states of the code are measured on copies of the same.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import anyio
import psutil
from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.config import Settings
from hyperloci.memory import Memory

DATA: Final = Path(__file__).with_name("data")
WARM: Final = 20
"""Calls before the first that counts: modules and tables are loaded by then."""


def read_lines(name: str) -> list[dict[str, Any]]:
    """Return the values of a labelled set."""
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def list_facts(count: int) -> tuple[list[str], list[str]]:
    """Return statements to be in the memory, and statements to be told: each of its pair's other half."""
    pairs = [pair for pair in read_lines("statement_pairs") if pair["old"] != pair["new"]]
    old = [pair["old"] for pair in pairs] + [kind["text"] for kind in read_lines("statement_kinds")]
    stored = list(dict.fromkeys(old))[:count]
    known = set(stored)
    return stored, list(
        dict.fromkeys(pair["new"] for pair in pairs if pair["old"] in known and pair["new"] not in known)
    )


def environment(folder: Path, *, embedder: bool) -> dict[str, str]:
    """Return an environment whose files all lie in a folder."""
    keep = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "SYSTEMROOT") if key in os.environ}
    return keep | {
        "HOME": str(folder),
        "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
        "HYPERLOCI_EMBEDDER": str(embedder).lower(),
        "HYPERLOCI_PROJECT": "bench",
        "HYPERLOCI_WATCH": "false",
    }


def fill_memory(folder: Path, facts: list[str], *, embedder: bool) -> None:
    """Make a memory of these facts, with vectors where there is to be an embedder."""
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    settings = Settings.from_env(environment(folder, embedder=embedder), project)
    # What was told long ago lends its words to nothing that is told now.
    with Memory.open(settings, project, clock=lambda: system_clock() - MS_PER_DAY) as memory:
        for fact in facts:
            memory.remember_fact(fact)
        if embedder:
            with memory.keep_embedder_running():
                memory.embed_pending()


async def tell_facts(folder: Path, facts: list[str], *, embedder: bool, pause: float) -> dict[str, Any]:
    """Return how long calls took, in milliseconds, what was answered, and what the server held and spent."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "hyperloci", "serve"],
        env=environment(folder, embedder=embedder),
        cwd=folder / "project",
    )
    times, answers = [], hashlib.sha256()
    offered = 0
    async with stdio_client(command) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:
        await session.initialize()
        server = next(
            child for child in psutil.Process().children(recursive=True) if child.cmdline()[1:] == command.args
        )
        if embedder:
            await wait_for_embedder(session)
        for number, fact in enumerate(facts):
            if number == WARM:
                spent = sum(server.cpu_times()[:2])
            began = time.perf_counter()
            answer = await session.call_tool("remember_fact", {"fact": fact})
            times.append(1_000 * (time.perf_counter() - began))
            await anyio.sleep(pause)
            told = answer.structured_content or {}
            found = [
                [(item["content"], item.get("score"), item.get("kind")) for item in told.get(name) or ()]
                for name in ("contradictions", "affected")
            ]
            offered += bool(found[0])
            answers.update(json.dumps(found).encode())
        spent = sum(server.cpu_times()[:2]) - spent
        held = server.memory_full_info()
    counted = sorted(times[WARM:])
    return {
        "p50_ms": round(counted[len(counted) // 2], 2),
        "p95_ms": round(counted[len(counted) * 95 // 100], 2),
        "processor_ms": round(1_000 * spent / len(counted), 2),
        "megabytes": round(held.rss / 1e6, 1),
        "contradicted": offered,
        "answers": answers.hexdigest()[:12],
    }


async def wait_for_embedder(session: ClientSession) -> None:
    """Return once the embedder answers questions."""
    while True:
        answer = await session.call_tool("search_memory", {"query": "where do sessions live"})
        if (answer.structured_content or {}).get("mode") == "hybrid":
            await anyio.sleep(5)
            return
        await anyio.sleep(0.5)


def main() -> None:
    """Fill, tell, print."""
    parser = argparse.ArgumentParser(prog="python -m bench remember", description=__doc__.splitlines()[0])
    parser.add_argument("--facts", type=int, default=2_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--pause", type=float, default=0.0, help="seconds between calls, for the embedder to catch up")
    parser.add_argument("--embedder", action="store_true")
    parser.add_argument("--again", type=Path, help="keep the filled memory here, and use it if it is there")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    stored, told = list_facts(options.facts)
    with contextlib.ExitStack() as stack:
        kept = options.again or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hl-")))
        if not (kept / "project").exists():
            fill_memory(kept, stored, embedder=options.embedder)
        with tempfile.TemporaryDirectory(prefix="hl-") as place:
            shutil.copytree(kept, place, dirs_exist_ok=True, ignore=shutil.ignore_patterns("run"))
            found = anyio.run(
                lambda: tell_facts(
                    Path(place), told[: options.calls + WARM], embedder=options.embedder, pause=options.pause
                )
            )
    print(json.dumps(found) if options.json else found)


if __name__ == "__main__":
    main()
