"""Partition: clients write shared facts while the server stands still, is killed, and they are killed too."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil
import psycopg

from bench._team_client import load_membership, open_client
from bench._team_server import make_database, make_team, serve_postgres
from hyperloci.clock import system_clock
from hyperloci.store.team import members, postgres
from hyperloci.store.team.shared_values import MemberRole
from hyperloci.team.membership import Membership
from hyperloci.team.sync import TeamSync


@dataclass
class _Client:
    """A client's process, started again where it was killed; what it acknowledged is read from its output."""

    folder: Path
    writes: int
    pause: float
    acknowledged: list[str] = field(default_factory=list)
    kills: int = 0
    process: subprocess.Popen[str] | None = None
    reader: threading.Thread | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "bench._team_client", self.folder, self.writes]
        command += [len(self.acknowledged), self.pause]
        self.process = subprocess.Popen(
            list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.reader = threading.Thread(target=self._read, args=(self.process,), daemon=True)
        self.reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.acknowledged.extend(line.strip() for line in process.stdout if line.endswith("\n"))

    def kill(self) -> None:
        assert self.process is not None and self.reader is not None
        if self.process.poll() is not None:
            raise RuntimeError("a client was done before it could be killed: its pauses are too short")
        self.process.kill()
        self.kills += 1
        self.process.wait()
        self.reader.join()

    def finish(self) -> None:
        assert self.process is not None and self.reader is not None
        self.process.wait()
        self.reader.join()


def measure_partition(clients: int, writes: int, seconds: float) -> dict[str, Any]:
    """Return how much of what was acknowledged anywhere is found everywhere, and how often.

    A client that is killed after a commit and before its line was read has stored a fact that nobody counts.
    """
    rng, started = random.Random(clients), time.perf_counter()
    with tempfile.TemporaryDirectory() as place, serve_postgres() as server:
        url = make_database(server)
        # Writing takes twice as long as the partition, so that it lasts through it and through the kills after it.
        made = _make_clients(Path(place), url, clients, writes, pause=2 * seconds / writes)
        for client in made:
            client.start()
        _wait(lambda: min(len(client.acknowledged) for client in made) >= writes // 10)
        stopped = _family(server)
        _signal(stopped, signal.SIGSTOP)
        time.sleep(seconds / 2)
        _kill_some(made, rng)
        time.sleep(seconds / 2)
        _signal(stopped, signal.SIGCONT)
        _wait(lambda: any(len(client.acknowledged) >= writes // 2 for client in made))
        _kill_server(server)
        _kill_some(made, rng)
        _start_server(server)
        for client in made:
            client.finish()
        rounds, found = _settle(made)
        acknowledged = [id for client in made for id in client.acknowledged]
        with psycopg.connect(url) as connection:
            (stored,) = connection.execute("SELECT count(*) FROM hyperloci.memories").fetchone() or (0,)
            (revisions,) = connection.execute("SELECT count(*) FROM hyperloci.revisions").fetchone() or (0,)
        return {
            "clients": clients,
            "acknowledged": len(acknowledged),
            "distinct": len(set(acknowledged)),
            "found everywhere": sum(all(id in one for one in found) for id in acknowledged),
            "memories here": [len(one) for one in found],
            "memories there": stored,
            "revisions there": revisions,
            "clients killed": sum(client.kills for client in made),
            "server killed": 1,
            "partition s": seconds,
            "rounds to settle": rounds,
            "seconds": round(time.perf_counter() - started),
        }


def _make_clients(place: Path, url: str, count: int, writes: int, pause: float) -> list[_Client]:
    identity, token = make_team(url)
    made = []
    for number in range(count):
        folder = place / f"client{number}"
        folder.mkdir()
        with postgres.connect(url) as connection:
            own = members.invite_member(connection, token, identity.team, folder.name, MemberRole.MEMBER)
        membership = Membership(
            url=url,
            token=own,
            team=identity.team,
            team_name="bench",
            member_name=folder.name,
            client=str(uuid.uuid4()),
        )
        (folder / "membership.json").write_text(json.dumps(asdict(membership)))
        open_client(folder).close()
        made.append(_Client(folder, writes, pause))
    return made


def _family(server: Any) -> list[psutil.Process]:
    first = psutil.Process(server.get_pid())
    return [first, *first.children(recursive=True)]


def _signal(processes: list[psutil.Process], which: int) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(which)


def _kill_some(made: list[_Client], rng: random.Random) -> None:
    for client in rng.sample(made, max(1, len(made) // 2)):
        client.kill()
        client.start()


def _kill_server(server: Any) -> None:
    """Kill the server, and wait until the processes that it leaves have noticed."""
    family = _family(server)
    family[0].kill()
    _wait(lambda: not any(map(_is_alive, family)))
    # Where nobody takes note of its death, its files would pass for those of a running server.
    for left in (server.pgdata / "postmaster.pid", *server.pgdata.glob(".s.PGSQL*")):
        left.unlink(missing_ok=True)


def _start_server(server: Any, tries: int = 6) -> None:
    """Start a killed server: on a busy machine its recovery takes longer than the wheel waits, ten seconds."""
    for left in reversed(range(tries)):
        try:
            server.ensure_postgres_running()
            return
        except subprocess.TimeoutExpired:
            if not left:
                raise


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _wait(condition: Any, seconds: float = 600) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise RuntimeError("waited too long")
        time.sleep(0.1)


def _settle(made: list[_Client]) -> tuple[int, list[set[str]]]:
    """Exchange until nobody has anything new; return the rounds that took, and the shared memories of each client."""
    memories = [open_client(client.folder) for client in made]
    syncs = [
        TeamSync(store=memory.store, membership=load_membership(client.folder), clock=system_clock)
        for memory, client in zip(memories, made, strict=True)
    ]
    rounds = 1
    while sum(sync.run().changed for sync in syncs):
        rounds += 1
    found = []
    for memory in memories:
        rows = memory.store.connection.execute(
            "SELECT id FROM nodes WHERE visibility = 'shared' AND deleted_at IS NULL"
        )
        found.append({row[0] for row in rows})
        memory.close()
    return rounds, found
