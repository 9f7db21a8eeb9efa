"""Several processes on one file: writers at once, first opens at once, and processes that are killed."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hyperloci.model.kinds import NodeId
from hyperloci.store import Store, integrity
from hyperloci.store.migration import latest_version
from tests.support import FakeClock, add

WRITERS = 2
WRITES = 300
KILLS = 20

WRITER = """
import sys
from pathlib import Path
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import NewNode
from hyperloci.store import Store
path, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
with Store.open(path) as store:
    print("open", flush=True)
    sys.stdin.readline()
    for number in range(count):
        with store.transaction():
            scope = store.scopes.ensure_scope(f"project-{number % 3}", now=number)
            session = store.sessions.note_seen("shared", scope, now=number)
            seq = store.sessions.take_sequence_number(session.key)
            new = NewNode(type=NodeType.EXPERIENCE, content=f"{name} wrote {number}", session_id="shared", seq=seq)
            node = store.nodes.create_node(new, now=number, session_key=session.key)
            store.log.add_entry("create", [node.id], now=number)
        # Only what is committed is acknowledged.
        print(node.id, flush=True)
"""

OPENER = """
import sys
from pathlib import Path
from hyperloci.store import Store
sys.stdin.readline()
with Store.open(Path(sys.argv[1])) as store:
    print(store.count_everything()["schema_version"], len(store.scopes.list_scopes()))
"""


def start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> list[str]:
    out, error = process.communicate(timeout=110)
    assert process.returncode == 0, error
    return out.split()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_writers_at_once_fail_at_nothing_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store.open(path).close()
    writers = [start(WRITER, path, f"writer {number}", WRITES) for number in range(WRITERS)]
    for writer in writers:
        assert writer.stdout is not None and writer.stdout.readline() == "open\n"
    for writer in writers:
        go(writer)
    ids = [found for writer in writers for found in finish(writer)]
    assert len(set(ids)) == len(ids) == WRITERS * WRITES
    with Store.open(path) as store:
        stored = {row["id"]: row["seq"] for row in store.connection.execute("SELECT id, seq FROM nodes")}
        assert set(stored) == set(ids)
        assert sorted(stored.values()) == list(range(WRITERS * WRITES))
        assert all(len(store.log.list_of_node(NodeId(node_id))) == 1 for node_id in ids)
        assert integrity.check_integrity(store) == []
        assert integrity.count_violations(store) == {}


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_what_was_acknowledged_survives_kill_9_and_the_file_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store.open(path).close()
    chance = random.Random(9)
    acknowledged: set[str] = set()
    for kill in range(KILLS):
        writer = start(WRITER, path, f"run {kill}", 1_000_000)
        assert writer.stdout is not None and writer.stdout.readline() == "open\n"
        go(writer)
        for _ in range(chance.randrange(1, 40)):
            acknowledged.add(writer.stdout.readline().strip())
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate(timeout=60)
        # A line cut in two was on its way when its writer died.
        acknowledged.update(line for line in rest.splitlines() if len(line) == 36)
        assert writer.returncode == -signal.SIGKILL
        with closing(sqlite3.connect(path)) as reader:
            stored = {row[0] for row in reader.execute("SELECT id FROM nodes")}
            assert acknowledged <= stored
            assert reader.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    with Store.open(path) as store:
        assert integrity.check_integrity(store) == []
        assert integrity.count_violations(store) == {}
        assert store.connection.execute("SELECT count(*) FROM nodes").fetchone()[0] >= len(acknowledged) >= KILLS


@pytest.mark.parametrize("round_", range(3))
def test_processes_that_open_a_new_file_at_once_all_succeed(tmp_path: Path, round_: int) -> None:
    path = tmp_path / "memory.db"
    openers = [start(OPENER, path) for _ in range(4)]
    for opener in openers:
        go(opener)
    assert [finish(opener) for opener in openers] == [[str(latest_version()), "1"]] * len(openers)
    with Store.open(path) as store:
        assert integrity.check_integrity(store) == []
        assert integrity.count_violations(store) == {}


def test_a_connection_sees_what_another_one_wrote_at_once(tmp_path: Path, clock: FakeClock) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path, clock=clock) as one, Store.open(path, clock=clock) as two:
        for number in range(20):
            writer, reader = (one, two) if number % 2 else (two, one)
            node = add(writer, f"memory {number}")
            assert reader.nodes.get_node(node.id) == node


def test_a_scope_that_a_failed_transaction_made_is_not_taken_for_another_ones(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path) as one, Store.open(path) as two:
        with pytest.raises(ZeroDivisionError), one.transaction():
            one.scopes.ensure_scope("project-a", now=1)
            raise ZeroDivisionError
        in_b = add(two, "of b", scope="project-b")
        in_a = add(one, "of a", scope="project-a")
        assert [two.nodes.get_by_key(node.key) for node in (in_a, in_b)] == [in_a, in_b]
        assert (in_a.scope, in_b.scope) == ("project-a", "project-b")


def test_a_scope_merged_by_another_process_is_looked_up_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path) as one, Store.open(path) as two:
        add(one, "first", scope="by-path")
        with two.transaction():
            two.scopes.ensure_scope("by-remote", now=1)
            assert two.scopes.merge_into("by-path", "by-remote")
        node = add(one, "second", scope="by-path")
        assert node.scope == "by-path"
        assert [found.scope for found in two.nodes.query_nodes()] == ["by-path", "by-remote"]
