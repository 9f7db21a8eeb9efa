from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hyperloci.store.database.write_queue import WriteQueue

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows has no shared file locks that end with a process"
)

WAITER = """
import sys
from pathlib import Path
from hyperloci.store.database.write_queue import WriteQueue
with WriteQueue(Path(sys.argv[1])).announce_waiting():
    print("waiting", flush=True)
    sys.stdin.read()
"""


def test_nobody_waits_at_first_nor_does_who_looks(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "memory.db")

    assert queue.has_waiting_writers() is False
    with queue.announce_waiting():
        pass
    assert queue.has_waiting_writers() is False
    queue.close()


def test_who_waits_is_seen_until_he_has_had_his_turn(tmp_path: Path) -> None:
    mine, first, second = (WriteQueue(tmp_path / "memory.db") for _ in range(3))

    with first.announce_waiting():
        with second.announce_waiting():
            assert mine.has_waiting_writers() is True
        assert mine.has_waiting_writers() is True
    assert mine.has_waiting_writers() is False
    for queue in (mine, first, second):
        queue.close()


def test_a_thread_that_looks_and_one_that_waits_do_not_hold_each_other_up(tmp_path: Path) -> None:
    looking, waiting = WriteQueue(tmp_path / "memory.db"), WriteQueue(tmp_path / "memory.db")
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            looking.has_waiting_writers()

    thread = threading.Thread(target=look)
    thread.start()
    for _ in range(200):
        with waiting.announce_waiting():
            pass
    done.set()
    thread.join(60)

    assert not thread.is_alive() and looking.has_waiting_writers() is False
    looking.close()
    waiting.close()


def test_the_place_of_a_process_that_is_killed_is_free(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    queue = WriteQueue(database)
    with subprocess.Popen(
        [sys.executable, "-c", WAITER, str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as waiter:
        assert waiter.stdout is not None and waiter.stdout.readline() == b"waiting\n"
        assert queue.has_waiting_writers() is True
        waiter.send_signal(signal.SIGKILL)
    assert queue.has_waiting_writers() is False
    queue.close()


def test_a_link_to_the_database_leads_to_the_same_queue(tmp_path: Path) -> None:
    (tmp_path / "link.db").symlink_to(tmp_path / "memory.db")
    here, there = WriteQueue(tmp_path / "memory.db"), WriteQueue(tmp_path / "link.db")

    with there.announce_waiting():
        assert here.has_waiting_writers() is True
    here.close()
    there.close()


def test_the_file_is_the_users_alone(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "memory.db")
    queue.has_waiting_writers()

    assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600]
    queue.close()


def test_where_no_file_can_be_made_it_cannot_be_told_who_waits(tmp_path: Path) -> None:
    queue = WriteQueue(tmp_path / "missing" / "memory.db")

    assert queue.has_waiting_writers() is None
    with queue.announce_waiting():
        assert not os.listdir(tmp_path)
    queue.close()
