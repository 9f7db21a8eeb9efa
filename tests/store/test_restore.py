"""Putting a backup in the database's place."""

from __future__ import annotations

import gzip
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hyperloci.errors import (
    BadRequestError,
    NotFoundError,
    StoreBusyError,
    StoreCorruptError,
    StoreFullError,
    StoreVersionError,
)
from hyperloci.model.search import SearchFilter
from hyperloci.store import Store, integrity, migration, restore
from hyperloci.store.database import database_copy
from hyperloci.store.database.connection import read_only_mode
from hyperloci.store.restore import check_backup, restore_backup
from tests.support import NOW, FakeClock, add


def texts(store: Store) -> set[str]:
    return {node.content for node in store.nodes.query_nodes(limit=1_000)}


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    """A backup of a database that held one memory."""
    with Store.open(tmp_path / "former" / "memory.db", clock=lambda: NOW) as store:
        add(store, "of the backup")
        return store.back_up(tmp_path / "backup.db")


def test_a_backup_takes_the_place_of_a_database_and_that_one_is_kept(
    backup: Path, tmp_path: Path, clock: FakeClock
) -> None:
    database = tmp_path / "memory.db"
    with Store.open(database) as store:
        add(store, "of before")
    kept = restore_backup(backup, database, clock=clock)
    assert kept == tmp_path / f"memory-before-restore-{NOW}.db"
    with Store.open(database) as store, Store.open(kept) as former:
        assert (texts(store), texts(former)) == ({"of the backup"}, {"of before"})
        assert integrity.check_integrity(store) == [] and integrity.count_violations(store) == {}
    with Store.open(backup) as store:
        assert texts(store) == {"of the backup"}


def test_a_backup_makes_a_database_where_there_is_none(backup: Path, tmp_path: Path) -> None:
    database = tmp_path / "new" / "memory.db"
    assert restore_backup(backup, database) is None
    with Store.open(database) as store:
        assert texts(store) == {"of the backup"}
    assert database.stat().st_mode & 0o777 == 0o600 or os.name != "posix"


def test_what_a_database_that_is_gone_left_beside_it_is_not_kept_as_one(backup: Path, tmp_path: Path) -> None:
    database = tmp_path / "new" / "memory.db"
    database.parent.mkdir()
    for suffix in ("-wal", "-shm"):
        Path(f"{database}{suffix}").write_bytes(b"left")
    assert restore_backup(backup, database) is None
    assert [path.name for path in database.parent.iterdir()] == ["memory.db"]
    with Store.open(database) as store:
        assert texts(store) == {"of the backup"}


def forbid_writing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a folder look like one that can't be written to, also for a user who may write everywhere."""
    may, closed = os.access, os.path.realpath(folder)
    monkeypatch.setattr(
        os, "access", lambda path, mode: may(path, mode) and not (mode & os.W_OK and os.path.realpath(path) == closed)
    )


def test_a_copy_made_by_hand_is_put_back_from_a_folder_that_can_not_be_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "disk"
    with Store.open(folder / "copy.db") as store:
        add(store, "copied by hand")
    files = sorted(folder.iterdir())
    forbid_writing(folder, monkeypatch)
    restore_backup(folder / "copy.db", tmp_path / "memory.db")
    # To make anything beside it is what SQLite would have failed at.
    assert sorted(folder.iterdir()) == files
    with Store.open(tmp_path / "memory.db") as store:
        assert texts(store) == {"copied by hand"}


