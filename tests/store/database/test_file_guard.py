"""What happens to the files of an open database: what is another program's doing, and what is SQLite's own."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hyperloci.errors import HyperlociError, StoreBusyError, StoreCorruptError, StoreMovedError
from hyperloci.store import Store
from hyperloci.store.database import file_guard
from hyperloci.store.database.database_files import (
    DatabaseFiles,
    connect_to_files,
    identify_file,
    list_logged_pages,
    lock_database,
)
from hyperloci.store.database.file_guard import SAVED_LOG, DatabaseChange, list_rescued_copies
from hyperloci.store.database.meta import Meta
from hyperloci.store.integrity import check_integrity
from hyperloci.store.restore import restore_backup
from tests.embedder.helpers import wait_for
from tests.support import add

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows locks open files")


def texts(store: Store) -> set[str]:
    return {node.content for node in store.nodes.query_nodes(limit=1_000)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def test_what_sqlite_does_to_its_files_is_no_change(path: Path, tmp_path: Path) -> None:
    with Store.open(path) as store, Store.open(path) as other:
        small = store.back_up(tmp_path / "small.db")
        for number in range(300):
            add(store, f"The pier {number} has {number} cranes and a long description of each of them.")
        other.checkpoint_log()
        assert store.file_guard.detect_change() is None
        grown = path.stat().st_size
        with store.transaction():
            store.connection.execute("DELETE FROM nodes")
        other.connection.execute("VACUUM")
        other.checkpoint_log()
        assert path.stat().st_size < grown
        assert (store.file_guard.detect_change(), other.file_guard.detect_change()) == (None, None)
        add(store, "The tug is red.")
        for number in range(300):
            add(store, f"The quay {number} has {number} cranes and a long description of each of them.")
        other.checkpoint_log()
        assert restore_backup(small, path) is not None
        other.checkpoint_log()
        assert store.file_guard.detect_change() is None
        add(store, "The lighthouse is green.")
        assert texts(store) == texts(other) == {"The lighthouse is green."}
    assert list_rescued_copies(path) == []


def shrink_file(store: Store, other: Store) -> None:
    """Fill a file, which a store has seen, make it smaller through the other, and write more, which is only logged."""
    for number in range(300):
        add(store, f"The pier {number} has {number} cranes and a long description of each of them.")
    other.checkpoint_log()
    assert store.file_guard.detect_change() is None
    with other.transaction():
        other.connection.execute("DELETE FROM nodes")
    other.connection.execute("VACUUM")
    other.checkpoint_log()
    other.connection.execute("PRAGMA wal_autocheckpoint = 0")
    for number in range(100):
        add(other, f"The quay {number} has {number} cranes and a long description of each of them.")


def test_a_file_that_became_smaller_is_whole_though_what_was_written_since_is_only_in_the_log(path: Path) -> None:
    with Store.open(path) as store, Store.open(path) as other:
        shrink_file(store, other)
        pages, page_bytes = (
            other.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
        )
        assert path.stat().st_size < pages * page_bytes
        add(store, "The tug is red.")
        assert len(texts(store)) == 101


def test_a_file_that_became_smaller_is_whole_though_the_log_is_brought_into_it_at_that_moment(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path) as store, Store.open(path) as other:
        shrink_file(store, other)
        grown: list[bool] = []

        def list_after_checkpoint(*given: Any) -> set[int]:
            before = path.stat().st_size
            other.connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            grown.append(path.stat().st_size > before)
            return list_logged_pages(*given)

        monkeypatch.setattr(file_guard, "list_logged_pages", list_after_checkpoint)
        assert store.file_guard.detect_change() is None
        assert grown == [True]


def test_a_file_that_was_cut_is_not_whole_though_the_log_holds_some_of_its_pages(path: Path) -> None:
    with Store.open(path) as store, Store.open(path) as other:
        for number in range(300):
            add(store, f"The pier {number} has {number} cranes and a long description of each of them.")
        other.checkpoint_log()
        assert store.file_guard.detect_change() is None
        add(other, "The tug is red.")
        with open(path, "r+b") as file:
            file.truncate(path.stat().st_size // 2)
        assert store.file_guard.detect_change() is DatabaseChange.CUT


@pytest.mark.parametrize("checkpoint", ["PASSIVE", "RESTART"])
def test_a_file_that_was_cut_is_not_whole_though_the_log_still_holds_what_was_brought_into_it(
    path: Path, checkpoint: str
) -> None:
    with Store.open(path) as store:
        for number in range(300):
            add(store, f"The pier {number} has {number} cranes and a long description of each of them.")
        assert store.connection.execute(f"PRAGMA wal_checkpoint({checkpoint})").fetchone()[0] == 0
        assert store.file_guard.detect_change() is None
        page_bytes = store.connection.execute("PRAGMA page_size").fetchone()[0]
        os.truncate(path, path.stat().st_size - 2 * page_bytes)
        assert store.file_guard.detect_change() is DatabaseChange.CUT


@pytest.mark.req("W9")
@pytest.mark.parametrize("suffixes", [("-wal",), ("-wal", "-shm")])
def test_a_lost_log_is_brought_into_the_file_before_anything_more_is_written(
    path: Path, suffixes: tuple[str, ...]
) -> None:
    with Store.open(path) as store:
        add(store, "The tug is red.")
        for suffix in suffixes:
            os.unlink(f"{path}{suffix}")
        assert store.file_guard.detect_change() is DatabaseChange.LOG_GONE
        with pytest.raises(StoreMovedError, match=r"now in .*memory\.db"):
            add(store, "The lighthouse is green.")
        copied = shutil.copyfile(path, path.with_name("copy.db"))
    with Store.open(copied) as copy, Store.open(path) as store:
        assert texts(copy) == texts(store) == {"The tug is red."}


@pytest.mark.req("W9")
def test_who_finds_a_log_being_saved_waits_and_copies_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits = threading.Event()

    @contextlib.contextmanager
    def announced_lock(real: str) -> Iterator[None]:
        waits.set()
        with lock_database(real):
            yield

    def told_of_loss(store: Store) -> str:
        with pytest.raises(StoreMovedError) as caught:
            add(store, "The lighthouse is green.")
        return str(caught.value)

    with Store.open(path) as store, Store.open(path) as other, ThreadPoolExecutor(1) as threads:
        add(store, "The tug is red.")
        lost = identify_file(f"{path}-wal")
        os.unlink(f"{path}-wal")
        monkeypatch.setattr(file_guard, "lock_database", announced_lock)
        with lock_database(str(path)):
            other.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            with contextlib.closing(connect_to_files(str(path), "mode=rw", timeout=1.0)[0]) as begun:
                told = threads.submit(told_of_loss, store)
                assert waits.wait(60), "it looks only when the log has been saved"
                Meta(begun).set(SAVED_LOG, str(lost))
        assert "content is now in" in told.result(60)
    assert list_rescued_copies(path) == []
    with Store.open(path) as store:
        assert texts(store) == {"The tug is red."}


@pytest.mark.req("W9")
def test_who_opens_a_database_as_its_log_is_deleted_is_told_and_harms_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperloci.store.store.refuse_missing_log", os.path.exists)  # it looked just before
    with Store.open(path) as store:
        add(store, "The tug is red.")
        os.unlink(f"{path}-wal")
        with pytest.raises(StoreMovedError, match="try again"):
            Store.open(path)
        assert Path(f"{path}-wal").stat().st_size == 0, "there is a new log"
        with pytest.raises(StoreMovedError, match="content is now in"):
            add(store, "The lighthouse is green.")
    assert list_rescued_copies(path) == []
    with Store.open(path) as store:
        assert texts(store) == {"The tug is red."}


def test_what_was_written_after_a_copy_was_made_is_copied_too(path: Path) -> None:
    with Store.open(path) as first, Store.open(path) as second:
        add(first, "The tug is red.")
        path.unlink()
        with pytest.raises(StoreMovedError, match="moved or deleted"):
            add(first, "lost?")
        with pytest.raises(StoreMovedError, match="saved to"):
            add(second, "lost?")
    [copy] = list_rescued_copies(path)
    with Store.open(copy) as kept:
        assert texts(kept) == {"The tug is red."}


def test_a_copy_that_was_made_before_is_never_written_over(path: Path) -> None:
    for text in ("The tug is red.", "The tug is blue."):
        with Store.open(path) as store:
            add(store, text)
            for file in path.parent.glob("memory.db*"):
                file.unlink()
            with pytest.raises(StoreMovedError):
                add(store, "lost?")
    found = set()
    for copy in list_rescued_copies(path):
        with Store.open(copy) as kept:
            found |= texts(kept)
    assert found == {"The tug is red.", "The tug is blue."}


def test_an_open_transaction_is_not_disturbed_and_reads_need_no_look(path: Path) -> None:
    with Store.open(path) as store:
        with store.transaction():
            os.unlink(f"{path}-wal")
            add(store, "The tug is red.")
        assert texts(store) == {"The tug is red."}
        with pytest.raises(StoreMovedError):
            store.refuse_moved_files()
    with Store.open(path) as store:
        assert texts(store) == {"The tug is red."}


@pytest.mark.parametrize("beside", ["-wal", ".migrate.lock"])
def test_an_emptied_file_is_refused_and_an_empty_one_is_used(path: Path, beside: str) -> None:
    path.touch()
    with Store.open(path) as store:
        add(store, "The tug is red.")
    os.truncate(path, 0)
    Path(f"{path}{beside}").write_bytes(b"x")
    with pytest.raises(StoreCorruptError, match="delete the file to start over"):
        Store.open(path)
    with pytest.raises(StoreCorruptError, match="is empty"):
        Store.open(path, read_only=True)
    assert path.stat().st_size == 0


def test_text_that_is_not_utf_8_is_read_as_well_as_it_can_be(path: Path) -> None:
    from hyperloci.store.database.error_translation import read_leniently

    with Store.open(path) as store:
        store.connection.execute("CREATE TEMP TABLE broken AS SELECT CAST(x'41ff42' AS TEXT) AS text")
        with pytest.raises(sqlite3.OperationalError) as caught:
            store.connection.execute("SELECT text FROM broken").fetchall()
        assert read_leniently(store.connection, caught.value)
        assert store.connection.execute("SELECT text FROM broken").fetchone()[0] == "A\ufffdB"
        assert not read_leniently(store.connection, caught.value), "once"


def test_the_log_is_emptied_as_far_as_readers_allow(path: Path) -> None:
    log = Path(f"{path}-wal")
    with Store.open(path) as store, contextlib.closing(sqlite3.connect(path, isolation_level=None)) as reader:
        add(store, "The tug is red.")
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM nodes").fetchone()
        add(store, "The lighthouse is green.")
        store.checkpoint_log()
        assert log.stat().st_size
        reader.execute("ROLLBACK")
        store.checkpoint_log()
        assert log.stat().st_size == 0


@pytest.mark.req("W9")
def test_a_database_made_where_one_was_deleted_shares_nothing_with_it(path: Path) -> None:
    with Store.open(path) as old:
        add(old, "The tug is red.")
        before = DatabaseFiles.find(str(path))
        path.unlink()
        with Store.open(path) as new:
            found = DatabaseFiles.find(str(path))
            assert not {before.main, before.log, before.index} & {found.main, found.log, found.index}
            add(new, "The tug is blue.")
            assert (texts(old), texts(new)) == ({"The tug is red."}, {"The tug is blue."})
    with Store.open(path) as store:
        assert texts(store) == {"The tug is blue."}
    [copy] = list_rescued_copies(path)
    with Store.open(copy) as store:
        assert texts(store) == {"The tug is red."}, "it was saved when it was closed"


def test_a_log_that_another_database_left_in_place_is_not_played_into_the_new_one(path: Path, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.db") as other:
        add(other, "The tug is blue.")
    with Store.open(path) as old:
        add(old, "The tug is red.")
        os.replace(tmp_path / "other.db", path)
        with Store.open(path) as new:
            assert texts(new) == {"The tug is blue."}
    assert len(list_rescued_copies(path)) == 1


def test_a_file_that_takes_anothers_place_while_that_is_opened_is_the_one_that_is_used(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path) as store, Store.open(tmp_path / "other.db") as other:
        add(store, "The tug is red.")
        add(other, "The tug is blue.")
    left = [tmp_path / "other.db"]
    connect = sqlite3.connect

    def connect_and_replace(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        if left:
            os.replace(left.pop(), path)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_and_replace)
    connection, files = connect_to_files(str(path), "mode=rw", timeout=1.0)
    with contextlib.closing(connection):
        assert connection.execute("SELECT content FROM nodes").fetchall() == [("The tug is blue.",)]
    assert files.main == identify_file(str(path))


def test_a_database_whose_files_are_replaced_without_end_is_given_up(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(path):
        pass
    connect = sqlite3.connect

    def connect_and_replace(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        shutil.copy(path, tmp_path / "other.db")
        os.replace(tmp_path / "other.db", path)
        return connection

    monkeypatch.setattr(sqlite3, "connect", connect_and_replace)
    with pytest.raises(StoreBusyError, match="again and again"):
        connect_to_files(str(path), "mode=rw", timeout=1.0)


@pytest.mark.req("SPEC-02.04")
def test_nothing_is_lost_of_databases_that_are_deleted_while_threads_open_write_and_close(path: Path) -> None:
    stored: set[str] = set()
    strange: list[Exception] = []
    ending = threading.Event()

    def write(name: str) -> None:
        count = 0
        while not ending.is_set():
            try:
                with Store.open(path) as store:
                    for _ in range(5):
                        count += 1
                        text = f"{name} {count}"
                        add(store, text)
                        stored.add(text)
            except StoreMovedError:
                continue
            except HyperlociError as error:
                strange.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in ("one", "two", "three")]
    for thread in threads:
        thread.start()
    try:
        for _ in range(8):
            there = len(stored)
            wait_for(lambda there=there: len(stored) > there + 20)  # type: ignore[misc]
            # Somebody has it open: of a database that nobody has open, its owner may delete what he likes.
            with Store.open(path):
                path.unlink(missing_ok=True)
    finally:
        ending.set()
        for thread in threads:
            thread.join()
    found: set[str] = set()
    for file in (path, *list_rescued_copies(path)):
        if file.exists():
            with Store.open(file) as store:
                assert check_integrity(store) == []
                found |= texts(store)
    assert strange == []
    assert stored <= found
