"""Opening the file, transactions, snapshots, and SQLite's errors made ours."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.errors import (
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreReadOnlyError,
)
from hyperloci.store import Store
from hyperloci.store.database import connection, error_translation
from tests.support import NOW, add, examples

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")

PRIMARY = {
    "SQLITE_BUSY": StoreBusyError,
    "SQLITE_LOCKED": StoreBusyError,
    "SQLITE_PROTOCOL": StoreBusyError,
    "SQLITE_FULL": StoreFullError,
    "SQLITE_READONLY": StoreReadOnlyError,
    "SQLITE_CANTOPEN": StoreReadOnlyError,
    "SQLITE_PERM": StoreReadOnlyError,
    "SQLITE_AUTH": StoreReadOnlyError,
    "SQLITE_CORRUPT": StoreCorruptError,
    "SQLITE_NOTADB": StoreCorruptError,
}
OTHER_NAMES = """ERROR INTERNAL ABORT NOMEM INTERRUPT IOERR NOTFOUND EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE
    NOLFS FORMAT RANGE NOTICE WARNING"""
OTHER = {f"SQLITE_{name}": StoreError for name in OTHER_NAMES.split()}

RESULT_CODES = """OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL
    CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB NOTICE WARNING ROW
    DONE"""
"""https://sqlite.org/rescode.html, "Result Code Meanings"."""


def mode_of(path: Path | str) -> int:
    return stat.S_IMODE(os.stat(path).st_mode)


def open_raw(path: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(path, isolation_level=None))


@pytest.mark.req("SPEC-02.01", "SPEC-02.04")
def test_a_new_database_is_an_sqlite_file_in_wal_mode(store: Store) -> None:
    assert store.path.read_bytes().startswith(b"SQLite format 3\x00")
    assert store.connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    assert store.connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1


@pytest.mark.parametrize(("word", "level"), [("normal", 1), ("full", 2)])
def test_the_durability_asked_for_is_set(tmp_path: Path, word: str, level: int) -> None:
    with Store.open(tmp_path / "a.db", synchronous=word) as store:
        assert store.connection.execute("PRAGMA synchronous").fetchone()[0] == level


