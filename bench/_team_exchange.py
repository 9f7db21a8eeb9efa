"""Exchange: many memories from one machine to another, and what a joined team costs a machine's own work."""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from bench._shared import MarkdownTable
from bench._team_client import PROJECT, open_client
from bench._team_server import make_database, make_team, serve_postgres
from bench.hooks import event_payload, time_process
from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.memory import Memory
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from hyperloci.store.team import postgres
from hyperloci.team.membership import Membership, save_membership
from hyperloci.team.sync import TeamSync

HOOKS = ("SessionStart", "UserPromptSubmit")

COMPARED = "id, type, subtype, title, content, event_time, valid_from, valid_until, deleted_at, visibility"


def _make_membership(url: str, identity: Any, token: str) -> Membership:
    return Membership(
        url=url,
        token=token,
        team=identity.team,
        team_name="bench",
        member_name=identity.member_name,
        client=str(uuid.uuid4()),
    )


def _share_many(memory: Memory, count: int) -> None:
    """Store shared facts, with the sentences of a team of many projects."""
    store, now = memory.store, system_clock()
    for start in range(0, count, 5_000):
        with store.transaction():
            for number in range(start, min(count, start + 5_000)):
                store.nodes.create_node(
                    NewNode(
                        type=NodeType.FACT,
                        subtype="constraint",
                        content=f"Service {number % 977} keeps rule {number}: retries at most {number % 13} times",
                        scope=memory.project.id,
                        visibility=Visibility.SHARED,
                    ),
                    now=now,
                )


