"""A year of use on an injected clock: what is lost, what stays, how the file and the answers grow.

    python -m bench year [--sessions 500] [--facts 8] [--turns 12] [--runs 50] [--folder F --until DAY]

By default 500 sessions over 365 days leave 10,000 memories (4,000 facts remembered on purpose, 6,000 turns) and what
consolidation makes of them. Of the first month's facts forty are confirmed and forty others are recalled once a week.
Upkeep runs every day, without an embedder. After half a year and a year three copies of the database are looked after
1, 2 and N times at the same moment and compared row by row, and every tombstone is restored in a copy. With a folder
the year can be lived in parts: it stops after a day, and goes on from there when it is run again.
"""

from __future__ import annotations

import argparse
import json
import random
import sqlite3
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.sessions import end_session
from hyperloci.maintenance.job_list import run_maintenance
from hyperloci.maintenance.scheduler import make_maintenance_context
from hyperloci.memory import Memory
from hyperloci.model.node import RESTORE_DAYS
from hyperloci.model.turn import Speaker, Turn
from hyperloci.store import Store
from hyperloci.store.integrity import count_violations

START: Final = 1_767_225_600_000
"""2026-01-01."""

DAYS: Final = 365
WATCHED: Final = 40
CHECKED: Final = (182, 364)
NAMES: Final = [
    "billing",
    "gateway",
    "invoices",
    "mailer",
    "search",
    "exports",
    "login",
    "audit",
    "reports",
    "queue",
    "cache",
    "worker",
    "ledger",
    "parser",
    "router",
]
PARTS: Final = [
    "retries",
    "timeouts",
    "sessions",
    "tokens",
    "rows",
    "batches",
    "pages",
    "locks",
    "cursors",
    "headers",
    "schemas",
    "indexes",
    "quotas",
    "uploads",
]
VERBS: Final = [
    "keeps",
    "drops",
    "limits",
    "signs",
    "merges",
    "counts",
    "rejects",
    "caches",
    "splits",
    "orders",
    "hashes",
    "archives",
]
UNTOLD: Final = frozenset({"meta", "pending", "sqlite_sequence"})
"""When something ran, and what waits for a vector: not what is remembered."""


