"""Killing everything that writes, at random moments, and counting what is left of what was acknowledged.

    python -m bench torture [--kills 1000] [--embedder] [--writers 8] [--minutes 5] [--seed 1] [--json]

First part: writers over the façade, servers with watchers that are spoken to over stdio, hooks, rounds of upkeep and
(with `--embedder`) the embedder itself work on one database and one project, whose files change; processes among them
are killed with SIGKILL, one after another, until so many are dead. Second part: so many processes write at once, for so
long, and nobody is killed. After each, everything that was acknowledged is looked for.

It exits with 1 if anything was lost, doubled or damaged, or if any caller was told that the database is locked.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from bench._shared import Table, save_result
from bench._torture_check import Expected, Verdict, judge
from bench._torture_roles import Journal, look_after, write_on
from hyperloci.config import Settings
from hyperloci_hooks.budget import PATIENCE_SECONDS, SECONDS

WRITERS = 3
SERVERS = 2
PAUSE_SECONDS = 0.2
"""Mean time between two kills. Most are enlisted for them only when they have written something."""

FILES = 12
"""Files of the project that are written anew all the time."""

SOON = 30


class House:
    """A home, a project and a database of their own."""

    def __init__(self, root: Path, *, embedder: bool) -> None:
        self.root = root
        self.project = root / "project"
        self.journals = root / "journals"
        self.stop = root / "stop"
        for folder in (self.project, self.journals, root / "home", root / "run"):
            folder.mkdir(parents=True)
        self.environ = {
            **{name: os.environ[name] for name in ("PATH", "LANG", "SYSTEMROOT", "PYTHONPATH") if name in os.environ},
            "HOME": str(root / "home"),
            "CLAUDE_CONFIG_DIR": str(root / "home" / ".claude"),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "RLM_MEMORY_DB": str(root / "memory.db"),
            "HYPERLOCI_RUNTIME_DIR": str(root / "run"),
            "HYPERLOCI_EMBEDDER": "1" if embedder else "0",
            "HYPERLOCI_WATCH": "1",
        }

    @property
    def settings(self) -> Settings:
        return Settings.from_env(self.environ, self.project)


@dataclass(slots=True)
class Ranks:
    """Who is alive, by role: what the killer chooses from."""

    alive: dict[str, Callable[[], None]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    kills: Counter[str] = field(default_factory=Counter)

    def enlist(self, name: str, kill: Callable[[], None]) -> None:
        with self.lock:
            self.alive[name] = kill

    def discharge(self, name: str) -> None:
        with self.lock:
            self.alive.pop(name, None)

    def kill_one(self, chance: random.Random) -> bool:
        with self.lock:
            if not self.alive:
                return False
            name = chance.choice(sorted(self.alive))
            kill = self.alive.pop(name)
        kill()
        self.kills[name.partition("-")[0]] += 1
        return True


class Torture:
    """One house under torture."""

    def __init__(self, house: House, seed: int) -> None:
        self.house = house
        self.ranks = Ranks()
        self._seed = seed
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["bench._torture_roles", "hyperloci.memory", "hyperloci.lifecycle.facts"])

    # -- those who work -----------------------------------------------------------------------------------------------

    def keep(self, role: Callable[[str, Journal, random.Random], None], name: str) -> None:
        """Have a thread play a role again and again, whatever kills it."""

        def run() -> None:
            journal, chance = Journal(self.house.journals / f"{name}.jsonl"), random.Random(f"{self._seed} {name}")
            while not self._ending.is_set():
                role(name, journal, chance)

        thread = threading.Thread(target=run, name=name)
        self._threads.append(thread)
        thread.start()

    def child(self, name: str, journal: Journal, chance: random.Random) -> None:
        """Live one life of a writer or of upkeep, in a process."""
        settings, path = self.house.settings, self.house.journals / f"{name}-child.jsonl"
        if name.startswith("upkeep"):
            process = self._context.Process(target=look_after, args=(settings, path, self.house.stop))
        else:
            life = f"{name.replace('-', '')}l{chance.randrange(10**9)}"
            process = self._context.Process(
                target=write_on, args=(settings, self.house.project, path, life, self.house.stop)
            )
        # Like servers: some are killed as they start, most after they have written something.
        wanted = _size(path) + chance.choice((0, 300, 1_500, 6_000) if name.startswith("writer") else (0, 20, 100))
        process.start()
        while _size(path) < wanted and process.is_alive():
            process.join(0.02)
        self.ranks.enlist(name, process.kill)
        process.join()
        self.ranks.discharge(name)

    def server(self, name: str, journal: Journal, chance: random.Random) -> None:
        """Live one life of a server that is told facts over stdio."""
        process = subprocess.Popen(
            [shutil.which("hyperloci", path=str(Path(sys.executable).parent)) or "hyperloci", "serve"],
            env=self.house.environ,
            cwd=self.house.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        # A quarter are killed as they start; the others are left in peace until they have served.
        served = chance.choice((0, 1, 4, 12))
        try:
            if not served:
                self.ranks.enlist(name, process.kill)

            def enlist(told: int) -> None:
                if told == served:
                    self.ranks.enlist(name, process.kill)

            word = f"zq{name.replace('-', '')}p{process.pid}r{chance.randrange(10**9)}"
            self._converse(process, journal, word, enlist)
        except (BrokenPipeError, ConnectionResetError, EOFError):
            pass
        finally:
            self.ranks.discharge(name)
            process.kill()
            process.communicate()

    def _converse(
        self, process: subprocess.Popen[bytes], journal: Journal, word: str, told: Callable[[int], None]
    ) -> None:
        who = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "torture", "version": "1"}}
        _ask(process, 0, "initialize", who)
        _tell(process, {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})
        number = 0
        while not self._ending.is_set():
            number += 1
            text = f"{word}n{number}: a server was told that this takes {number} units."
            started = time.perf_counter()
            answer = _ask(process, number, "tools/call", {"name": "remember_fact", "arguments": {"fact": text}})
            result = answer.get("result", {})
            if result.get("isError") or "error" in answer:
                journal.say(n=number, error="tool", message=json.dumps(answer)[:300], kind="tool")
            else:
                ms = round(1_000 * (time.perf_counter() - started), 2)
                journal.say(n=number, done="remember", id=result["structuredContent"]["id"], text=text, ms=ms)
            told(number)

    def hook(self, name: str, journal: Journal, chance: random.Random) -> None:
        """Live one life of a hook that is told a prompt; its exit with 0 is the acknowledgement.

        One whose time and patience were up before it knew what it was told leaves that to the transcript; there is none
        here, so it counts as late.
        """
        text = f"zq{name.replace('-', '')}r{chance.randrange(10**12)}: where does the importer keep its cursor?"
        told = {"session_id": name, "cwd": str(self.house.project), "prompt": text, "prompt_id": text[:40]}
        started = time.monotonic()
        process = subprocess.Popen(
            [sys.executable, "-m", "hyperloci_hooks.run", "UserPromptSubmit"],
            env=self.house.environ,
            cwd=self.house.project,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        if chance.random() < 0.5:
            self.ranks.enlist(name, process.kill)
        _, said = process.communicate(json.dumps({"hook_event_name": "UserPromptSubmit", **told}).encode())
        self.ranks.discharge(name)
        if process.returncode == 0:
            in_time = time.monotonic() - started < SECONDS["UserPromptSubmit"] + PATIENCE_SECONDS
            journal.say(n=1, **({"done": "hook"} if in_time else {"late": "hook"}), texts=[text])
        elif process.returncode != -9:
            journal.say(n=1, error="hook", message=said.decode(errors="replace")[-300:], kind="hook")

    def change_files(self, name: str, journal: Journal, chance: random.Random) -> None:
        """Write a file of the project anew."""
        number = chance.randrange(FILES)
        words = " ".join(chance.choices("the cursor of an importer stays where its batch began".split(), k=60))  # noqa: SIM905
        (self.house.project / f"note{number}.md").write_text(f"# Note {number}\n\nzqfile{number}marker {words}.\n")
        self._ending.wait(0.3)

    # -- those who kill -----------------------------------------------------------------------------------------------

    def kill(self, count: int) -> None:
        """Kill so many, one after another."""
        chance = random.Random(self._seed)
        while sum(self.ranks.kills.values()) < count:
            time.sleep(chance.expovariate(1 / PAUSE_SECONDS))
            if self.house.settings.embedder and chance.random() < 0.1:
                self._kill_embedder()
            elif not self.ranks.kill_one(chance):
                time.sleep(PAUSE_SECONDS)

    def _kill_embedder(self) -> None:
        for process in psutil.Process().children(recursive=True):
            try:
                if "hyperloci.embedder.process" in process.cmdline():
                    process.kill()
                    self.ranks.kills["embedder"] += 1
                    return
            except psutil.Error:
                continue

    def end(self) -> None:
        """Have everybody stop, servers by a last kill."""
        self._ending.set()
        self.house.stop.touch()
        while any(thread.is_alive() for thread in self._threads):
            with self.ranks.lock:
                for name in [name for name in self.ranks.alive if name.startswith("server")]:
                    self.ranks.alive.pop(name)()
            time.sleep(0.05)

    def verdict(self, markers: list[str]) -> tuple[Verdict, Expected]:
        expected = Expected()
        for journal in sorted(self.house.journals.iterdir()):
            expected.read(journal)
        return judge(self.house.settings, self.house.project, expected, markers), expected


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _tell(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def _ask(process: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdout is not None
    _tell(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while line := process.stdout.readline():
        if not line.endswith(b"\n"):
            break
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == number:
            return answer
    raise EOFError


@dataclass(slots=True)
class Outcome:
    """One part's figures."""

    name: str
    seconds: float
    kills: dict[str, int]
    verdict: Verdict
    per_second: float
    p50_ms: float
    p99_ms: float
    worst_ms: float

    @property
    def sound(self) -> bool:
        return self.verdict.sound


