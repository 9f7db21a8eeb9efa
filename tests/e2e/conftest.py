"""The installed server in a process of its own, in a house of its own: nothing of the user's is read or written."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
from mcp import Client, StdioServerParameters

from hyperloci.config import Settings
from hyperloci.memory import Memory

SOON = 50
"""Seconds that a process may take to answer or end on a busy machine; a hang is a failure, slowness is not."""

KEPT = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG")
"""All that the server inherits of this process's environment."""

LEGACY, MODERN = "2025-11-25", "2026-07-28"

Json = dict[str, Any]


@dataclass
class House:
    """A home, a project and a database for one test.

    Attributes:
        root: the folder of it all.
        extra: environment variables beside those that isolate it.
        program: what to run instead of the installed server.
    """

    root: Path
    extra: dict[str, str] = field(default_factory=dict)
    program: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for folder in (self.home, self.project, self.root / "run"):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def database(self) -> Path:
        return self.root / "memory.db"

    @property
    def environment(self) -> dict[str, str]:
        return {
            **{name: os.environ[name] for name in KEPT if name in os.environ},
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "RLM_MEMORY_DB": str(self.database),
            "HYPERLOCI_RUNTIME_DIR": str(self.root / "run"),
            "HYPERLOCI_EMBEDDER": "0",
            "HYPERLOCI_WATCH": "0",
            **self.extra,
        }

    @property
    def command(self) -> list[str]:
        if self.program:
            return self.program
        installed = shutil.which("hyperloci", path=str(Path(sys.executable).parent))
        assert installed is not None, "the package is not installed beside this Python"
        return [installed, "serve"]

    @asynccontextmanager
    async def client(self, mode: str = "legacy") -> AsyncIterator[Client]:
        """Start a server and join the SDK's client to it."""
        program, *arguments = self.command
        parameters = StdioServerParameters(command=program, args=arguments, env=self.environment, cwd=str(self.project))
        async with Client(parameters, mode=mode, read_timeout_seconds=SOON) as client:
            yield client

    @contextmanager
    def server(self) -> Iterator[Server]:
        """Start a server and speak to it line by line."""
        with Server(self) as server:
            yield server

    @contextmanager
    def memory(self) -> Iterator[Memory]:
        """Open the database without a server."""
        with Memory.open(Settings.from_env(self.environment, self.project), self.project) as memory:
            yield memory


@contextmanager
def running_command(house: House, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a command that prints one line and goes on; yield its process and the line, and end it."""
    with subprocess.Popen(
        [house.command[0], *arguments],
        env=house.environment,
        cwd=house.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


class Server:
    """A server process, and JSON-RPC by hand: what an SDK would hide can be seen here."""

    def __init__(self, house: House) -> None:
        self.lines: list[bytes] = []
        self._next = 0
        # A file, not a pipe: nobody would empty it while the test reads stdout.
        self._errors = (house.root / "stderr.txt").open("a+b")
        self.process = subprocess.Popen(
            house.command,
            env=house.environment,
            cwd=house.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(SOON)
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            assert pipe is not None
            try:
                pipe.close()
            except BrokenPipeError:
                continue

    def write(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: Json | None = None, *, notify: bool = False) -> int:
        self._next += 1
        message: Json = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if not notify:
            message["id"] = self._next
        self.write(json.dumps(message).encode())
        return self._next

    def read(self, wanted: int) -> Json:
        """Return the answer to a request; other messages are kept in `lines`."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self.lines.append(line)
            message: Json = json.loads(line)
            if message.get("id") == wanted:
                return message
        raise AssertionError(f"the server ended: {self.complaints()}")

    def read_any(self) -> Json:
        """Return the next answer to any request."""
        assert self.process.stdout is not None
        while line := self.process.stdout.readline():
            self.lines.append(line)
            message: Json = json.loads(line)
            if "id" in message:
                return message
        raise AssertionError(f"the server ended: {self.complaints()}")

    def ask(self, method: str, params: Json | None = None) -> Json:
        return self.read(self.send(method, params))

    def shake_hands(self) -> Json:
        answer = self.ask(
            "initialize",
            {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self.send("notifications/initialized", notify=True)
        return answer

    def call(self, tool: str, **arguments: Any) -> Json:
        result: Json = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def until(self, condition: Callable[[Json], bool]) -> Json:
        """Ask for the statistics until they meet a condition, and return them."""
        deadline = time.monotonic() + 2 * SOON
        while True:
            stats: Json = self.call("memory_stats")["structuredContent"]
            if condition(stats):
                return stats
            assert time.monotonic() < deadline, stats
            threading.Event().wait(0.05)

    def end(self) -> int:
        """Close stdin, as a client that goes away does, and return the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(SOON)

    def complaints(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode()


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)