def test_a_file_in_the_middle_of_a_change_is_never_read_as_it_lies(
    backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_writing(backup.parent, monkeypatch)
    assert read_only_mode(backup) == "mode=ro&immutable=1"
    Path(f"{backup}-journal").write_bytes(b"of a process that was killed")
    assert read_only_mode(backup) == "mode=ro"


def test_sessions_that_have_the_database_open_go_on_with_the_backups_content(backup: Path, tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    with Store.open(database) as store:
        add(store, "of before")
        assert store.filters.select_allowed(SearchFilter()).sum() == 1
        with store.snapshot():
            assert texts(store) == {"of before"}
        restore_backup(backup, database)
        assert texts(store) == {"of the backup"}
        # What they write afterwards is in the database, not in a file that has lost its name.
        add(store, "written afterwards")
        with Store.open(database) as other:
            assert texts(other) == {"of the backup", "written afterwards"}
    with Store.open(database) as store:
        assert texts(store) == {"of the backup", "written afterwards"}
        assert integrity.check_integrity(store) == []


def test_a_larger_database_shrinks_to_the_backup(backup: Path, tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    with Store.open(database) as store:
        for number in range(200):
            add(store, f"{number} " + "words " * 500)
        restore_backup(backup, database)
        assert texts(store) == {"of the backup"}
        assert integrity.check_integrity(store) == []


def test_a_database_that_is_written_to_for_too_long_is_busy_and_stays(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_copy, "LOCK_SECONDS", 0.01)
    monkeypatch.setattr(restore, "BUSY_TIMEOUT_MS", 1)
    database = tmp_path / "memory.db"
    with Store.open(database) as store:
        with store.transaction():
            add(store, "of before")
            with pytest.raises(StoreBusyError):
                restore_backup(backup, database)
        assert texts(store) == {"of before"}


@pytest.mark.parametrize("damage", ["no database", "torn", "cut short", "empty"])
def test_a_damaged_database_is_kept_byte_for_byte(backup: Path, tmp_path: Path, damage: str, clock: FakeClock) -> None:
    database = tmp_path / "memory.db"
    shutil.copy(backup, database)
    data = database.read_bytes()
    damaged = {
        "no database": b"nothing of the kind" * 99,
        "torn": b"\xa5" * 100 + data[100:],
        "cut short": data[:5_000],
        "empty": b"",
    }[damage]
    database.write_bytes(damaged)
    kept = restore_backup(backup, database, clock=clock)
    assert kept is not None
    assert kept.read_bytes() == damaged or damage == "empty"
    with Store.open(database) as store:
        assert texts(store) == {"of the backup"}
        assert integrity.check_integrity(store) == []


def test_a_log_left_beside_the_database_is_not_replayed_into_the_backup(backup: Path, tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    with Store.open(tmp_path / "other.db") as store:
        add(store, "of another life")
        shutil.copy(f"{tmp_path / 'other.db'}-wal", f"{database}-wal")
    assert restore_backup(backup, database) is None
    with Store.open(database) as store:
        assert texts(store) == {"of the backup"}
        assert integrity.check_integrity(store) == []


def test_what_is_not_there_is_not_restored(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no backup at"):
        restore_backup(tmp_path / "nothing.db", tmp_path / "memory.db")
    with pytest.raises(BadRequestError, match="is a folder"):
        restore_backup(tmp_path, tmp_path / "memory.db")


def test_a_check_of_a_backup_changes_nothing(backup: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    check_backup(backup, tmp_path / "new.db")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    with pytest.raises(BadRequestError, match="is a folder"):
        check_backup(tmp_path, tmp_path / "new.db")


def test_a_database_is_no_backup_of_itself(backup: Path) -> None:
    before = backup.read_bytes()
    with pytest.raises(BadRequestError, match="the database itself"):
        restore_backup(backup, backup)
    assert backup.read_bytes() == before


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks(url)")


def noise(path: Path) -> None:
    path.write_bytes(b"not a database" * 99)


def torn(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for page in range(3, len(data) // 4096, 2):
        data[page * 4096 : page * 4096 + 4096] = b"\xa5" * 4096
    path.write_bytes(data)


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 999")


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (foreign, StoreCorruptError),
        (noise, StoreCorruptError),
        (torn, StoreCorruptError),
        (newer, StoreVersionError),
    ],
)
def test_a_backup_that_is_no_good_changes_nothing(
    backup: Path, tmp_path: Path, spoil: Callable[[Path], None], error: type[Exception]
) -> None:
    database = tmp_path / "memory.db"
    with Store.open(database) as store:
        add(store, "of before")
    if spoil is foreign:
        backup.unlink()
    spoil(backup)
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir() if entry.is_file()}
    with pytest.raises(error):
        restore_backup(backup, database)
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir() if entry.is_file()} == before


def test_without_room_for_the_kept_copy_nothing_is_replaced(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "memory.db"
    with Store.open(database) as store:
        add(store, "of before")

    def no_room(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", no_room)
    with pytest.raises(StoreFullError):
        restore_backup(backup, database)
    monkeypatch.undo()
    with Store.open(database) as store:
        assert texts(store) == {"of before"}


def test_a_backup_of_an_older_schema_is_migrated_when_it_is_opened(backup: Path, tmp_path: Path) -> None:
    steps = migration.load_migrations()
    step = migration.Migration(len(steps) + 1, "next.sql", "CREATE TABLE further(x);\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migration, "load_migrations", lambda: (*steps, step))
        restore_backup(backup, tmp_path / "memory.db")
        with Store.open(tmp_path / "memory.db") as store:
            assert store.connection.execute("SELECT count(*) FROM further").fetchone()[0] == 0
            assert texts(store) == {"of the backup"}


def test_a_session_that_is_open_goes_on_after_a_backup_of_an_older_schema(tmp_path: Path, clock: FakeClock) -> None:
    old = tmp_path / "old.db"
    old.write_bytes(gzip.decompress((Path(__file__).parents[1] / "data" / "schema-v1.db.gz").read_bytes()))
    with Store.open(tmp_path / "memory.db") as session:
        add(session, "of before")
        restore_backup(old, session.path, clock=clock)
        with session.snapshot():
            found = session.keyword_search.rank_by_bm25(["launch"], session.filters.select_allowed(SearchFilter()), 5)
            assert session.nodes.find_explicit(found) == set(found) != set()
        add(session, "of after")
        assert texts(session) >= {"of after", "The launch window opens on Tuesdays."}
