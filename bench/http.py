"""Many sessions over HTTP: `python -m bench http [--sessions 200] [--calls 5]`.

Starts the installed server on a memory of its own with a token a person, opens all sessions at once with the SDK's
client over real sockets, lets each remember a fact and search for it, and prints the times of the calls, what was
refused, and whether every fact that was acknowledged is there afterwards.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
import httpx2
import numpy as np
from mcp.client.session import ClientSession
from mcp.client.streamable_http import streamable_http_client

from bench._shared import MarkdownTable, save_result

SECONDS = 300
"""A call that takes longer hangs."""


class HttpRun:
    """One run: what took how long, what was acknowledged, what failed."""

    def __init__(self, address: str, tokens: list[str]) -> None:
        self._address = address
        self._tokens = tokens
        self.times: dict[str, list[float]] = {"initialize": [], "remember_fact": [], "search_memory": []}
        self.acknowledged: list[str] = []
        self.faults: list[str] = []

    async def run_sessions(self, sessions: int, calls: int) -> None:
        """Run all sessions at once."""
        async with anyio.create_task_group() as group:
            for number in range(sessions):
                group.start_soon(self._run_session, number, calls)

    async def _run_session(self, number: int, calls: int) -> None:
        token = self._tokens[number % len(self._tokens)]
        try:
            async with (
                httpx2.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=SECONDS) as http,
                streamable_http_client(self._address, http_client=http) as (incoming, outgoing, *_),
                ClientSession(incoming, outgoing) as session,
            ):
                began = time.perf_counter()
                await session.initialize()
                self.times["initialize"].append(time.perf_counter() - began)
                for call in range(calls):
                    fact = f"Service {number:04}-{call} is deployed to rack {number * 7 + call}."
                    await self._call(session, "remember_fact", {"fact": fact}, fact)
                    await self._call(session, "search_memory", {"query": f"rack of service {number:04}-{call}"})
        except Exception as error:  # a bench goes on and tells it
            self.faults.append(repr(error)[:200])

    async def _call(self, session: ClientSession, tool: str, arguments: dict[str, str], fact: str = "") -> None:
        began = time.perf_counter()
        answer = await session.call_tool(tool, arguments)
        self.times[tool].append(time.perf_counter() - began)
        if answer.is_error:
            self.faults.append(str(answer.content)[:200])
        elif fact:
            self.acknowledged.append(fact)


def _read_thread_seconds(pid: int) -> list[float]:
    """Return the processor time of a process's threads so far, its first one's first."""
    tasks = {int(path.parent.name): path for path in Path(f"/proc/{pid}/task").glob("*/stat")}
    # Numbers of threads wrap around: a later one may have a lower number than the process.
    stats = [tasks[task].read_text() for task in sorted(tasks, key=lambda task: (task != pid, task))]
    ticks = [sum(map(int, text.rpartition(")")[2].split()[11:13])) for text in stats]
    return [count / os.sysconf("SC_CLK_TCK") for count in ticks]


def main() -> None:
    """Parse the arguments, run, print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench http", description=__doc__)
    parser.add_argument("--sessions", type=int, default=200)
    parser.add_argument("--calls", type=int, default=5, help="facts that each remembers and searches for")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="hyperloci-bench-") as folder:
        root = Path(folder)
        (root / "project").mkdir()
        environ = {"PATH": os.environ["PATH"], "HOME": folder, "HYPERLOCI_EMBEDDER": "false"}
        program = [str(Path(sys.executable).with_name("hyperloci"))]

        def run(*arguments: str) -> str:
            done = subprocess.run(
                [*program, *arguments], env=environ, cwd=root / "project", capture_output=True, text=True, check=True
            )
            return done.stdout.strip()

        tokens = [run("token", "create", f"Person {n} <p{n}@example.org>", "--common", "team") for n in range(8)]
        command = [*program, "serve", "--http", "--common", "team", "--port", "0", "--per-minute", "1000000"]
        with subprocess.Popen(
            command, env=environ, cwd=root / "project", stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            measured = HttpRun(server.stdout.readline().strip(), tokens)
            began = time.perf_counter()
            anyio.run(measured.run_sessions, options.sessions, options.calls)
            seconds = time.perf_counter() - began
            threads = _read_thread_seconds(server.pid)
            server.terminate()
            server.wait()
        whole = root / "whole.jsonl"
        database = next(root.rglob("common/team/memory.db"))
        exported = {**environ, "RLM_MEMORY_DB": str(database)}
        subprocess.run([*program, "export", str(whole)], env=exported, cwd=root / "project", check=True, stdout=-3)
        text = whole.read_text()
    lost = [fact for fact in measured.acknowledged if fact not in text]
    answer = {
        "sessions": options.sessions,
        "seconds": round(seconds, 1),
        "acknowledged": len(measured.acknowledged),
        "lost": len(lost),
        "faults": measured.faults[:10],
        "processor s of the server": {"event loop": round(threads[0], 1), "workers": round(sum(threads[1:]), 1)},
        "ms": {
            name: [round(1_000 * float(np.percentile(found, part)), 1) for part in (50, 95)]
            for name, found in measured.times.items()
            if found
        },
    }
    table = MarkdownTable("call", "calls", "p50 ms", "p95 ms")
    for name, found in measured.times.items():
        if found:
            table.add(name, len(found), *answer["ms"][name])
    table.print()
    told = f"{len(measured.acknowledged):,} acknowledged, {len(lost)} lost, {len(measured.faults)} faults"
    print(f"\n{options.sessions} sessions at once in {seconds:.1f} s: {told}")
    print(f"processor time of the server: {threads[0]:.1f} s event loop, {sum(threads[1:]):.1f} s workers")
    for fault in measured.faults[:5]:
        print(fault)
    if options.save:
        save_result("http", answer)


if __name__ == "__main__":
    main()
