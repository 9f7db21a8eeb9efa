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

from bench._shared import MarkdownTable, save_result
from bench._torture_check import ExpectedState, TortureVerdict, judge_database
from bench._torture_roles import WriterJournal, look_after, write_on
from hyperloci.config import Settings
from hyperloci_hooks.budget import PATIENCE_SECONDS, SECONDS

WRITERS = 3
SERVERS = 2
PAUSE_SECONDS = 0.2
"""Mean time between two kills. Most are enlisted for them only when they have written something."""

FILES = 12
"""Files of the project that are written anew all the time."""

SOON = 30


class TortureHouse:
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
class LivingRoles:
    """Who is alive, by role: what the killer chooses from."""

    alive: dict[str, Callable[[], None]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    kills: Counter[str] = field(default_factory=Counter)

    def add_role(self, name: str, kill: Callable[[], None]) -> None:
        with self.lock:
            self.alive[name] = kill

    def remove_role(self, name: str) -> None:
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

    def __init__(self, house: TortureHouse, seed: int) -> None:
        self.house = house
        self.ranks = LivingRoles()
        self._seed = seed
        self._ending = threading.Event()
        self._threads: list[threading.Thread] = []
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["bench._torture_roles", "hyperloci.memory", "hyperloci.facts.facts"])

    # -- those who work -----------------------------------------------------------------------------------------------

    def keep_playing(self, role: Callable[[str, WriterJournal, random.Random], None], name: str) -> None:
        """Have a thread play a role again and again, whatever kills it."""

        def run() -> None:
            journal, chance = (
                WriterJournal(self.house.journals / f"{name}.jsonl"),
                random.Random(f"{self._seed} {name}"),
            )
            while not self._ending.is_set():
                role(name, journal, chance)

        thread = threading.Thread(target=run, name=name)
        self._threads.append(thread)
        thread.start()

    def live_writer(self, name: str, journal: WriterJournal, chance: random.Random) -> None:
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
        wanted = _file_size(path) + chance.choice((0, 300, 1_500, 6_000) if name.startswith("writer") else (0, 20, 100))
        process.start()
        while _file_size(path) < wanted and process.is_alive():
            process.join(0.02)
        self.ranks.add_role(name, process.kill)
        process.join()
        self.ranks.remove_role(name)

    def live_server(self, name: str, journal: WriterJournal, chance: random.Random) -> None:
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
                self.ranks.add_role(name, process.kill)

            def enlist(told: int) -> None:
                if told == served:
                    self.ranks.add_role(name, process.kill)

            word = f"zq{name.replace('-', '')}p{process.pid}r{chance.randrange(10**9)}"
            self._tell_facts(process, journal, word, enlist)
        except (BrokenPipeError, ConnectionResetError, EOFError):
            pass
        finally:
            self.ranks.remove_role(name)
            process.kill()
            process.communicate()

    def _tell_facts(
        self, process: subprocess.Popen[bytes], journal: WriterJournal, word: str, told: Callable[[int], None]
    ) -> None:
        who = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "torture", "version": "1"}}
        _send_request(process, 0, "initialize", who)
        _send_line(process, {"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})
        number = 0
        while not self._ending.is_set():
            number += 1
            text = f"{word}n{number}: a server was told that this takes {number} units."
            started = time.perf_counter()
            answer = _send_request(
                process, number, "tools/call", {"name": "remember_fact", "arguments": {"fact": text}}
            )
            result = answer.get("result", {})
            if result.get("isError") or "error" in answer:
                journal.write_line(n=number, error="tool", message=json.dumps(answer)[:300], kind="tool")
            else:
                ms = round(1_000 * (time.perf_counter() - started), 2)
                journal.write_line(n=number, done="remember", id=result["structuredContent"]["id"], text=text, ms=ms)
            told(number)

    def live_hook(self, name: str, journal: WriterJournal, chance: random.Random) -> None:
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
            self.ranks.add_role(name, process.kill)
        _, said = process.communicate(json.dumps({"hook_event_name": "UserPromptSubmit", **told}).encode())
        self.ranks.remove_role(name)
        if process.returncode == 0:
            in_time = time.monotonic() - started < SECONDS["UserPromptSubmit"] + PATIENCE_SECONDS
            journal.write_line(n=1, **({"done": "hook"} if in_time else {"late": "hook"}), texts=[text])
        elif process.returncode != -9:
            journal.write_line(n=1, error="hook", message=said.decode(errors="replace")[-300:], kind="hook")

    def change_files(self, name: str, journal: WriterJournal, chance: random.Random) -> None:
        """Write a file of the project anew."""
        number = chance.randrange(FILES)
        words = " ".join(chance.choices("the cursor of an importer stays where its batch began".split(), k=60))  # noqa: SIM905
        (self.house.project / f"note{number}.md").write_text(f"# Note {number}\n\nzqfile{number}marker {words}.\n")
        self._ending.wait(0.3)

    # -- those who kill -----------------------------------------------------------------------------------------------

    def kill_some(self, count: int) -> None:
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
                if "hyperloci.embedder.process.main" in process.cmdline():
                    process.kill()
                    self.ranks.kills["embedder"] += 1
                    return
            except psutil.Error:
                continue

    def end_all(self) -> None:
        """Have everybody stop, servers by a last kill."""
        self._ending.set()
        self.house.stop.touch()
        while any(thread.is_alive() for thread in self._threads):
            with self.ranks.lock:
                for name in [name for name in self.ranks.alive if name.startswith("server")]:
                    self.ranks.alive.pop(name)()
            time.sleep(0.05)

    def check_database(self, markers: list[str]) -> tuple[TortureVerdict, ExpectedState]:
        expected = ExpectedState()
        for journal in sorted(self.house.journals.iterdir()):
            expected.read_journal(journal)
        return judge_database(self.house.settings, self.house.project, expected, markers), expected


def _file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def _send_line(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def _send_request(process: subprocess.Popen[bytes], number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdout is not None
    _send_line(process, {"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    while line := process.stdout.readline():
        if not line.endswith(b"\n"):
            break
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == number:
            return answer
    raise EOFError


@dataclass(slots=True)
class TortureOutcome:
    """One part's figures."""

    name: str
    seconds: float
    kills: dict[str, int]
    verdict: TortureVerdict
    per_second: float
    p50_ms: float
    p99_ms: float
    worst_ms: float

    @property
    def is_sound(self) -> bool:
        return self.verdict.is_sound


def _outcome_of(name: str, torture: Torture, started: float, markers: list[str]) -> TortureOutcome:
    seconds = time.perf_counter() - started
    verdict, expected = torture.check_database(markers)
    ms = sorted(expected.ms) or [0.0]
    return TortureOutcome(
        name=name,
        seconds=round(seconds, 1),
        kills=dict(torture.ranks.kills),
        verdict=verdict,
        per_second=round(expected.acknowledged / seconds, 1),
        p50_ms=ms[len(ms) // 2],
        p99_ms=ms[len(ms) * 99 // 100],
        worst_ms=ms[-1],
    )


def under_fire(root: Path, kills: int, *, embedder: bool = False, seed: int = 1) -> TortureOutcome:
    """Kill so many processes of mixed load and compare."""
    house = TortureHouse(root, embedder=embedder)
    torture = Torture(house, seed)
    started = time.perf_counter()
    for number in range(WRITERS):
        torture.keep_playing(torture.live_writer, f"writer-{number}")
    for number in range(SERVERS):
        torture.keep_playing(torture.live_server, f"server-{number}")
    torture.keep_playing(torture.live_writer, "upkeep-0")
    torture.keep_playing(torture.live_hook, "hook-0")
    torture.keep_playing(torture.change_files, "files-0")
    try:
        torture.kill_some(kills)
    finally:
        torture.end_all()
    markers = [f"zqfile{number}marker" for number in range(FILES) if (house.project / f"note{number}.md").exists()]
    return _outcome_of("kills" + (" with embedder" if embedder else ""), torture, started, markers)


def all_at_once(root: Path, writers: int, seconds: float, *, seed: int = 1) -> TortureOutcome:
    """Have so many processes write at once, for so long, and compare."""
    torture = Torture(TortureHouse(root, embedder=False), seed)
    started = time.perf_counter()
    for number in range(writers):
        torture.keep_playing(torture.live_writer, f"writer-{number}")
    time.sleep(seconds)
    torture.end_all()
    return _outcome_of(f"{writers} writers at once", torture, started, [])


def _print_outcomes(outcomes: list[TortureOutcome]) -> None:
    table = MarkdownTable("", *(outcome.name for outcome in outcomes))
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
        _print_outcomes(outcomes)
    save_result("torture", {"options": vars(options), "outcomes": [asdict(outcome) for outcome in outcomes]})
    sys.exit(not all(outcome.is_sound for outcome in outcomes))


if __name__ == "__main__":
    main()