class YearClock:
    """A clock that the benchmark moves."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        """Return the time."""
        return self.now


class SimulatedYear:
    """One simulated year."""

    def __init__(self, settings: Settings, project: Path, arguments: argparse.Namespace) -> None:
        self.clock = YearClock(START)
        self.settings = settings
        self.arguments = arguments
        self.random = random.Random(7)
        self.memory = Memory.open(settings, project, clock=self.clock)
        self.confirmed: list[str] = []
        self.recalled: dict[str, str] = {}
        self.writes: list[float] = []
        self.upkeep_seconds: list[float] = []
        self.pruned = 0
        self.serial = 0
        self.day = 0
        self.months: list[dict[str, Any]] = []

    def live_until(self, until: int) -> None:
        """Live on until a day, and measure at the end of every month."""
        for day in range(self.day, until):
            self.clock.now = START + day * MS_PER_DAY
            self.random.seed(day)
            first, last = (round((day + more) * self.arguments.sessions / DAYS) for more in (0, 1))
            for number in range(first, last):
                self.have_session(f"session-{number}")
            if day % 7 == 6:
                self.recall_watched()
            self.run_upkeep()
            if day in CHECKED:
                self.months.append({**self.measure_day(day), **self.check_copies()})
            elif day % 30 == 29:
                self.months.append(self.measure_day(day))
            self.day = day + 1

    def saved_state(self) -> dict[str, Any]:
        """Return what has to be known to go on."""
        kept = ("day", "serial", "pruned", "confirmed", "recalled", "months", "writes", "upkeep_seconds")
        return {name: getattr(self, name) for name in kept}

    def go_on(self, state: dict[str, Any]) -> None:
        """Go on from where a former run stopped."""
        for name, value in state.items():
            setattr(self, name, value)

    def have_session(self, session_id: str) -> None:
        """Have one session: turns, and facts remembered in it."""
        turns = [self.say_turn(session_id, number) for number in range(self.arguments.turns)]
        self.memory.add_turns(session_id, turns)
        for _ in range(self.arguments.facts):
            text = self.new_fact()
            started = time.perf_counter()
            kept = self.memory.remember_fact(text, session_id=session_id)
            self.writes.append(time.perf_counter() - started)
            self.watch_fact(kept.id, text)
        with self.memory.store.transaction():
            end_session(self.memory.store, session_id, now=self.clock())

    def say_turn(self, session_id: str, number: int) -> Turn:
        """Say something: one prompt in six decides something, one answer in six explains."""
        role = Speaker.ASSISTANT if number % 2 else Speaker.USER
        if number % 6 == 0:
            text = f"We decided that {self.new_fact()[:-1].lower()}, because the audit asked for it."
        elif number % 6 == 1:
            text = f"Done. The root cause was that {self.new_fact()[:-1].lower()}."
        else:
            name, part = self.random.choice(NAMES), self.random.choice(PARTS)
            text = f"Please look at {name} and its {part} ({session_id}, {number})."
        self.clock.now += 1_000
        return Turn(uuid=f"{session_id}-{number}", role=role, text=text, timestamp_ms=self.clock())

    def new_fact(self) -> str:
        """Return a statement that no other one equals."""
        self.serial += 1
        name, verb, part = (self.random.choice(words) for words in (NAMES, VERBS, PARTS))
        return f"The {name} component{self.serial} {verb} {part} of tenant{self.serial * 7919 % 100_003}."

    def watch_fact(self, node_id: str, text: str) -> None:
        """Confirm some of the first facts, and take others to recall."""
        if len(self.confirmed) < WATCHED:
            self.memory.confirm_fact(node_id)
            self.confirmed.append(node_id)
        elif len(self.recalled) < WATCHED:
            self.recalled[node_id] = text

    def recall_watched(self) -> None:
        """Search for each watched fact, as somebody does who needs it."""
        for text in self.recalled.values():
            self.memory.search(text, limit=1, content_type="learning")

    def run_upkeep(self) -> None:
        """Look after the memory, as an idle server does."""
        self.clock.now += 1_000
        started = time.perf_counter()
        report = run_maintenance(make_maintenance_context(self.memory.store, self.settings, self.clock))
        self.upkeep_seconds.append(time.perf_counter() - started)
        self.pruned += next((step.changed for step in report.steps if step.name == "prune"), 0)
        faults = [f"{step.name}: {step.error}" for step in report.steps if step.error]
        if faults:
            raise SystemExit(f"upkeep failed: {faults}")

    def measure_day(self, day: int) -> dict[str, Any]:
        """Return sizes and latencies at the end of a day."""
        counts = self.memory.store.connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE deleted_at IS NULL AND type <> 'entity'),"
            " count(*) FILTER (WHERE deleted_at IS NOT NULL),"
            " count(*) FILTER (WHERE origin = 'extraction' AND deleted_at IS NULL AND type <> 'entity') FROM nodes"
        ).fetchone()
        searches = []
        for _ in range(50):
            question = f"what {self.random.choice(VERBS)} {self.random.choice(PARTS)} in {self.random.choice(NAMES)}"
            started = time.perf_counter()
            self.memory.search(question, reinforce=False)
            searches.append(time.perf_counter() - started)
        writes, self.writes = self.writes, []
        runs, self.upkeep_seconds = self.upkeep_seconds, []
        return {
            "day": day + 1,
            "living": counts[1],
            "tombstones": counts[2],
            "extracted": counts[3],
            "pruned": self.pruned,
            "MB": round(self.memory.store.count_everything()["database_bytes"] / 1e6, 1),
            "search_p50_ms": _percentile_of(searches, 50),
            "search_p95_ms": _percentile_of(searches, 95),
            "remember_p95_ms": _percentile_of(writes, 95),
            "upkeep_p50_ms": _percentile_of(runs, 50),
            "upkeep_max_ms": _percentile_of(runs, 100),
            "lost": len(self.lost_facts()),
        }

    def lost_facts(self) -> list[str]:
        """Return the watched facts that are gone or faint."""
        nodes = self.memory.store.nodes
        watched = [nodes.get_node(node_id) for node_id in (*self.confirmed, *self.recalled)]
        return [node.id for node in watched if node is not None and node.deleted_at is not None] + [
            "purged" for node in watched if node is None
        ]

    def check_copies(self) -> dict[str, Any]:
        """Look after copies 1, 2 and N times, and restore every tombstone in another."""
        states = {runs: self.looked_after(runs) for runs in (1, 2, self.arguments.runs)}
        first = states[1]
        differing = sorted({name for state in states.values() for name in first if state[name] != first[name]})
        restored, tombstones = self.count_restored()
        return {"same": not differing, "differing": differing, "restored": restored, "restorable": tombstones}

    def looked_after(self, runs: int) -> dict[str, list[tuple[Any, ...]]]:
        """Return all rows of a copy that was looked after so many times at this moment."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.memory.store.back_up(Path(folder) / "copy.db")
            settings = replace(self.settings, database=path)
            with Store.open(path, clock=self.clock) as store:
                for _ in range(runs):
                    run_maintenance(make_maintenance_context(store, settings, self.clock), force=True)
                if problems := count_violations(store):
                    raise SystemExit(f"the database is not sound: {problems}")
                return _table_rows(store.connection)

    def count_restored(self) -> tuple[int, int]:
        """Return how many tombstones of the last 30 days came back as they were, and how many there are."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.memory.store.back_up(Path(folder) / "copy.db")
            with Store.open(path, clock=self.clock) as store:
                # One whose 30 days ended a moment ago waits for the next round of upkeep to go for good.
                rows = store.connection.execute(
                    "SELECT id, content FROM nodes WHERE deleted_at >= ?",
                    (self.clock() - RESTORE_DAYS * MS_PER_DAY,),
                ).fetchall()
                came_back = 0
                for row in rows:
                    with store.transaction():
                        store.nodes.restore_node(row["id"], now=self.clock())
                    node = store.nodes.get_node(row["id"])
                    came_back += node is not None and node.deleted_at is None and node.content == row["content"]
                run_maintenance(
                    make_maintenance_context(store, replace(self.settings, database=path), self.clock), force=True
                )
                stay = sum(
                    (node := store.nodes.get_node(row["id"])) is not None and not node.deleted_at for row in rows
                )
                return min(came_back, stay), len(rows)


def _table_rows(connection: sqlite3.Connection) -> dict[str, list[tuple[Any, ...]]]:
    """Return every table's rows, but for the ids that are random and for notes of when something ran."""
    names = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        )
        if not row[0].startswith(("keyword_index", "sqlite_")) and row[0] not in UNTOLD
    ]
    found = {}
    for name in names:
        with closing(connection.execute(f"SELECT * FROM {name}")) as cursor:
            columns = [column[0] for column in cursor.description]
            kept = [place for place, column in enumerate(columns) if not _is_random(name, column)]
            found[name] = sorted((tuple(row[place] for place in kept) for row in cursor), key=repr)
    return found