def _outcome(name: str, torture: Torture, started: float, markers: list[str]) -> Outcome:
    seconds = time.perf_counter() - started
    verdict, expected = torture.verdict(markers)
    ms = sorted(expected.ms) or [0.0]
    return Outcome(
        name=name,
        seconds=round(seconds, 1),
        kills=dict(torture.ranks.kills),
        verdict=verdict,
        per_second=round(expected.acknowledged / seconds, 1),
        p50_ms=ms[len(ms) // 2],
        p99_ms=ms[len(ms) * 99 // 100],
        worst_ms=ms[-1],
    )


def under_fire(root: Path, kills: int, *, embedder: bool = False, seed: int = 1) -> Outcome:
    """Kill so many processes of mixed load and compare."""
    house = House(root, embedder=embedder)
    torture = Torture(house, seed)
    started = time.perf_counter()
    for number in range(WRITERS):
        torture.keep(torture.child, f"writer-{number}")
    for number in range(SERVERS):
        torture.keep(torture.server, f"server-{number}")
    torture.keep(torture.child, "upkeep-0")
    torture.keep(torture.hook, "hook-0")
    torture.keep(torture.change_files, "files-0")
    try:
        torture.kill(kills)
    finally:
        torture.end()
    markers = [f"zqfile{number}marker" for number in range(FILES) if (house.project / f"note{number}.md").exists()]
    return _outcome("kills" + (" with embedder" if embedder else ""), torture, started, markers)


def all_at_once(root: Path, writers: int, seconds: float, *, seed: int = 1) -> Outcome:
    """Have so many processes write at once, for so long, and compare."""
    torture = Torture(House(root, embedder=False), seed)
    started = time.perf_counter()
    for number in range(writers):
        torture.keep(torture.child, f"writer-{number}")
    time.sleep(seconds)
    torture.end()
    return _outcome(f"{writers} writers at once", torture, started, [])


def _print(outcomes: list[Outcome]) -> None:
    table = Table("", *(outcome.name for outcome in outcomes))
    table.add("seconds", *(outcome.seconds for outcome in outcomes))
    for what in ("acknowledged", "found", "memories", "late", "late_found", "backups", "locked"):
        table.add(what, *(getattr(outcome.verdict, what) for outcome in outcomes))
    for what in ("lost", "wrong_state", "duplicates", "unsearchable", "problems", "bad_backups"):
        table.add(what.replace("_", " "), *(len(getattr(outcome.verdict, what)) for outcome in outcomes))
    table.add("errors shown", *(outcome.verdict.errors or "none" for outcome in outcomes))
    table.add("kills", *(f"{sum(outcome.kills.values())} {outcome.kills or ''}" for outcome in outcomes))
    table.add("acknowledged a second", *(outcome.per_second for outcome in outcomes))
    table.add("p50 / p99 / worst, ms", *(f"{o.p50_ms} / {o.p99_ms} / {o.worst_ms}" for o in outcomes))
    table.print()
    for outcome in outcomes:
        verdict = outcome.verdict
        for what in ("lost", "wrong_state", "duplicates", "unsearchable", "problems", "bad_backups"):
            for line in getattr(verdict, what)[:5]:
                print(f"{outcome.name}: {what}: {line}")
        for kind, message in verdict.messages.items():
            print(f"{outcome.name}: {kind}: {message}")


def main() -> None:
    """Torture, print and judge."""
    parser = argparse.ArgumentParser(prog="python -m bench torture", description=__doc__)
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--embedder", action="store_true")
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory(prefix="torture-", ignore_cleanup_errors=True) as folder:
        if options.kills:
            outcomes.append(
                under_fire(Path(folder) / "fire", options.kills, embedder=options.embedder, seed=options.seed)
            )
        if options.minutes:
            outcomes.append(
                all_at_once(Path(folder) / "crowd", options.writers, 60 * options.minutes, seed=options.seed)
            )
    if options.json:
        print(json.dumps([asdict(outcome) for outcome in outcomes], indent=2))
    else:
        _print(outcomes)
    save_result("torture", {"options": vars(options), "outcomes": [asdict(outcome) for outcome in outcomes]})
    sys.exit(not all(outcome.sound for outcome in outcomes))


if __name__ == "__main__":
    main()
