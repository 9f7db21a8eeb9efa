"""Start-up, memory and tokens.

    python -m bench startup [--runs 10] [--json]
    python -m bench startup --steps

Spawns `hyperloci serve` and an empty server of the same SDK in turns, speaks the handshake over stdio, and prints the
time from spawn to the answered `initialize`, the resident memory then, and what `tools/list` costs in characters. With
`--steps` it prints what a server holds after each step of a session, in a folder that is too broad to be watched and in
a project.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import psutil

from bench._shared import MarkdownTable, save_result

EMPTY = "from mcp.server.mcpserver import MCPServer\nMCPServer('empty').run('stdio')\n"

SETTLED_SECONDS = 4.0
"""How long services are waited for."""

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    },
}


def private_environment(folder: Path) -> dict[str, str]:
    """Return an environment whose files all lie in `folder`."""
    return {
        **os.environ,
        "HOME": str(folder),
        "CLAUDE_CONFIG_DIR": str(folder / "claude"),
        "RLM_MEMORY_DB": str(folder / "memory.db"),
        "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
    }


class ServerProcess:
    """A server process, spoken to line by line."""

    def __init__(self, command: list[str], folder: Path, place: Path | None = None) -> None:
        """Start it in a place, or in the folder itself, with all its files in the folder."""
        self._begun = time.perf_counter()
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=private_environment(folder),
            cwd=place or folder,
            text=True,
        )

    def send_request(self, message: dict[str, Any]) -> dict[str, Any]:
        """Send a request and return its answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()
        while True:
            answer: dict[str, Any] = json.loads(self.process.stdout.readline())
            if answer.get("id") == message.get("id"):
                return answer

    def send_notification(self, message: dict[str, Any]) -> None:
        """Send a notification."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def call_tool(self, number: int, name: str, arguments: dict[str, Any]) -> None:
        """Call a tool and wait for its answer."""
        call = {"jsonrpc": "2.0", "id": number, "method": "tools/call"}
        self.send_request({**call, "params": {"name": name, "arguments": arguments}})

    @property
    def age_ms(self) -> float:
        """Milliseconds since it was spawned."""
        return 1_000 * (time.perf_counter() - self._begun)

    @property
    def megabytes(self) -> float:
        """Resident memory."""
        return psutil.Process(self.process.pid).memory_info().rss / 1e6

    def close(self) -> None:
        """End it by closing its stdin."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait(20)


def measure_start(command: list[str], folder: Path) -> tuple[float, float]:
    """Return milliseconds from spawn to `initialize` answered, and the megabytes held a moment later."""
    server = ServerProcess(command, folder)
    server.send_request(INITIALIZE)
    elapsed = server.age_ms
    held = server.megabytes
    server.close()
    return elapsed, held


def measure_listing(command: list[str], folder: Path) -> dict[str, Any]:
    """Return the cost of `tools/list`, and the memory held after a fact was remembered and one search made."""
    server = ServerProcess(command, folder)
    server.send_request(INITIALIZE)
    server.send_notification({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = server.send_request({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})["result"]["tools"]
    text = json.dumps(tools, separators=(",", ":"), ensure_ascii=False)
    server.call_tool(3, "remember_fact", {"fact": "Deploys run on Fridays"})
    server.call_tool(4, "search_memory", {"query": "when do deploys run"})
    held = server.megabytes
    server.close()
    return {"tools": len(tools), "characters": len(text), "tokens_by_4": len(text) // 4, "megabytes_in_use": held}


def measure_steps(command: list[str], folder: Path, place: Path) -> dict[str, float]:
    """Return the megabytes that a server holds after each step of a session in a place."""
    server = ServerProcess(command, folder, place)
    held = {}
    server.send_request(INITIALIZE)
    held["`initialize` answered"] = server.megabytes
    server.send_notification({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.send_request({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    held["tools listed"] = server.megabytes
    time.sleep(SETTLED_SECONDS)
    held["services started"] = server.megabytes
    server.call_tool(3, "remember_fact", {"fact": "Deploys run on Fridays"})
    held["the first fact"] = server.megabytes
    server.call_tool(4, "search_memory", {"query": "when do deploys run"})
    held["a search"] = server.megabytes
    server.call_tool(5, "remember_fact", {"fact": "Deploys run on Mondays"})
    held["a fact compared with another"] = server.megabytes
    for number in range(30):
        fact = f"Worker {number} writes its log into folder {number * 7}"
        server.call_tool(10 + 2 * number, "remember_fact", {"fact": fact})
        server.call_tool(11 + 2 * number, "search_memory", {"query": f"where does worker {number} write"})
    held["30 more facts and searches"] = server.megabytes
    server.close()
    return held


def print_steps(command: list[str], runs: int) -> None:
    """Print the table of steps, medians of some runs."""
    found: dict[str, list[dict[str, float]]] = {"no project": [], "a project": []}
    for _ in range(runs):
        for name, kept in found.items():
            with tempfile.TemporaryDirectory(prefix="hl-") as folder:
                place = Path(folder)
                if name == "a project":
                    place /= "project"
                    (place / ".git").mkdir(parents=True)
                    (place / "notes.md").write_text("# Notes\n\nDeploys run at night.\n", encoding="utf-8")
                kept.append(measure_steps(command, Path(folder), place))
    table = MarkdownTable("after", *found)
    for step in found["no project"][0]:
        table.add(step, *(f"{statistics.median(row[step] for row in rows):.1f}" for rows in found.values()))
    table.print()


def main() -> None:
    """Run both servers in turns and print the table or JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench startup", description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results, named by commit")
    parser.add_argument("--steps", action="store_true", help="what the server holds after each step of a session")
    options = parser.parse_args()
    commands = {
        "empty SDK server": [sys.executable, "-c", EMPTY],
        "hyperloci serve": [sys.executable, "-m", "hyperloci", "serve"],
    }
    if options.steps:
        print_steps(commands["hyperloci serve"], options.runs)
        return
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="hl-") as folder:
        for _ in range(options.runs + 1):
            for name, command in commands.items():
                found[name].append(measure_start(command, Path(folder)))
        tools = measure_listing(commands["hyperloci serve"], Path(folder))
    medians = {
        name: {
            "initialize_ms": round(statistics.median(ms for ms, _ in runs[1:]), 1),
            "megabytes": round(statistics.median(mb for _, mb in runs[1:]), 1),
        }
        for name, runs in found.items()
    }
    ratio = medians["hyperloci serve"]["initialize_ms"] / medians["empty SDK server"]["initialize_ms"]
    answer = {"runs": options.runs, "servers": medians, "ratio": round(ratio, 3), "core_listing": tools}
    if options.save:
        save_result("startup", answer)
    if options.json:
        print(json.dumps(answer, indent=2))
        return
    table = MarkdownTable("server", "initialize, ms (median)", "MB then")
    for name, values in medians.items():
        table.add(name, values["initialize_ms"], values["megabytes"])
    table.print()
    print(f"\nratio {ratio:.2f}; tools/list of the core set: {tools}")


if __name__ == "__main__":
    main()
