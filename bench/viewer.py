"""Pages of the viewer against size: `python -m bench viewer [--n 10,10000,1000000] [--cache FOLDER] [--times 20]`.

Builds a project with one of everything (`tests.viewer.story`) among n memories: turns in sessions of 200, facts,
commits and code of made-up words, without vectors. Then starts the installed `hyperloci view` and asks for each page;
reported is what the server says in `Server-Timing`: its own time, from a request to the start of its answer. The first
look and the median of the rest are told apart: caches of a database that was just opened are cold. In brackets the
processor time of the whole process for one such look, which other work on the machine does not touch.

Databases are kept in the cache folder and not built again. Results go to `bench/results/viewer-COMMIT.json`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx2
import psutil

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.memory import Memory
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_text
from tests.support import NOW, FakeClock
from tests.viewer.story import DAY, SESSIONS, tell_story

BATCH: Final = 20_000
TURNS_A_SESSION: Final = 200
WORDS: Final = 4_000
STORY_AT: Final = NOW - 14 * DAY
KINDS: Final = (
    ("experience", "episode", "user_prompt", 40),
    ("experience", "action", "hook", 15),
    ("fact", "insight", "extraction", 10),
    ("decision", "decision", "extraction", 3),
    ("decision", "commit", "commit", 7),
    ("snippet", "code", "code", 25),
)
"""Type, subtype, origin and how many of a hundred."""


def build_project(folder: Path, n: int) -> dict[str, str]:
    """Write a project of n memories, and return the ids that pages are asked for with."""
    ids_file = folder / "ids.json"
    if ids_file.exists():
        return dict(json.loads(ids_file.read_text("utf-8")))
    project = folder / "shop"
    project.mkdir(parents=True, exist_ok=True)
    settings = bench_settings(folder, embedder=False)
    clock = FakeClock(STORY_AT)
    with Memory.open(settings, project, clock=clock) as memory:
        if n > 20:
            _add_filler(memory.store, memory.project.id, n)
        ids = tell_story(memory, clock, project)
    ids_file.write_text(json.dumps(ids), encoding="utf-8")
    return ids


def _add_filler(store: Store, scope_id: str, n: int) -> None:
    """Write n memories in bulk, as the product would have written them one at a time, before the story."""
    connection = store.connection
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA cache_size = -200000")
    triggers = [
        row[0]
        for row in connection.execute(
            "SELECT sql FROM sqlite_master WHERE name IN ('keywords_insert', 'nodes_inserted', 'openings_node_added')"
        )
    ]
    with store.transaction():
        scope = store.scopes.ensure_scope(scope_id, now=NOW)
        for name in ("keywords_insert", "nodes_inserted", "openings_node_added"):
            connection.execute(f"DROP TRIGGER {name}")
    chance = random.Random(n)
    vocabulary = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(4, 9))) for _ in range(WORDS)]
    shared = ["checkout", "tax", "queue", "rate", "database", "port"]
    for first in range(0, n, BATCH):
        with store.transaction():
            _write_batch(connection, chance, vocabulary, shared, scope, range(first, min(first + BATCH, n)), n)
    with store.transaction():
        connection.execute("INSERT INTO keyword_index(keyword_index) VALUES ('rebuild')")
        connection.execute("UPDATE keyword_totals SET (nodes, terms) = (SELECT count(*), sum(length) FROM keywords)")
        connection.execute("INSERT INTO node_changes(node_key) VALUES (NULL)")
        for trigger in triggers:
            connection.execute(trigger)
    connection.execute("ANALYZE")


def _write_batch(
    connection: sqlite3.Connection,
    chance: random.Random,
    vocabulary: list[str],
    shared: list[str],
    scope: int,
    numbers: range,
    n: int,
) -> None:
    sessions: dict[int, int] = {}
    nodes, keywords = [], []
    kinds = chance.choices([kind[:3] for kind in KINDS], [kind[3] for kind in KINDS], k=len(numbers))
    for number, (kind, subtype, origin) in zip(numbers, kinds, strict=True):
        time = STORY_AT - 700 * DAY + 699 * DAY * number // n
        session, seq = None, None
        if kind == "experience":
            session = sessions.get(number // TURNS_A_SESSION) or _open_session(
                connection, scope, time, sessions, number
            )
            seq = number % TURNS_A_SESSION
        words = [*chance.choices(vocabulary, k=chance.randint(8, 40)), *chance.choices(shared, k=1)]
        text = " ".join(words)
        role = '{"role": "user"}' if subtype == "episode" else "{}"
        what = (number + 1, str(uuid.UUID(int=chance.getrandbits(128), version=4)), kind, subtype, text)
        nodes.append((*what, origin, scope, session, seq, str(number).encode(), *[time] * 5, role))
        terms = analyse_text(text)
        keywords.append((number + 1, "", " ".join(terms), "", len(terms)))
    connection.executemany(
        "INSERT INTO nodes(key, id, type, subtype, content, origin, scope_key, session_key, seq, content_hash,"
        " event_time, created_at, updated_at, last_accessed, valid_from, metadata, confidence, tier)"
        f" VALUES ({', '.join('?' * 16)}, 0.9, 'longterm')",
        nodes,
    )
    connection.executemany("INSERT INTO keywords VALUES (?, ?, ?, ?, ?)", keywords)


def _open_session(connection: sqlite3.Connection, scope: int, time: int, sessions: dict[int, int], number: int) -> int:
    cursor = connection.execute(
        "INSERT OR IGNORE INTO sessions(id, scope_key, status, started_at, last_seen_at, next_seq)"
        " VALUES (?, ?, 'completed', ?, ?, ?)",
        (f"filler-{number}", scope, time, time + 1, TURNS_A_SESSION),
    )
    sessions[number // TURNS_A_SESSION] = int(cursor.lastrowid or 0)
    return sessions[number // TURNS_A_SESSION]


def list_pages(ids: Mapping[str, str]) -> dict[str, str]:
    """Return the path of each page, by a name for people."""
    return {
        "start": "/",
        "search": f"/?q={quote('why no queue between checkout and tax')}",
        "memory": f"/memory/{ids['cache']}",
        "neighbourhood": f"/graph/{ids['cache']}",
        "timeline": "/timeline",
        "timeline, all kinds": "/timeline?kind=all",
        "timeline, old": "/timeline?kind=all&day=2026-01-01",
        "forgotten": "/timeline?kind=forgotten",
        "sessions": "/sessions",
        "session": f"/session/{SESSIONS[0]}",
        **{f"review: {tab}": f"/review?tab={tab}" for tab in ("contradictions", "replaced", "outdated")},
        "review: quarantine": "/review?tab=quarantine",
        "review: weak": "/weak",
        "topics": "/topics",
        "state": "/state",
    }


@contextmanager
def open_viewer(folder: Path) -> Iterator[tuple[httpx2.Client, psutil.Process]]:
    """Start the installed viewer, and yield a client that it has admitted, and its process."""
    environment = os.environ | {
        "RLM_MEMORY_DB": str(folder / "memory.db"),
        "HYPERLOCI_STATE_DIR": str(folder / "state"),
        "HYPERLOCI_RUNTIME_DIR": str(folder / "run"),
        "HYPERLOCI_EMBEDDER": "0",
    }
    command = [sys.executable, "-m", "hyperloci", "view", "--no-browser", "--project", str(folder / "shop")]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        entry = process.stdout.readline().decode().strip()
        try:
            with httpx2.Client(base_url=entry.partition("/enter")[0], timeout=120) as client:
                client.get(entry).raise_for_status()
                yield client, psutil.Process(process.pid)
        finally:
            process.terminate()


def time_page(client: httpx2.Client, server: psutil.Process, path: str, times: int) -> tuple[float, float, float]:
    """Return a page's milliseconds: the first look, the median of those after it, and one's processor time."""
    taken, before = [], 0.0
    for number in range(times + 1):
        if number == 1:
            before = _count_processor_ms(server)
        answer = client.get(path)
        answer.raise_for_status()
        taken.append(float(answer.headers["server-timing"].partition("dur=")[2]))
    return taken[0], statistics.median(taken[1:]), (_count_processor_ms(server) - before) / times


def _count_processor_ms(server: psutil.Process) -> float:
    spent = server.cpu_times()
    return 1_000 * (spent.user + spent.system)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Pages of the viewer against size.")
    parser.add_argument("--n", default="10,10000,1000000")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--times", type=int, default=20)
    given = parser.parse_args()
    sizes = [int(size) for size in given.n.split(",")]
    found: dict[str, dict[int, tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as spare:
        for size in sizes:
            folder = (given.cache or Path(spare)) / f"viewer-{size}"
            ids = build_project(folder, size)
            with open_viewer(folder) as (client, server):
                for name, path in list_pages(ids).items():
                    found.setdefault(name, {})[size] = time_page(client, server, path, given.times)
    table = MarkdownTable("page, ms: first, then (processor)", *(f"{size:,}" for size in sizes))
    for name, by_size in found.items():
        table.add(name, *(f"{first:.0f}, {rest:.0f} ({cpu:.0f})" for first, rest, cpu in by_size.values()))
    table.print()
    answer: dict[str, Any] = {
        name: {str(size): taken for size, taken in taken_by_size.items()} for name, taken_by_size in found.items()
    }
    print(save_result("viewer", answer))


if __name__ == "__main__":
    main()
