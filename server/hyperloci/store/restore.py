"""Restoring a backup: what is in the database's place is kept, and running sessions go on with the backup's content."""

from __future__ import annotations

import contextlib
import glob
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock, system_clock
from hyperloci.errors import BadRequestError, NotFoundError, StoreCorruptError, StoreVersionError
from hyperloci.store.database.connection import APPLICATION_ID, BUSY_TIMEOUT_MS, read_only_mode
from hyperloci.store.database.database_copy import copy_database, copy_to_file
from hyperloci.store.database.error_translation import translate_block_errors, translate_error
from hyperloci.store.database.meta import RESTORED_AT, Meta
from hyperloci.store.migration import latest_version, migrate_schema, schema_version

_KEPT: Final = "{stem}-before-restore-{time}.db"


def restore_backup(source: Path, database: Path, *, clock: Clock = system_clock) -> Path | None:
    """Put a backup in the database's place; return where the database that was there is kept, None if there was none.

    A healthy database is overwritten in one transaction, so that sessions that have it open go on with the backup's
    content. One too damaged for that is moved away.

    Raises:
        HyperlociError: the backup can't be put there; as `check_backup`.
        StoreBusyError: the database is in use for too long.
    """
    with _open_backup(source, database) as backup:
        kept = database.with_name(_KEPT.format(stem=database.stem, time=clock()))
        was_there = database.exists()
        if not (was_there and _overwrite_database(backup, database, kept, clock)):
            if was_there:
                _move_away(database, kept)
            # What a database that is gone left beside it goes: nobody could open it again.
            copy_to_file(backup, database)
    return kept if was_there else None


def check_backup(source: Path, database: Path) -> None:
    """Check that a backup can be put in the database's place; nothing is changed.

    Raises:
        NotFoundError: there is no such backup.
        BadRequestError: it is a folder, or the database itself.
        StoreCorruptError: it is not a healthy database of ours.
        StoreVersionError: a newer Hyperloci wrote it.
    """
    with _open_backup(source, database):
        return


def find_kept(database: Path) -> list[Path]:
    """Return the databases that backups took the place of, the earliest first."""
    return sorted(database.parent.glob(_KEPT.format(stem=glob.escape(database.stem), time="*")))


def _open_file(path: Path, mode: str) -> sqlite3.Connection:
    timeout = BUSY_TIMEOUT_MS / 1_000
    return sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, timeout=timeout, isolation_level=None)


@contextlib.contextmanager
def _open_backup(source: Path, database: Path) -> Iterator[sqlite3.Connection]:
    if source.is_dir():
        raise BadRequestError(f"{source} is a folder: give the path of a backup.")
    if not source.is_file():
        raise NotFoundError(f"There is no backup at {source}.")
    if database.exists() and os.path.samefile(source, database):
        raise BadRequestError(f"{source} is the database itself: give the path of a backup.")
    with translate_block_errors(source), contextlib.closing(_open_file(source, read_only_mode(source))) as backup:
        _require_health(backup, source)
        yield backup


def _require_health(backup: sqlite3.Connection, source: Path) -> None:
    try:
        owner = backup.execute("PRAGMA application_id").fetchone()[0]
        health = backup.execute("PRAGMA integrity_check(1)").fetchone()[0]
        version = schema_version(backup)
    except sqlite3.DatabaseError as error:
        told = translate_error(error)
        if not isinstance(told, StoreCorruptError):
            raise told from error
        raise StoreCorruptError(f"{source} is not a database, or damaged. Nothing was changed.") from error
    if owner != APPLICATION_ID or health != "ok":
        raise StoreCorruptError(f"{source} is not a healthy Hyperloci database ({health}). Nothing was changed.")
    if version > latest_version():
        raise StoreVersionError(f"{source} has schema {version}; this Hyperloci supports up to {latest_version()}.")


def _overwrite_database(backup: sqlite3.Connection, database: Path, kept: Path, clock: Clock) -> bool:
    """Keep a copy of the database and write the backup over it in one transaction; False if it is too damaged."""
    if not database.stat().st_size:
        # Cut by another program: sessions that have it open would keep it from being written as a new one.
        return False
    try:
        with translate_block_errors(database), contextlib.closing(_open_file(database, "mode=rw")) as present:
            copy_to_file(present, kept)
            copy_database(backup, present)
            # Sessions that have the database open: its count of changes is another one now.
            Meta(present).set(RESTORED_AT, str(clock()))
            # They can't read an older schema.
            migrate_schema(present, database, kept.parent / "backups", clock)
    except StoreCorruptError:
        return False
    return True


def _move_away(database: Path, kept: Path) -> None:
    """Move a damaged database aside unchanged, with its write-ahead log."""
    for suffix in ("", "-wal", "-shm"):
        if os.path.exists(f"{database}{suffix}"):
            os.replace(f"{database}{suffix}", f"{kept}{suffix}")
