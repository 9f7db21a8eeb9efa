"""Another program holds the write lock for minutes: reads go on, and nobody reads SQLite's words."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.conftest import SOON, House

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""

COMMANDS = (
    ["remember", "The lighthouse is painted green."],
    ["query", "harbour"],
    ["stats"],
    ["doctor"],
    ["index"],
    ["upkeep"],
    ["backup", "copy.db"],
)


@contextmanager
def held(house: House) -> Iterator[None]:
    command = [sys.executable, "-c", HOLD, str(house.database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        try:
            yield
        finally:
            holder.kill()


def started(house: House, arguments: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [house.command[0], *arguments],
        env=house.environment,
        cwd=house.project,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.req("SPEC-02.04")
def test_nobody_is_told_of_a_lock_and_reads_go_on(house: House) -> None:
    house.extra["HYPERLOCI_TOOLS"] = "all"
    with house.server() as server:
        server.shake_hands()
        known = server.call("remember_fact", fact="The harbour has three cranes.")["structuredContent"]["id"]
        with held(house):
            commands = {arguments[0]: started(house, arguments) for arguments in COMMANDS}
            [hit] = server.call("search_memory", query="harbour cranes")["structuredContent"]["results"]
            assert hit["id"] == known
            assert not server.call("memory_stats")["isError"]
            asked = {
                name: server.send("tools/call", {"name": name, "arguments": arguments})
                for name, arguments in (
                    ("remember_fact", {"fact": "The lighthouse is painted green."}),
                    ("memory_repl", {"code": "print('so far')\nmemory_add_fact('The tug is red.')"}),
                    ("index_path", {"path": "."}),
                )
            }
            answers = {name: server.read_any() for name in asked}
            said = [json.dumps(answer) for answer in answers.values()]
            told = {name: command.communicate(timeout=6 * SOON)[0] for name, command in commands.items()}
        assert all("locked" not in words.lower() for words in [*said, *told.values()])
        assert sum("Another program is writing to the memory" in words for words in said) == len(asked)
        assert "so far" in "".join(said)
        for name in ("remember", "doctor", "index", "upkeep"):
            assert "Another program is writing to the memory" in " ".join(told[name].split()), told[name]
        assert "three cranes" in told["query"]
        assert commands["backup"].returncode == 0
        assert not server.call("remember_fact", fact="The lighthouse is painted green.")["isError"]
