"""Disks that are full, files that can't be written, damaged files, locks that are held: for real."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from hyperloci.store import Store, integrity
from hyperloci.store.database import connection
from hyperloci.store.vectors import float16
from tests.support import NOW, add, vector_of

resource = pytest.importorskip("resource", reason="limits and mounts are POSIX's")

LARGE = "some words that fill the disk " * 2_000


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    """Mount a file system in memory, or skip the test."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(store: Store) -> list[str]:
    """Write until the disk is full; return what was acknowledged."""
    acknowledged: list[str] = []
    with pytest.raises(StoreFullError, match="No room left"):
        for number in range(100_000):
            content = f"{number} {LARGE}"
            add(store, content)
            acknowledged.append(content)
    return acknowledged


def assert_whole(store: Store) -> None:
    assert integrity.check_integrity(store) == []
    assert integrity.count_violations(store) == {}


def test_a_full_disk_loses_nothing_acknowledged_and_stores_nothing_by_halves(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=6m") as folder:
        ballast = folder / "ballast"
        ballast.write_bytes(b"\0" * 1_000_000)
        with Store.open(folder / "memory.db") as store:
            acknowledged = fill(store)
            assert acknowledged
            assert sorted(node.content for node in store.nodes.query_nodes(limit=10_000)) == sorted(acknowledged)
            # It stays readable and consistent, and says the same again.
            with pytest.raises(StoreFullError):
                add(store, LARGE * 30)
            assert not store.connection.in_transaction
            assert store.connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
            ballast.unlink()
            add(store, "there is room again")
            assert_whole(store)
        with Store.open(folder / "memory.db") as store:
            found = {node.content for node in store.nodes.query_nodes(limit=10_000)}
            assert found == {*acknowledged, "there is room again"}


def test_a_file_system_without_a_free_block_can_not_make_a_database(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=64k") as folder:
        with contextlib.suppress(OSError):
            (folder / "ballast").write_bytes(b"\0" * 60_000)
        with pytest.raises(StoreError):
            Store.open(folder / "memory.db")
        (folder / "ballast").unlink()
        with contextlib.suppress(StoreError):
            Store.open(folder / "memory.db").close()


def test_a_full_disk_in_the_midst_of_a_transaction_takes_all_of_it_back(store: Store) -> None:
    add(store, "before")
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count = {pages + 20}")
    with pytest.raises(StoreFullError), store.transaction():
        for number in range(1_000):
            add(store, f"{number} {LARGE}")
    assert [node.content for node in store.nodes.query_nodes()] == ["before"]
    store.connection.execute("PRAGMA max_page_count = 1000000000")
    add(store, LARGE)
    assert_whole(store)


def test_a_nested_block_that_finds_the_disk_full_fails_the_transaction_or_itself_alone(store: Store) -> None:
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    store.connection.execute(f"PRAGMA max_page_count = {pages + 20}")
    outcome = "committed"
    try:
        with store.transaction():
            add(store, "outer")
            with contextlib.suppress(StoreFullError), store.transaction():
                for number in range(1_000):
                    add(store, f"{number} {LARGE}")
    except StoreError:
        outcome = "failed"
    store.connection.execute("PRAGMA max_page_count = 1000000000")
    kept = [node.content for node in store.nodes.query_nodes()]
    assert kept == (["outer"] if outcome == "committed" else [])
    assert_whole(store)


LIMITED = """
import resource, signal, sys
from pathlib import Path
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
from hyperloci.errors import StoreError
from hyperloci.store import Store
from tests.support import add
with Store.open(Path(sys.argv[1])) as store:
    largest = max(file.stat().st_size for file in Path(sys.argv[1]).parent.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 400_000, resource.RLIM_INFINITY))
    acknowledged = 0
    try:
        while True:
            add(store, "words " * 4_000)
            acknowledged += 1
    except StoreError as error:
        outcome = type(error).__name__
    assert not store.connection.in_transaction
    assert len(store.nodes.query_nodes(limit=10_000)) == acknowledged
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    add(store, "again")
    print(outcome, acknowledged)
"""


def test_a_file_that_may_not_grow_loses_nothing_either(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path)], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    acknowledged = int(done.stdout.split()[1])
    assert acknowledged > 0
    with Store.open(path) as store:
        assert len(store.nodes.query_nodes(limit=10_000)) == acknowledged + 1
        assert_whole(store)


def test_a_folder_that_can_not_be_written_is_named(tmp_path: Path) -> None:
    with mounted(tmp_path / "fixed", "size=4m") as folder:
        with Store.open(folder / "memory.db") as store:
            add(store, "kept")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with pytest.raises(StoreReadOnlyError, match="RLM_MEMORY_DB"):
            Store.open(folder / "memory.db")
        with pytest.raises(StoreReadOnlyError, match="RLM_MEMORY_DB"):
            Store.open(folder / "other.db")
        with pytest.raises(StoreReadOnlyError, match="RLM_MEMORY_DB"):
            Store.open(folder / "new folder" / "memory.db")


def test_a_database_on_a_disk_that_can_not_be_written_is_still_read(tmp_path: Path) -> None:
    with mounted(tmp_path / "fixed", "size=4m") as folder:
        with Store.open(folder / "memory.db") as store:
            add(store, "kept")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with Store.open(folder / "memory.db", read_only=True) as store:
            assert [node.content for node in store.nodes.query_nodes()] == ["kept"]
            with pytest.raises(StoreReadOnlyError):
                add(store)


def test_a_log_that_can_not_be_read_on_such_a_disk_is_not_left_out_silently(tmp_path: Path) -> None:
    with mounted(tmp_path / "fixed", "size=4m") as folder:
        with Store.open(folder / "memory.db") as store:
            add(store, "in the log")
            for suffix in ("", "-wal"):
                shutil.copy(f"{folder / 'memory.db'}{suffix}", f"{folder / 'copy.db'}{suffix}")
        subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
        with pytest.raises(StoreReadOnlyError):
            Store.open(folder / "copy.db", read_only=True)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_without_write_permission_is_named(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch(0o400)
    with pytest.raises(StoreReadOnlyError, match="Permission denied"):
        Store.open(path)


def test_a_folder_in_the_databases_place_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreReadOnlyError, match="directory"):
        Store.open(tmp_path)


def test_a_file_in_the_folders_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreReadOnlyError, match="RLM_MEMORY_DB"):
        Store.open(tmp_path / "file" / "memory.db")


