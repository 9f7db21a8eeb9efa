"""Other programs at the database's files while a server has them open: it notices, says so, and loses nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hyperloci.store.database.file_guard import list_rescued_copies
from tests.e2e.conftest import SOON, House, Server

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows locks open files")

BEFORE = tuple(f"The harbour has {number} cranes on pier {number}." for number in range(3))
AFTER = "The lighthouse is painted green."


def command(house: House, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [house.command[0], *arguments],
        env=house.environment,
        cwd=house.project,
        capture_output=True,
        text=True,
        timeout=2 * SOON,
        check=False,
    )


def contents(house: House) -> set[str]:
    with house.memory() as memory:
        return {node.content for node in memory.store.nodes.query_nodes("fact", limit=1_000)}


def words_of(answer: Any) -> str:
    assert answer["isError"], answer
    return str(answer["content"][0]["text"])


def told_once(server: Server) -> str:
    """Try to store until it is stored; return what was said meanwhile."""
    words = words_of(server.call("remember_fact", fact=AFTER))
    again = server.call("remember_fact", fact=AFTER)
    assert not again["isError"], again
    found = server.call("search_memory", query="lighthouse")
    assert not found["isError"], found
    return words


@pytest.fixture
def begun(house: House) -> Iterator[Server]:
    """A server that has stored three memories, all of them in the log, and that writes nothing unless it is told to.

    What it stores by itself once it has started would notice what is done to the files before the test does.
    """
    with house.server() as server:
        server.shake_hands()
        for fact in BEFORE:
            assert not server.call("remember_fact", fact=fact)["isError"]
        server.until(lambda stats: bool(stats["hooks"]["caught_up"]))
        yield server


@pytest.mark.parametrize("suffixes", [["-wal"], ["-wal", "-shm"]])
@pytest.mark.req("SPEC-02.04")
def test_a_log_that_is_deleted_under_a_server_loses_nothing(house: House, begun: Server, suffixes: list[str]) -> None:
    for suffix in suffixes:
        os.unlink(f"{house.database}{suffix}")
    words = told_once(begun)
    assert "deleted" in words and "memory.db-wal" in words
    assert begun.end() == 0
    assert {*BEFORE, AFTER} <= contents(house)


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="only Linux tells who has a file open")
def test_whoever_comes_while_the_log_is_gone_leaves_the_rescue_to_the_session(house: House, begun: Server) -> None:
    os.unlink(f"{house.database}-wal")
    for arguments in (["remember", AFTER], ["query", "cranes"], ["doctor"]):
        done = command(house, *arguments)
        assert done.returncode == 1
        assert f"process {begun.process.pid}" in " ".join((done.stdout + done.stderr).split())
    assert "deleted" in told_once(begun)
    assert command(house, "remember", "The tug is red.").returncode == 0
    assert begun.end() == 0
    assert {*BEFORE, AFTER, "The tug is red."} <= contents(house)


def test_two_servers_whose_log_is_deleted_lose_nothing(house: House, begun: Server) -> None:
    facts = [f"The second harbour has a crane {number}." for number in range(6)]
    with house.server() as other:
        other.shake_hands()
        assert not other.call("remember_fact", fact=facts[0])["isError"]
        os.unlink(f"{house.database}-wal")
        for fact, server in zip(facts[1:], (begun, other, begun, other, begun), strict=True):
            answer = server.call("remember_fact", fact=fact)
            while answer["isError"]:
                assert "deleted" in words_of(answer) or "changed" in words_of(answer)
                answer = server.call("remember_fact", fact=fact)
        assert other.end() == 0
    assert begun.end() == 0
    assert {*BEFORE, *facts} <= contents(house)
    assert list_rescued_copies(house.database) == [], "one has brought all of it into the file"


def test_a_database_that_is_deleted_under_a_server_is_saved_beside_it(house: House, begun: Server) -> None:
    house.database.unlink()
    words = told_once(begun)
    [copy] = list_rescued_copies(house.database)
    assert str(copy) in words
    assert "rescued" in command(house, "doctor").stdout, "before anything is remembered anew, too"
    assert begun.end() == 0
    assert contents(house) == {AFTER}
    assert "rescued" in command(house, "doctor").stdout
    done = command(house, "restore-backup", str(copy), "--yes")
    assert done.returncode == 0, done.stderr
    assert set(BEFORE) <= contents(house)


def test_a_database_that_is_moved_under_a_server_has_the_last_write_where_it_is(house: House, begun: Server) -> None:
    elsewhere = house.root / "elsewhere.db"
    house.database.rename(elsewhere)
    assert str(elsewhere) in told_once(begun)
    assert list_rescued_copies(house.database) == []
    assert begun.end() == 0
    elsewhere.rename(house.database)
    assert contents(house) == set(BEFORE)


def test_a_database_that_is_replaced_under_a_server_is_saved_and_the_new_one_is_opened(
    house: House, begun: Server
) -> None:
    other = house.root / "other" / "memory.db"
    other.parent.mkdir()
    assert command(house, "backup", str(other)).returncode == 0
    words_stored = begun.call("remember_fact", fact="The tug is called Berta.")
    assert not words_stored["isError"]
    os.replace(other, house.database)
    words = told_once(begun)
    [copy] = list_rescued_copies(house.database)
    assert "replaced" in words and str(copy) in words
    assert begun.end() == 0
    assert contents(house) == {*BEFORE, AFTER}
    assert command(house, "restore-backup", str(copy), "--yes").returncode == 0
    assert contents(house) == {*BEFORE, "The tug is called Berta."}


@pytest.mark.parametrize("left", [0, 10_000])
def test_a_database_that_is_cut_under_a_server_is_neither_written_nor_begun_anew(
    house: House, begun: Server, left: int
) -> None:
    backup = house.home / ".claude" / "hyperloci" / "backups" / "memory-1.db"
    backup.parent.mkdir(parents=True, exist_ok=True)
    assert command(house, "backup", str(backup)).returncode == 0
    assert command(house, "doctor").returncode == 0, "it brings the log into the file"
    assert house.database.stat().st_size > left
    assert not begun.call("remember_fact", fact=BEFORE[0])["isError"]
    os.truncate(house.database, left)
    words = [words_of(begun.call("remember_fact", fact=AFTER)) for _ in range(3)]
    assert all("memory.db" in said for said in words)
    assert "cut" in words[0]
    done = command(house, "doctor")
    assert done.returncode == 1, done.stdout
    assert "restore-backup" in done.stdout
    assert command(house, "restore-backup", str(backup), "--yes").returncode == 0
    answer = begun.call("remember_fact", fact=AFTER)
    if answer["isError"]:
        answer = begun.call("remember_fact", fact=AFTER)
    assert not answer["isError"], answer
    assert begun.end() == 0
    assert contents(house) == {*BEFORE, AFTER}


def test_a_database_that_was_emptied_is_not_begun_anew_by_whoever_comes_next(house: House) -> None:
    with house.memory() as memory:
        memory.remember_fact(BEFORE[0])
    os.truncate(house.database, 0)
    done = command(house, "remember", AFTER)
    assert done.returncode == 1
    assert "delete the file to start over" in done.stderr
    assert house.database.stat().st_size == 0
    assert command(house, "doctor").returncode == 1
    house.database.unlink()
    assert command(house, "remember", AFTER).returncode == 0


Ending = Callable[[Any], int]


def by_signal(server: Server) -> int:
    server.process.terminate()
    return int(server.process.wait(SOON))


@pytest.mark.parametrize("end", [lambda server: server.end(), by_signal], ids=["stdin", "signal"])
@pytest.mark.parametrize("wait", [True, False], ids=["settled", "busy"])
def test_after_a_clean_end_the_database_is_one_file(house: House, end: Ending, wait: bool) -> None:
    house.extra |= {"HYPERLOCI_WATCH": "1"}
    for number in range(30):
        text = "\n\n".join(f"## Part {part}\n\nThe pier {part} of {number} is long." for part in range(40))
        (house.project / f"{number}.md").write_text(text)
    with house.server() as server:
        server.shake_hands()
        assert not server.call("remember_fact", fact=AFTER)["isError"]
        if wait:
            server.until(lambda stats: stats["watchers"].get("running") and stats["nodes"] > 100)
        assert end(server) == 0
    log = Path(f"{house.database}-wal")
    deadline = time.monotonic() + SOON
    while log.exists() and log.stat().st_size:
        assert time.monotonic() < deadline, log.stat().st_size
        threading.Event().wait(0.05)
    copy = house.root / "copy.db"
    shutil.copyfile(house.database, copy)
    house.extra["RLM_MEMORY_DB"] = str(copy)
    assert AFTER in contents(house)
