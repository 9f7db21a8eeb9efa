"""How long a durable episode takes: alone, while the project is indexed, and while upkeep consolidates.

    python -m bench hot_path [--episodes 400] [--index FOLDER]

An episode is kept through the façade as a hook keeps it: redacted, stored with its keywords and its `follows` edge,
committed. Another process does the other work on the same database, over and over, as long as episodes are kept. The
requirement (B.01) is a p95 below 10 ms.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

from bench._shared import MarkdownTable, bench_settings, save_result
from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.conversations.capture.sessions import end_session
from hyperloci.conversations.consolidation.consolidator import consolidate_sessions
from hyperloci.maintenance.scheduler import make_maintenance_context
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker, Turn

READY_SECONDS: Final = 60.0
PAUSE_SECONDS: Final = 0.02
"""Between two episodes: somebody who types fast, a hundred times as fast as that."""

TEXT: Final = (
    "The export of tenant {n} takes too long again, and I think that it is the {n}th index that is missing on "
    "`invoices.tenant_id`. We decided to add it in the next release. Can you look at src/export_{n}.py?"
)


def index_repeatedly(settings: Settings, folder: Path, ready: Event, stop: Event) -> None:
    """Index a folder again and again; every time all of its chunks are new to the database."""
    number = 0
    while not stop.is_set():
        number += 1
        chosen = Settings(
            **{name: getattr(settings, name) for name in settings.__slots__} | {"project": f"copy-{number}"}
        )
        with Memory.open(chosen, folder) as memory:
            ready.set()
            memory.index_path(progress=lambda *_: _leave_at_signal(stop))


def _leave_at_signal(stop: Event) -> None:
    if stop.is_set():
        raise SystemExit(0)


def consolidate_repeatedly(settings: Settings, folder: Path, ready: Event, stop: Event) -> None:
    """Have sessions and consolidate them, again and again."""
    number = 0
    with Memory.open(settings, folder) as memory:
        while not stop.is_set():
            number += 1
            name = f"other-{number}"
            turns = [
                Turn(uuid=f"{name}-{n}", role=Speaker.USER, text=TEXT.format(n=n * number), timestamp_ms=system_clock())
                for n in range(40)
            ]
            for turn in turns:
                memory.add_turns(name, [turn])  # Not at once: this is not what is measured.
            with memory.store.transaction():
                end_session(memory.store, name, now=system_clock())
            ready.set()
            consolidate_sessions(make_maintenance_context(memory.store, settings, system_clock))


def measure_episodes(
    settings: Settings,
    project: Path,
    episodes: int,
    beside: Callable[[Settings, Path, Event, Event], None] | None,
    folder: Path,
) -> dict[str, Any]:
    """Return percentiles of the time that one episode takes, in milliseconds."""
    context = multiprocessing.get_context("spawn")
    ready, stop = context.Event(), context.Event()
    with Memory.open(settings, project) as memory:
        worker = None if beside is None else context.Process(target=beside, args=(settings, folder, ready, stop))
        if worker is not None:
            worker.start()
            ready.wait(READY_SECONDS)
        taken = []
        for number in range(episodes):
            started = time.perf_counter()
            record = RecordFactory(memory.project, "hot", now=system_clock()).record_prompt(TEXT.format(n=number))
            assert record is not None
            memory.keep(record)
            taken.append(time.perf_counter() - started)
            time.sleep(PAUSE_SECONDS)
        stop.set()
        if worker is not None:
            worker.join(READY_SECONDS)
            worker.kill()
    taken.sort()
    return {
        f"p{percent}_ms": round(1_000 * taken[min(len(taken) - 1, len(taken) * percent // 100)], 2)
        for percent in (50, 95, 99, 100)
    }


def main() -> None:
    """Measure each way, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench hot_path", description=__doc__.splitlines()[0])
    parser.add_argument("--episodes", type=int, default=400)
    parser.add_argument("--index", type=Path, default=Path(__file__).parents[1] / "server")
    arguments = parser.parse_args()
    ways: dict[str, Callable[[Settings, Path, Event, Event], None] | None] = {
        "alone": None,
        "while a project is indexed": index_repeatedly,
        "while sessions are consolidated": consolidate_repeatedly,
    }
    table = MarkdownTable("an episode", "synchronous", "p50 ms", "p95 ms", "p99 ms", "max ms")
    results = []
    for synchronous in ("normal", "full"):
        for name, beside in ways.items():
            with tempfile.TemporaryDirectory() as place:
                folder = Path(place)
                settings = bench_settings(folder, embedder=False, synchronous=synchronous)
                found = measure_episodes(settings, folder, arguments.episodes, beside, arguments.index.absolute())
            table.add(name, synchronous, *found.values())
            results.append({"beside": name, "synchronous": synchronous, **found})
    table.print()
    save_result("hot_path", {"episodes": arguments.episodes, "results": results})


if __name__ == "__main__":
    main()