def _is_random(table: str, column: str) -> bool:
    # Ids of what upkeep makes anew in each copy are random; what they stand for is in the other columns.
    return (column in {"id", "node_ids", "node_id"} and table != "sessions") or (table, column) == (
        "code_blocks",
        "version",
    )


def _percentile_of(seconds: list[float], percent: int) -> float:
    ordered = sorted(seconds) or [0.0]
    return round(1_000 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 1)


def main() -> None:
    """Run the year and print its months."""
    parser = argparse.ArgumentParser(prog="python -m bench year", description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=500)
    parser.add_argument("--facts", type=int, default=8)
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--until", type=int, default=DAYS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = arguments.folder or Path(name)
        project, kept = folder / "project", folder / "year.json"
        project.mkdir(parents=True, exist_ok=True)
        off = {"backups_daily": 0, "backups_weekly": 0, "backups_monthly": 0}
        year = SimulatedYear(bench_settings(folder, embedder=False, **off), project, arguments)
        with year.memory:
            if kept.exists():
                year.go_on(json.loads(kept.read_text(encoding="utf-8")))
            year.live_until(arguments.until)
        kept.write_text(json.dumps(year.saved_state()), encoding="utf-8")
    if year.months:
        _print_months(year.months, arguments.runs)
    shown = {key: value for key, value in vars(arguments).items() if key != "folder"}
    save_result("year", {"arguments": shown, "months": year.months})


def _print_months(months: list[dict[str, Any]], runs: int) -> None:
    columns = [name for name in months[0] if name not in {"same", "differing", "restored", "restorable"}]
    table = MarkdownTable(*columns)
    for month in months:
        table.add(*(month[column] for column in columns))
    table.print()
    for month in months:
        if "same" in month:
            same = "give the same state" if month["same"] else f"differ in {month['differing']}"
            print(
                f"day {month['day']}: 1, 2 and {runs} runs {same}; "
                f"{month['restored']} of {month['restorable']} tombstones restored"
            )


if __name__ == "__main__":
    main()
