"""Exchange: many memories from one machine to another, and what a joined team costs a machine's own work."""

from __future__ import annotations

import statistics
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from bench._team_client import PROJECT, open_client
from bench._team_server import make_database, make_team, serve_postgres
from hyperloci.clock import system_clock
from hyperloci.memory import Memory
from hyperloci.model.author import Visibility
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from hyperloci.team.membership import Membership, save_membership
from hyperloci.team.sync import TeamSync

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
        taken: dict[str, Any] = {}
        for memory, what in ((memories[0], "tell"), (memories[1], "take in"), (memories[1], "again")):
            wall, processor = time.perf_counter(), time.process_time()
            report = TeamSync(store=memory.store, membership=membership, clock=system_clock).run()
            taken[what] = {
                "sent": report.sent,
                "received": report.received,
                "wall s": round(time.perf_counter() - wall, 1),
                "processor s": round(time.process_time() - processor, 1),
            }
        query = f"SELECT {COMPARED} FROM nodes WHERE visibility = 'shared' ORDER BY id"
        rows = [[tuple(row) for row in memory.store.connection.execute(query)] for memory in memories]
        for memory in memories:
            memory.close()
    same = sum(one == other for one, other in zip(*rows, strict=False))
    return {"memories": count, **taken, "rows": [len(one) for one in rows], "rows alike": same}


def measure_local(turns: int) -> dict[str, Any]:
    """Search and remember on two machines in turns, of which one has joined a team that it exchanges with."""
    with tempfile.TemporaryDirectory() as place, serve_postgres() as server:
        url = make_database(server)
        identity, token = make_team(url)
        membership = _make_membership(url, identity, token)
        alone, joined = (open_client(Path(place) / name) for name in ("alone", "joined"))
        save_membership(joined.settings, membership)
        with alone.store.transaction():
            alone.store.team.unlink_all()
        for memory in (alone, joined):
            _share_many(memory, 2_000)
        TeamSync(store=joined.store, membership=membership, clock=system_clock).run()
        taken: dict[str, dict[str, list[float]]] = {"search": {}, "remember": {}}
        for turn in range(turns):
            pair = (("alone", alone), ("joined", joined))
            for name, memory in pair if turn % 2 else reversed(pair):
                started = time.process_time()
                for number in range(10):
                    memory.search(f"how often does service {turn * 10 + number} retry")
                taken["search"].setdefault(name, []).append(100 * (time.process_time() - started))
                started = time.process_time()
                for number in range(10):
                    memory.remember_fact(f"{PROJECT}: rule {turn} {number} of the house stands")
                taken["remember"].setdefault(name, []).append(100 * (time.process_time() - started))
        for memory in (alone, joined):
            memory.close()
    return {
        kind: {name: round(statistics.median(values), 2) for name, values in found.items()}
        for kind, found in taken.items()
    } | {"turns of 10": turns, "unit": "ms of processor time each, median"}
