"""A process that leaves a log behind has it brought into the file once it has ended."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hyperloci.store import Store
from hyperloci.store.database.checkpoint import empty_log, empty_log_after_exit, measure_log
from tests.support import add

SECONDS = 60

LEAVING = """
import os, sys
from pathlib import Path
from hyperloci.store import Store
from hyperloci.store.database.checkpoint import empty_log_after_exit
from tests.support import add

path = Path(sys.argv[1])
store = Store.open(path)
add(store, "The tug is red.")
store.connection.execute("BEGIN IMMEDIATE")
store.connection.execute("DELETE FROM nodes")
empty_log_after_exit(path)
os._exit(0)
"""


@pytest.mark.req("W8")
def test_what_is_left_open_is_closed_by_whoever_stays_behind(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    subprocess.run([sys.executable, "-c", LEAVING, str(path)], check=True, timeout=SECONDS)
    deadline = time.monotonic() + SECONDS
    while measure_log(path):
        assert time.monotonic() < deadline
        threading.Event().wait(0.02)
    copy = shutil.copyfile(path, tmp_path / "copy.db")
    with Store.open(copy) as store:
        assert [node.content for node in store.nodes.query_nodes()] == ["The tug is red."]


def test_nothing_is_started_where_nothing_was_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with Store.open(tmp_path / "memory.db") as store:
        add(store, "The tug is red.")
    empty_log_after_exit(tmp_path / "memory.db")
    empty_log_after_exit(tmp_path / "nothing.db")


def test_a_file_that_was_cut_or_is_gone_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    log = Path(f"{path}-wal")
    log.write_bytes(b"x" * 1_000)
    assert not empty_log(path)
    path.touch()
    assert empty_log(path)
    assert (path.stat().st_size, log.stat().st_size) == (0, 1_000)
