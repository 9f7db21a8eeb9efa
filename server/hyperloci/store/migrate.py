"""Numbered migrations: `migrations/NNNN_name.sql` takes `PRAGMA user_version` from N-1 to N, after a backup."""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from filelock import FileLock, Timeout

from hyperloci.clock import Clock
from hyperloci.errors import StoreBusyError, StoreCorruptError, StoreVersionError
from hyperloci.store.connection import transaction, translated

APPLICATION_ID = 0x48594C43
"""`HYLC`, in the SQLite header: the file says whose it is."""

LOCK_SECONDS = 30.0
"""How long an opening process waits for another that migrates."""

_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: its number, file name and SQL."""

    number: int
    name: str
    sql: str


def load_migrations() -> tuple[Migration, ...]:
    """Return all migrations that ship with this program, in order."""
    folder = resources.files("hyperloci.store") / "migrations"
    found = [
        Migration(int(match[1]), entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if (match := _NAME.match(entry.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.number))


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the database's schema version; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def latest_version() -> int:
    """Return the newest schema version this program knows."""
    return load_migrations()[-1].number


def migrate(connection: sqlite3.Connection, path: Path, backup_dir: Path, clock: Clock) -> list[str]:
    """Bring the schema up to date under a lock and return the names of the steps taken.

    A database that is in use already is copied first.

    Raises:
        StoreVersionError: the schema is newer than this program.
        StoreCorruptError: the file is an SQLite database of another program.
        StoreBusyError: another process has been migrating for too long.
    """
    with translated(path):
        version = _checked_version(connection, path)
        migrations = load_migrations()
        if version == migrations[-1].number:
            return []
        with _lock(path):
            version = _checked_version(connection, path)
            steps = [migration for migration in migrations if migration.number > version]
            if version and steps:
                back_up(connection, backup_dir / f"{path.stem}-v{version}-{clock()}.db")
            for step in steps:
                _apply(connection, step)
            return [step.name for step in steps]


@contextlib.contextmanager
def _lock(path: Path) -> Iterator[None]:
    try:
        with FileLock(f"{path}.migrate.lock", timeout=LOCK_SECONDS, mode=0o600):
            yield
    except Timeout as error:
        raise StoreBusyError(f"Another process is migrating {path}; try again in a minute.") from error


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    version = schema_version(connection)
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if owner not in (0, APPLICATION_ID) or (owner == 0 and tables):
        raise StoreCorruptError(
            f"{path} is an SQLite database of another program, so it was left alone. Set RLM_MEMORY_DB to another file."
        )
    newest = latest_version()
    if version > newest:
        raise StoreVersionError(
            f"{path} has schema {version}; this Hyperloci knows up to {newest}. Upgrade: pip install -U hyperloci."
        )
    return version


def _apply(connection: sqlite3.Connection, step: Migration) -> None:
    # Not executescript(): it commits first, and a step must be one transaction with its version number.
    with transaction(connection):
        for statement in split_statements(step.sql):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def split_statements(sql: str) -> Iterator[str]:
    """Yield the statements of a script; a trigger's body stays whole."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip() and not all(line.strip().startswith("--") or not line.strip() for line in pending.splitlines()):
        yield pending


def back_up(connection: sqlite3.Connection, target: Path) -> Path:
    """Copy the whole database to `target` while it is in use; the copy is complete or not there."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    partial = target.with_suffix(target.suffix + ".partial")
    partial.unlink(missing_ok=True)
    partial.touch(mode=0o600)
    with contextlib.closing(sqlite3.connect(partial)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    partial.replace(target)
    return target
