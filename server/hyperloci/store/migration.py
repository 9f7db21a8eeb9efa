"""Migrations: `migrations/NNNN_name.sql` takes `PRAGMA user_version` from N-1 to N, after a backup."""

from __future__ import annotations

import functools
import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from hyperloci.clock import Clock
from hyperloci.errors import StoreVersionError
from hyperloci.store.database.connection import APPLICATION_ID, refuse_foreign_database, write_transaction
from hyperloci.store.database.database_copy import copy_to_file
from hyperloci.store.database.database_files import lock_database
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.system.data_paths import name_copies
from hyperloci.system.values import dataclass

_log = logging.getLogger(__name__)

_CODES_STEP = 9
"""The step that codes have another form after: they are made of the vectors, which SQL can't."""

_FILE_NAME = re.compile(r"^(\d{4})_[a-z0-9_]+\.sql$")


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema: its number, file name and SQL."""

    number: int
    name: str
    sql: str


@functools.cache
def load_migrations() -> tuple[Migration, ...]:
    """Return all migrations that ship with this program, in order."""
    folder = Path(__file__).with_name("migrations")
    found = [
        Migration(int(match[1]), entry.name, entry.read_text(encoding="utf-8"))
        for entry in folder.iterdir()
        if (match := _FILE_NAME.match(entry.name))
    ]
    return tuple(sorted(found, key=lambda migration: migration.number))


def schema_version(connection: sqlite3.Connection) -> int:
    """Return the database's schema version; 0 for an empty file."""
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def latest_version() -> int:
    """Return the newest schema version this program knows."""
    return load_migrations()[-1].number


def migrate_schema(connection: sqlite3.Connection, path: Path, backup_dir: Path, clock: Clock) -> list[str]:
    """Bring the schema up to date under a lock and return the names of the steps taken.

    A database that is in use already is copied first.

    Raises:
        StoreVersionError: the schema is newer than this program.
        StoreCorruptError: the file is an SQLite database of another program.
        StoreBusyError: another process has been migrating for too long.
    """
    with translate_block_errors(path):
        version = _checked_version(connection, path)
        migrations = load_migrations()
        if version == migrations[-1].number:
            return []
        with lock_database(os.path.realpath(path)):
            version = _checked_version(connection, path)
            steps = [migration for migration in migrations if migration.number > version]
            if version and steps:
                copy = copy_to_file(connection, backup_dir / f"{name_copies(str(path))}-v{version}-{clock()}.db")
                _log.warning("upgrading %s to schema %d; as it was: %s", path, steps[-1].number, copy)
            return [step.name for step in steps if _apply_step(connection, step)]


def check_version(connection: sqlite3.Connection, path: Path) -> None:
    """Check that this program can read the schema as it is, for a reader that may not migrate.

    Raises:
        StoreVersionError: the schema is newer or older.
    """
    version = _checked_version(connection, path)
    if version < latest_version():
        raise StoreVersionError(
            f"{path} has schema {version}; this Hyperloci reads {latest_version()}. Run: hyperloci migrate."
        )


def refuse_changed_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Stop a running program from writing to a schema that another program has changed meanwhile.

    Raises:
        StoreVersionError: the schema is another than this program's.
    """
    version = schema_version(connection)
    if version != latest_version():
        raise StoreVersionError(
            f"Another Hyperloci has upgraded {path} to schema {version}; this process still writes"
            f" {latest_version()}. Restart it."
        )


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    refuse_foreign_database(connection, path)
    version = schema_version(connection)
    newest = latest_version()
    if version > newest:
        raise StoreVersionError(
            f"{path} has schema {version}; this Hyperloci supports up to {newest}. Update it: README.md says how."
        )
    return version


def _apply_step(connection: sqlite3.Connection, step: Migration) -> bool:
    """Take one step, unless another process has; a step that fails leaves no trace."""
    # Not executescript(): it commits first, and a step must be one transaction with its version number.
    with write_transaction(connection):
        if schema_version(connection) >= step.number:
            return False
        connection.create_function("halves", 1, _convert_to_half, deterministic=True)
        for statement in split_statements(step.sql):
            connection.execute(statement)
        if step.number == _CODES_STEP:
            _rebuild_codes(connection)
        connection.execute(f"PRAGMA user_version = {step.number}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    return True


def _convert_to_half(vector: bytes) -> bytes:
    """The SQL function of step 9: a vector of four bytes a dimension in two."""
    import numpy as np

    from hyperloci.store.vectors import float16

    return float16.pack_half(np.frombuffer(vector, np.float32))


def _rebuild_codes(connection: sqlite3.Connection) -> None:
    if connection.execute("SELECT EXISTS (SELECT 1 FROM fingerprints)").fetchone()[0]:
        from hyperloci.store.vectors.fingerprints import Fingerprints

        Fingerprints(connection, vec_attached=False).rebuild_codes()


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
