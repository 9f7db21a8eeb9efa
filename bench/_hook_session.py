"""A session of prompts and tool uses through real hooks: what was kept, what was injected, and how long hooks took.

Each hook stands against a Python that only imports `socket` and `json`, run in turns with it: on a machine that has
other things to do, only the ratio says something.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hyperloci.config import Settings
from hyperloci.memory import Memory
from hyperloci_hooks.event_work import EventWork
from hyperloci_hooks.open_memories import OpenMemories
from hyperloci_hooks.outcome_statistics import HookStatistics
from hyperloci_hooks.spool import drain_spool, list_waiting_files

BARE = (sys.executable, "-c", "import socket, json")
SPINNER = (sys.executable, "-c", "while True: pass")
TOOLS_A_PROMPT = 3
SETTLE_SECONDS = 600
FIRST_MEMORIES = 300
LEGACY = "2025-11-25"

_THINGS = [
    "gateway",
    "importer",
    "scheduler",
    "mailer",
    "exporter",
    "resolver",
    "archive",
    "dashboard",
    "crawler",
    "ledger",
]
_OWNERS = ("edge", "invoice", "night", "customs", "tariff", "branch", "sensor", "loyalty", "parking", "freight")
_FACTS = (
    "listens on TLS port 9443 and nowhere else",
    "retries four times, then parks the batch",
    "skips public holidays of the tenant",
    "signs each message with the Frankfurt key",
    "writes UTF-16 because the customer's Excel needs it",
    "asks the secondary name server first",
    "keeps originals for eleven years",
    "hides amounts below one euro",
    "respects the robots file of the partner",
    "rounds half to even before it adds up",
)
"""Memories of which no two are alike: what nearly all memories say tells nothing, and no prompt brings it up."""


class SessionPlace:
    """A home, a project and a database, and what a session says in them."""

    def __init__(self, folder: Path, prompts: int, *, embedder: bool = False) -> None:
        self.prompts = prompts
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True)
        keep = {key: os.environ[key] for key in ("PATH", "PYTHONPATH", "SYSTEMROOT") if key in os.environ}
        self.environ = keep | {
            "HOME": str(folder),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
            "HYPERLOCI_EMBEDDER": str(embedder).lower(),
            "HYPERLOCI_WATCH": "false",
        }
        self.settings = Settings.from_env(self.environ, self.project)
        with self.open_memory() as memory:
            for number in range(prompts):
                memory.remember_fact(f"The {_name_thing(number)} of {_event_name(number)} {_FACTS[number % 10]}")
            if embedder:
                with memory.keep_embedder_running():
                    memory.embed_pending()

    @contextlib.contextmanager
    def open_memory(self) -> Iterator[Memory]:
        with Memory.open(self.settings, self.project) as memory:
            yield memory

    def event_payload(self, session: str, event: str, number: int, part: int = 0) -> bytes:
        """Return what Claude Code would tell of an event."""
        fields: dict[str, Any] = {"session_id": session, "cwd": str(self.project)}
        if event == "UserPromptSubmit":
            asked = f"{_name_thing(number)} of {_event_name(number)}"
            fields |= {
                "prompt": f"Please make the {asked} work when the network is down.",
                "prompt_id": f"{session}-p{number}",
            }
        else:
            use = {"command": f"pytest -q tests/test_{number}_{part}.py"}
            fields |= {"tool_name": "Bash", "tool_input": use, "tool_use_id": f"{session}-t{number}-{part}"}
            fields |= {"tool_response": {"stdout": "ok\n" * 200}}
        return json.dumps(fields).encode()

    def count_kept(self, session: str) -> int:
        """Return how many events of a session are stored once nothing is under way any more."""
        until = time.monotonic() + SETTLE_SECONDS
        with self.open_memory() as memory:
            while time.monotonic() < until:
                drain_spool(memory)
                spool = self.settings.spool_dir
                if not HookStatistics.read_log(str(spool)).under_way and not list_waiting_files(spool):
                    break
                time.sleep(0.1)
            nodes = memory.store.nodes.query_nodes("experience", subtypes=("episode", "action"), limit=100_000)
        return sum(node.session_id == session for node in nodes)


def _name_thing(number: int) -> str:
    return f"{_OWNERS[number % 10]} {_THINGS[number // 10 % 10]}"


def _event_name(number: int) -> str:
    syllables = ("zor", "bek", "lum", "tar", "vix", "qua", "nep", "dril", "ost", "hum")
    return "".join(syllables[int(digit)] for digit in f"{number:03d}")


@contextlib.contextmanager
def keep_busy(count: int) -> Iterator[None]:
    """Keep processors busy with so many processes."""
    with contextlib.ExitStack() as stack:
        for _ in range(count):
            process = subprocess.Popen(SPINNER)
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield


@contextlib.contextmanager
def run_server(place: SessionPlace) -> Iterator[None]:
    """Run a server, from when it listens to hooks."""
    with subprocess.Popen(
        [sys.executable, "-m", "hyperloci", "serve"],
        env=place.environ,
        cwd=place.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin and process.stdout
        hello = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}},
        ):
            process.stdin.write(json.dumps(message).encode() + b"\n")
            process.stdin.flush()
        sockets = Path(place.settings.installation_paths.sockets)
        while not list(sockets.glob(f"{process.pid}.s")):
            time.sleep(0.02)
        yield
        process.stdin.close()


def time_process(command: tuple[str, ...], told: bytes, environ: Mapping[str, str]) -> tuple[float, dict[str, Any]]:
    """Return how long a process took, in milliseconds, and what it answered."""
    began = time.perf_counter()
    done = subprocess.run(command, input=told, env=dict(environ), capture_output=True, check=True)
    took = 1_000 * (time.perf_counter() - began)
    return took, json.loads(done.stdout or b"{}")


def run_session(place: SessionPlace, session: str) -> dict[str, Any]:
    """Run a session and return what came of it."""
    hook = str(Path(sys.executable).parent / "hyperloci-hook")
    times: defaultdict[str, list[float]] = defaultdict(list)
    injected = 0
    time_process((hook, "SessionStart"), json.dumps({"session_id": session, "source": "clear"}).encode(), place.environ)
    for number in range(place.prompts):
        times["bare"].append(time_process(BARE, b"", place.environ)[0])
        took, answer = time_process(
            (hook, "UserPromptSubmit"), place.event_payload(session, "UserPromptSubmit", number), place.environ
        )
        times["UserPromptSubmit"].append(took)
        injected += "hookSpecificOutput" in answer
        for part in range(TOOLS_A_PROMPT):
            told = place.event_payload(session, "PostToolUse", number, part)
            times["PostToolUse"].append(time_process((hook, "PostToolUse"), told, place.environ)[0])
        times["SessionStart"].append(_time_start(hook, place, number))
    bare = _quantile_of(times["bare"], 0.5), _quantile_of(times["bare"], 0.95)
    found: dict[str, Any] = {
        "kept": place.count_kept(session),
        "events": place.prompts * (1 + TOOLS_A_PROMPT),
        "injected": injected,
        "prompts": place.prompts,
    }
    for event in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        middle, end = _quantile_of(times[event], 0.5), _quantile_of(times[event], 0.95)
        found[event] = {
            "p50_ms": round(middle, 1),
            "p95_ms": round(end, 1),
            "p50_ratio": round(middle / bare[0], 2),
            "p95_ratio": round(end / bare[0], 2),
            "p95_to_p95": round(end / bare[1], 2),
        }
    found["bare_ms"] = [round(value, 1) for value in bare]
    return found


def time_first_prompts(starts: int, prompts: int = 6) -> list[list[float]]:
    """Return for each start of a server how long its first prompts' hooks took, in milliseconds.

    The server has memories with vectors, listens to hooks, and starts its embedder meanwhile.
    """
    hook = (sys.executable, "-m", "hyperloci_hooks.run", "UserPromptSubmit")
    found: list[list[float]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = SessionPlace(Path(folder), FIRST_MEMORIES, embedder=True)
        for start in range(starts):
            with run_server(place):
                told = [place.event_payload(f"first-{start}", "UserPromptSubmit", number) for number in range(prompts)]
                found.append([round(time_process(hook, each, place.environ)[0]) for each in told])
    return found


def _time_start(hook: str, place: SessionPlace, number: int) -> float:
    told = json.dumps({"session_id": f"other-{number}", "source": "startup"}).encode()
    return time_process((hook, "SessionStart"), told, place.environ)[0]


def _quantile_of(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def count_due(prompts: int) -> int:
    """Return how many prompts bring something up where nobody is in a hurry.

    Raises:
        RuntimeError: none does, and a session would time prompts without a context.
    """
    with tempfile.TemporaryDirectory() as folder:
        place, memories = SessionPlace(Path(folder), prompts), OpenMemories()
        answers = []
        for number in range(prompts):
            work = EventWork("UserPromptSubmit", place.environ, lend=memories.lend_memory)
            answers.append(work.answer_event(place.event_payload("session", "UserPromptSubmit", number)))
        memories.close_all()
    if not (due := sum("hookSpecificOutput" in answer for answer in answers)):
        raise RuntimeError("no prompt brings anything up: there is nothing to time")
    return due


def compare_sessions(prompts: int, spinners: int) -> dict[str, dict[str, Any]]:
    """Return what came of a session with a server and without, quiet and on a busy machine."""
    found, due_at_all = {}, count_due(prompts)
    for label, served, load in (
        ("server, quiet", True, 0),
        ("server, busy", True, spinners),
        ("no server, quiet", False, 0),
        ("no server, busy", False, spinners),
    ):
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            place = SessionPlace(Path(folder), prompts)
            if served:
                stack.enter_context(run_server(place))
            stack.enter_context(keep_busy(load))
            found[label] = {**run_session(place, "session"), "due": due_at_all}
    return found