@posix
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_everything_made_beside_the_database_is_the_users_alone(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        path = tmp_path / "deep" / "folder" / "memory.db"
        with Store.open(path) as store:
            add(store)
            store.back_up(tmp_path / "backups" / "copy.db")
            files = list(path.parent.iterdir())
            assert {entry.name for entry in files} >= {"memory.db", "memory.db-wal", "memory.db-shm"}
            assert {entry.name: mode_of(entry) for entry in files} == {entry.name: 0o600 for entry in files}
            assert mode_of(path.parent) == 0o700
        assert mode_of(tmp_path / "backups") == 0o700
        assert mode_of(tmp_path / "backups" / "copy.db") == 0o600
    finally:
        os.umask(before)


@posix
def test_a_database_others_could_read_is_made_private_with_its_companions(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path) as first:
        add(first)
        for name in (path, f"{path}-wal", f"{path}-shm"):
            os.chmod(name, 0o644)
        with Store.open(path):
            assert [mode_of(name) for name in (path, f"{path}-wal", f"{path}-shm")] == [0o600] * 3


@posix
def test_a_file_system_without_modes_still_holds_a_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "memory.db"
    path.touch(0o644)

    def refuse(name: object, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chmod", refuse)
    with Store.open(path) as store:
        assert store.nodes.query_nodes() == []
    assert "cannot be made private" in caplog.text


@pytest.mark.parametrize("name", ["with space.db", "a#b.db", "what?.db", "100%25.db", "é中.db", "quote'\".db", "-x.db"])
@pytest.mark.skipif(os.name != "posix", reason="Windows forbids some of these names")
def test_any_file_name_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "odd #folder?" / name
    with Store.open(path) as store:
        add(store, "kept")
    assert sorted(entry.name for entry in path.parent.iterdir() if not entry.name.endswith(".lock")) == [name]
    with Store.open(path, read_only=True) as store:
        assert [node.content for node in store.nodes.query_nodes()] == ["kept"]


@posix
def test_a_link_and_the_file_behind_it_are_one_database(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "links").mkdir()
    link = tmp_path / "links" / "memory.db"
    link.symlink_to(tmp_path / "real" / "memory.db")
    with Store.open(link) as by_link, Store.open(tmp_path / "real" / "memory.db") as direct:
        add(by_link, "through the link")
        add(direct, "directly")
        assert {node.content for node in by_link.nodes.query_nodes()} == {"through the link", "directly"}
    assert link.is_symlink()
    assert {entry.name for entry in (tmp_path / "links").iterdir()} == {"memory.db"}


def test_a_relative_path_is_the_one_seen_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Store.open(Path("here.db")) as store:
        add(store)
    assert (tmp_path / "here.db").stat().st_size > 0


def test_a_reader_reads_and_can_not_write(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path) as store:
        add(store, "kept")
    with Store.open(path, read_only=True) as reader:
        assert [node.content for node in reader.nodes.query_nodes()] == ["kept"]
        with pytest.raises(StoreReadOnlyError):
            add(reader, "refused")
        assert [node.content for node in reader.nodes.query_nodes()] == ["kept"]


def test_a_reader_leaves_the_one_file_as_it_found_it_and_takes_no_log_from_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path) as store:
        add(store, "kept")
    before = {entry.name for entry in tmp_path.iterdir()}
    with Store.open(path, read_only=True) as reader:
        assert reader.nodes.query_nodes()
    assert {entry.name for entry in tmp_path.iterdir()} == before
    reader = Store.open(path, read_only=True)
    with Store.open(path) as writer:
        add(writer, "later")
        reader.close()
        assert (tmp_path / "memory.db-wal").stat().st_size > 0
        assert len(writer.nodes.query_nodes()) == 2
    assert {entry.name for entry in tmp_path.iterdir()} == before


def test_a_reader_of_what_is_not_there_is_told_so_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no database at"):
        Store.open(tmp_path / "none.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(PRIMARY | OTHER))
def test_every_primary_result_code_becomes_an_error_of_ours(name: str) -> None:
    code = getattr(sqlite3, name)
    error = sqlite3.OperationalError("what SQLite said")
    error.sqlite_errorcode = code
    translated = error_translation.translate_error(error, "/the/file.db")
    assert type(translated) is (PRIMARY | OTHER)[name]
    assert "/the/file.db" in str(translated)
    assert ("what SQLite said" in str(translated)) is (type(translated) is StoreError), (
        "SQLite's words tell a caller nothing to do"
    )


def test_the_table_of_codes_names_every_primary_code_there_is() -> None:
    codes = {f"SQLITE_{name}" for name in RESULT_CODES.split()}
    assert all(getattr(sqlite3, name) < 256 for name in codes)
    assert codes - set(PRIMARY | OTHER) == {"SQLITE_OK", "SQLITE_ROW", "SQLITE_DONE"}


@pytest.mark.parametrize("name", [name for name in dir(sqlite3) if name.startswith(tuple(f"{n}_" for n in PRIMARY))])
def test_extended_result_codes_count_as_their_primary_one(name: str) -> None:
    primary = max((n for n in PRIMARY if name.startswith(f"{n}_")), key=len)
    code = getattr(sqlite3, name)
    if code & 0xFF != getattr(sqlite3, primary):
        pytest.skip(f"{name} is no result code")
    error = sqlite3.OperationalError("x")
    error.sqlite_errorcode = code
    assert type(error_translation.translate_error(error)) is PRIMARY[primary]


def test_a_full_disk_found_while_the_log_index_grows_is_a_full_disk() -> None:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = sqlite3.SQLITE_IOERR_SHMSIZE
    assert type(error_translation.translate_error(error)) is StoreFullError


@pytest.mark.parametrize(
    "kind",
    [kind for kind in vars(sqlite3).values() if isinstance(kind, type) and issubclass(kind, Exception)],
    ids=lambda kind: kind.__name__,
)
def test_every_exception_class_of_sqlite3_is_caught_at_the_edge(kind: type[Exception]) -> None:
    with (
        pytest.raises(StoreError, match="went wrong") as caught,
        error_translation.translate_block_errors("/the/file.db"),
    ):
        raise kind("went wrong")
    assert isinstance(caught.value.__cause__, kind)


def test_other_errors_pass_the_edge_as_they_are() -> None:
    with pytest.raises(ZeroDivisionError), error_translation.translate_block_errors():
        raise ZeroDivisionError


def test_a_statement_that_fails_takes_its_whole_transaction_back(store: Store) -> None:
    with pytest.raises(StoreError, match="UNIQUE"), store.transaction():
        add(store, "first")
        store.connection.execute("INSERT INTO scopes(id, name, created_at) VALUES ('global', 'x', 1)")
    assert store.nodes.query_nodes() == []
    assert not store.connection.in_transaction


def test_an_error_of_the_callers_takes_the_transaction_back_and_stays_itself(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), store.transaction():
        add(store, "first")
        raise KeyboardInterrupt
    assert store.nodes.query_nodes() == []


def test_a_nested_block_that_fails_is_undone_alone(store: Store) -> None:
    with store.transaction():
        add(store, "before")
        with pytest.raises(ZeroDivisionError), store.transaction():
            add(store, "undone")
            with store.transaction():
                add(store, "undone with it")
            raise ZeroDivisionError
        add(store, "after")
    assert {node.content for node in store.nodes.query_nodes()} == {"before", "after"}


def test_a_nested_block_is_undone_with_the_outer_one(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction():
        with store.transaction():
            add(store)
        raise ZeroDivisionError
    assert store.nodes.query_nodes() == []


def test_sqlite_errors_of_a_nested_block_are_ours_already_there(store: Store) -> None:
    with store.transaction():
        add(store, "kept")
        with pytest.raises(StoreError, match="no such table"), store.transaction():
            store.connection.execute("INSERT INTO nowhere VALUES (1)")
    assert [node.content for node in store.nodes.query_nodes()] == ["kept"]


def test_a_transaction_that_sqlite_ended_by_itself_is_not_acknowledged(store: Store) -> None:
    with pytest.raises(StoreError), store.transaction():
        add(store, "lost")
        # What a full disk may do.
        store.connection.execute("ROLLBACK")
    assert store.nodes.query_nodes() == []
    add(store, "usable again")
    assert len(store.nodes.query_nodes()) == 1


def test_a_nested_block_whose_transaction_sqlite_ended_fails_with_the_first_error(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.transaction(), store.transaction():
        store.connection.execute("ROLLBACK")
        raise ZeroDivisionError
    assert not store.connection.in_transaction


def test_a_snapshot_sees_one_state_while_others_write(store: Store) -> None:
    add(store, "first")
    with Store.open(store.path) as other, store.snapshot():
        assert len(store.nodes.query_nodes()) == 1
        add(other, "second")
        with store.snapshot():
            assert len(store.nodes.query_nodes()) == 1
    assert len(store.nodes.query_nodes()) == 2


def test_writing_inside_a_snapshot_is_refused_instead_of_lost(store: Store) -> None:
    with store.snapshot(), pytest.raises(StoreError, match="A snapshot is open"):
        add(store)
    with pytest.raises(StoreError, match="A snapshot is read-only"), store.snapshot():
        store.log.add_entry("x", [], now=NOW)
    assert store.connection.execute("SELECT count(*) FROM evolution_log").fetchone()[0] == 0
    add(store, "after it")
    assert len(store.nodes.query_nodes()) == 1


def test_a_snapshot_inside_a_transaction_sees_what_it_wrote(store: Store) -> None:
    with store.transaction():
        add(store)
        with store.snapshot():
            assert len(store.nodes.query_nodes()) == 1
    assert len(store.nodes.query_nodes()) == 1


def test_a_snapshot_that_fails_leaves_the_connection_usable(store: Store) -> None:
    with pytest.raises(StoreError, match="no such table"), store.snapshot():
        store.connection.execute("SELECT * FROM nowhere")
    add(store)
    assert len(store.nodes.query_nodes()) == 1


class Busy:
    """An action that SQLite calls busy a few times."""

    def __init__(self, times: int, code: int = sqlite3.SQLITE_BUSY) -> None:
        self.left = times
        self.code = code

    def __call__(self) -> str:
        if self.left:
            self.left -= 1
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = self.code
            raise error
        return "done"


@pytest.mark.parametrize("times", range(connection.BUSY_RETRIES + 1))
def test_a_busy_answer_is_tried_again_after_a_longer_pause_each_time(times: int) -> None:
    pauses: list[float] = []
    assert connection.retry_busy(Busy(times), pauses.append) == "done"
    assert len(pauses) == times
    assert all(0.5 <= pause / (0.05 * 2**index) <= 1.5 for index, pause in enumerate(pauses))


def test_what_stays_busy_is_given_up() -> None:
    pauses: list[float] = []
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        connection.retry_busy(Busy(99), pauses.append)
    assert len(pauses) == connection.BUSY_RETRIES


def test_a_busy_answer_that_was_waited_for_is_final() -> None:
    pauses: list[float] = []
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        connection.retry_busy(Busy(99), pauses.append, timeout_ms=0)
    assert pauses == []


def test_other_errors_are_not_tried_again() -> None:
    pauses: list[float] = []
    with pytest.raises(sqlite3.OperationalError):
        connection.retry_busy(Busy(1, sqlite3.SQLITE_FULL), pauses.append)
    assert pauses == []


@hypothesis_settings(max_examples=examples(50))
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans()), max_size=12))
def test_what_is_committed_is_what_no_failed_block_holds(plan: list[tuple[int, bool]]) -> None:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as memory:
        memory.execute("CREATE TABLE t(x)")
        expected: list[int] = []
        for number, (depth, fails) in enumerate(plan):
            if _write_nested(memory, number, depth, fails):
                expected.extend([number] * (depth + 1))
        assert [row[0] for row in memory.execute("SELECT x FROM t ORDER BY x")] == expected


def _write_nested(memory: sqlite3.Connection, number: int, depth: int, fails: bool) -> bool:
    try:
        with connection.write_transaction(memory):
            memory.execute("INSERT INTO t VALUES (?)", (number,))
            if depth:
                if not _write_nested(memory, number, depth - 1, fails):
                    raise ZeroDivisionError
            elif fails:
                raise ZeroDivisionError
    except ZeroDivisionError:
        return False
    return True


def test_a_database_made_by_another_process_at_that_moment_is_not_taken_for_foreign(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with contextlib.closing(sqlite3.connect(path)) as opened:
        made: list[str] = []

        def make(sql: str) -> None:
            if "sqlite_master" in sql and not made:
                made.append(sql)
                Store.open(path).close()

        opened.set_trace_callback(make)
        connection.refuse_foreign_database(opened, path)

    assert made


@posix
def test_a_pipe_or_device_is_no_database_and_keeps_who_may_use_it(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o666)
    with pytest.raises(StoreReadOnlyError, match="not a regular file"):
        Store.open(pipe)
    assert stat.S_IMODE(pipe.stat().st_mode) == 0o666
    assert [entry.name for entry in tmp_path.iterdir()] == ["pipe"]