def measure_bulk(count: int) -> dict[str, Any]:
    """Tell `count` memories from one machine of a person, take them in on another, and compare row by row."""
    with tempfile.TemporaryDirectory() as place, serve_postgres() as server:
        url = make_database(server)
        identity, token = make_team(url)
        membership = _make_membership(url, identity, token)
        memories = [open_client(Path(place) / name) for name in ("first", "second")]
        _share_many(memories[0], count)
        told = {}
        for memory, what in ((memories[0], "tell"), (memories[1], "take in"), (memories[1], "again")):
            wall, processor, served = time.perf_counter(), time.process_time(), _served_seconds(server.get_pid())
            report = TeamSync(store=memory.store, membership=membership, clock=system_clock).run()
            wall = time.perf_counter() - wall
            time.sleep(1)  # Until the server has noted what the session took.
            told[what] = {
                "memories": report.sent + report.received,
                "wall s": round(wall, 1),
                "processor s": round(time.process_time() - processor, 1),
                "processor s of the server": round(_served_seconds(server.get_pid()) - served, 1),
                "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1_024,
            }
            print(what, told[what], file=sys.stderr, flush=True)
        with postgres.connect(url) as connection:
            (truth,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        sizes = {"truth": truth, "a machine": (Path(place) / "second" / "memory.db").stat().st_size}
        query = f"SELECT {COMPARED} FROM nodes WHERE visibility = 'shared' ORDER BY id"
        rows = [[tuple(row) for row in memory.store.connection.execute(query)] for memory in memories]
        for memory in memories:
            memory.close()
    same = sum(one == other for one, other in zip(*rows, strict=False))
    return {
        "memories": count,
        "steps": told,
        "rows": [len(one) for one in rows],
        "rows alike": same,
        "bytes a memory": {name: round(size / count) for name, size in sizes.items()},
    }


def _served_seconds(pid: int) -> float:
    """Return the processor time of a server's sessions that have ended: each exchange is one."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[13:15])) / os.sysconf("SC_CLK_TCK")


def print_bulk(answer: dict[str, Any]) -> None:
    """Print what was measured as a table."""
    table = MarkdownTable("", "memories", "wall s", "processor s", "of it a memory", "of the server", "peak MB")
    for what, step in answer["steps"].items():
        each = f"{1_000 * step['processor s'] / step['memories']:.2f} ms" if step["memories"] else ""
        served = step["processor s of the server"]
        table.add(what, f"{step['memories']:,}", step["wall s"], step["processor s"], each, served, step["peak MB"])
    table.print()
    sizes = ", ".join(f"{name} {size:,}" for name, size in answer["bytes a memory"].items())
    print(f"\nrows alike: {answer['rows alike']:,} of {answer['memories']:,}; bytes a memory: {sizes}")


def measure_local(turns: int) -> dict[str, Any]:
    """Search and remember on three machines in turns, of which one has joined a team that it exchanges with.

    Two have joined none: how far they differ is how far the bench can be trusted.
    """
    with tempfile.TemporaryDirectory() as place, serve_postgres() as server:
        url = make_database(server)
        identity, token = make_team(url)
        membership = _make_membership(url, identity, token)
        machines = {name: open_client(Path(place) / name) for name in ("alone", "joined", "alone too")}
        joined = machines["joined"]
        save_membership(joined.settings, membership)
        for memory in machines.values():
            if memory is not joined:
                with memory.store.transaction():
                    memory.store.team.unlink_all()
            _share_many(memory, 2_000)
        TeamSync(store=joined.store, membership=membership, clock=system_clock).run()
        homes = {
            name: _make_home(memory, Path(place) / f"home {name}", membership if memory is joined else None)
            for name, memory in machines.items()
        }
        taken: dict[str, dict[str, list[float]]] = {
            "search": {},
            "remember": {},
            "prompt's hook": {},
            "start's hook": {},
        }
        for turn in range(turns):
            # Each goes first, second and last equally often.
            order = list(machines.items())
            for name, memory in order[turn % 3 :] + order[: turn % 3]:
                started = time.process_time()
                for number in range(10):
                    memory.search(f"how often does service {turn * 10 + number} retry")
                taken["search"].setdefault(name, []).append(100 * (time.process_time() - started))
                started = time.process_time()
                for number in range(10):
                    memory.remember_fact(f"{PROJECT}: rule {turn} {number} of the house stands")
                taken["remember"].setdefault(name, []).append(100 * (time.process_time() - started))
                records = RecordFactory(memory.project, f"s{turn}", now=system_clock())
                prompts = [records.record_prompt(f"How often may service {turn * 10 + n} retry?") for n in range(10)]
                started = time.process_time()
                for record in filter(None, prompts):
                    memory.keep(record)
                    memory.get_context_for_record(record)
                taken["prompt's hook"].setdefault(name, []).append(100 * (time.process_time() - started))
                starts = [RecordFactory(memory.project, f"s{turn}-{n}", now=system_clock()) for n in range(10)]
                started = time.process_time()
                for one in starts:
                    record = one.record_start("startup")
                    memory.keep(record)
                    memory.get_context_for_record(record)
                taken["start's hook"].setdefault(name, []).append(100 * (time.process_time() - started))
                for event in HOOKS:
                    told = json.dumps(
                        event_payload(event, turn, memory.project.root, Path(place) / "none.jsonl")
                    ).encode()
                    _, spent = time_process([sys.executable, "-m", "hyperloci_hooks.run", event], told, homes[name])
                    taken.setdefault(f"the process of {event}", {}).setdefault(name, []).append(spent)
        for memory in machines.values():
            memory.close()
    medians = {
        kind: {name: round(statistics.median(values), 2) for name, values in found.items()}
        for kind, found in taken.items()
    }
    return {"turns of 10": turns, "processor ms each, median": medians}


def _make_home(memory: Memory, home: Path, membership: Membership | None) -> dict[str, str]:
    """Return the environment of a hook's process of a memory, in a home that has joined a team or none."""
    home.mkdir()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CLAUDE_PROJECT_DIR": str(memory.project.root),
        "RLM_MEMORY_DB": str(memory.settings.database),
        "HYPERLOCI_EMBEDDER": "false",
    }
    if membership is not None:
        save_membership(Settings.from_env(environ), membership)
    return environ


def print_local(answer: dict[str, Any]) -> None:
    """Print what was measured as a table."""
    table = MarkdownTable("processor time, median", "no team, ms", "in a team, ms", "ratio", "no team, twice: ratio")
    for kind, found in answer["processor ms each, median"].items():
        ratios = (f"{found[name] / found['alone']:.2f}" for name in ("joined", "alone too"))
        table.add(kind, found["alone"], found["joined"], *ratios)
    table.print()