def made(path: Path, memories: int = 200) -> Path:
    with Store.open(path) as store:
        for number in range(memories):
            add(store, f"memory {number} " + "word " * 50)
        store.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def test_a_file_that_is_no_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    text = b"These are notes, not a database.\n" * 100
    path.write_bytes(text)
    os.chmod(path, 0o644)
    with pytest.raises(StoreCorruptError, match="not a healthy SQLite database"):
        Store.open(path)
    assert path.read_bytes() == text
    assert path.stat().st_mode & 0o777 == 0o644
    assert [entry.name for entry in tmp_path.iterdir()] == ["memory.db"]


def test_a_torn_header_is_a_damaged_file(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    data = bytearray(path.read_bytes())
    data[:64] = os.urandom(64)
    path.write_bytes(data)
    with pytest.raises(StoreCorruptError, match="hyperloci doctor"):
        Store.open(path)
    assert path.read_bytes() == bytes(data)


def test_a_file_cut_short_is_a_damaged_file(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    with open(path, "r+b") as file:
        file.truncate(10_000)
    with pytest.raises(StoreCorruptError), Store.open(path) as store, store.snapshot():
        store.nodes.query_nodes()
        store.count_everything()


def test_pages_overwritten_with_noise_are_found(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db")
    data = bytearray(path.read_bytes())
    for page in range(8, len(data) // 4096, 3):
        data[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)
    with pytest.raises(StoreCorruptError), Store.open(path) as store, store.transaction():
        assert integrity.check_integrity(store)
        store.nodes.query_nodes(limit=1_000)
        for number in range(100):
            add(store, f"more {number}")


@contextlib.contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        yield holder
        holder.execute("ROLLBACK")


def test_a_lock_held_too_long_is_busy_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "BUSY_TIMEOUT_MS", 50)
    with Store.open(tmp_path / "memory.db") as store:
        with locked(store.path):
            with pytest.raises(StoreBusyError, match="try again"):
                add(store, "refused")
            assert store.nodes.query_nodes() == []
        add(store, "written")
        assert len(store.nodes.query_nodes()) == 1


def test_a_caller_in_a_hurry_sets_how_long_it_waits(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store.open(path).close()
    with Store.open(path, busy_timeout_ms=1) as store:
        assert store.connection.execute("PRAGMA busy_timeout").fetchone()[0] == 1
        with locked(path), pytest.raises(StoreBusyError):
            add(store)


def test_what_may_be_left_undone_waits_only_as_long_as_it_is_told(store: Store) -> None:
    with locked(store.path):
        with pytest.raises(StoreBusyError), store.limit_lock_wait(1):
            add(store, "left undone")
        with pytest.raises(ZeroDivisionError), store.limit_lock_wait(1):
            raise ZeroDivisionError
        assert store.connection.execute("PRAGMA busy_timeout").fetchone()[0] == connection.BUSY_TIMEOUT_MS
    with store.limit_lock_wait(1):
        add(store, "done")
    assert [node.content for node in store.nodes.query_nodes()] == ["done"]


def test_a_busy_database_can_still_be_opened_and_read(tmp_path: Path) -> None:
    path = made(tmp_path / "memory.db", 1)
    with locked(path), Store.open(path, busy_timeout_ms=1) as store:
        assert len(store.nodes.query_nodes()) == 1


def test_a_fingerprint_is_stored_whole_or_not_at_all_when_the_disk_is_full(store: Store) -> None:
    nodes = [add(store, f"memory {number}") for number in range(30)]
    pages = store.connection.execute("PRAGMA page_count").fetchone()[0]
    with store.transaction():
        model = store.vectors.use_model("fake", 384, now=NOW)
    store.connection.execute(f"PRAGMA max_page_count = {pages + 10}")
    spaces = {"e1": float16.pack_half(vector_of("x")), "e12": bytes(20_000)}
    with pytest.raises(StoreFullError):
        for node in nodes:
            with store.transaction():
                store.vectors.put_fingerprint(node.key, model, spaces, now=NOW)
    store.connection.execute("PRAGMA max_page_count = 1000000000")
    stored = store.vectors.get_rows([node.key for node in nodes], ("e1", "e12"))
    assert all(row == (spaces["e1"], spaces["e12"]) for row in stored.values())
    assert store.vectors.count_pending() == len(nodes) - len(stored)
    assert_whole(store)
