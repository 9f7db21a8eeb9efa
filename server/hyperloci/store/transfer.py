"""Taking a whole memory out of a database and into another, as JSON lines; and putting a backup in place.

The first line names the format; every other one is a row: `{"table": ..., "row": {...}}`. Keys are those of the
database that wrote them and are mapped on the way in. Derived data (vectors, indexes) is left out and made anew.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from hyperloci.clock import Clock, system_clock
from hyperloci.errors import BadRequestError, StoreCorruptError
from hyperloci.store.connection import APPLICATION_ID
from hyperloci.store.migrate import back_up
from hyperloci.store.store import Store

FORMAT: Final = 1
BATCH: Final = 500
"""Rows written a transaction: an import that is cut short can be run again and goes on."""

MAX_LINE_CHARS: Final = 64_000_000


@dataclass(frozen=True, slots=True)
class _Table:
    """How one table travels: its own key and unique columns, and which columns are keys of other tables."""

    name: str
    key: str | None = None
    identity: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)


_TABLES: Final = (
    _Table("scopes", "key", ("id",)),
    _Table("sessions", "key", ("id",), {"scope_key": "scopes"}),
    _Table("transcripts", None, ("path",)),
    _Table("nodes", "key", ("id",), {"scope_key": "scopes", "session_key": "sessions"}),
    _Table("hyperedges", "key", ("id",)),
    _Table(
        "membership", None, ("hyperedge_key", "node_key", "role"), {"hyperedge_key": "hyperedges", "node_key": "nodes"}
    ),
    _Table("files", "key", ("scope_key", "path"), {"scope_key": "scopes"}),
    _Table("positions", None, ("node_key",), {"node_key": "nodes", "file_key": "files"}),
    _Table("code_facts", None, ("node_key",), {"node_key": "nodes"}),
    _Table("anchors", None, ("node_key", "path", "symbol"), {"node_key": "nodes", "scope_key": "scopes"}),
    _Table("facets", None, ("node_key",), {"node_key": "nodes"}),
    _Table("domain_tags", None, ("tag", "node_key"), {"node_key": "nodes"}),
    _Table("entities", None, ("node_key",), {"node_key": "nodes"}),
    _Table("aliases", None, ("alias", "entity_key"), {"entity_key": "nodes"}),
    _Table("mentions", None, ("node_key", "entity_key"), {"node_key": "nodes", "entity_key": "nodes"}),
    _Table("commits", None, ("scope_key", "sha"), {"scope_key": "scopes", "node_key": "nodes"}),
    _Table("keywords", None, ("node_key",), {"node_key": "nodes"}),
    _Table("evolution_log", "id", ("timestamp", "operation", "node_ids", "reasoning")),
    _Table("evolution_nodes", None, ("node_id", "log_id"), {"log_id": "evolution_log"}),
)
"""Parents before children, so that a key is known when it is referred to."""


def export_all(store: Store, target: Path) -> int:
    """Write the memory to a file, private to the user, and return its number of lines; whole or not at all."""
    partial = target.with_name(target.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8", newline="\n") as out, store.snapshot():
        count = 0
        for record in _records(store.connection):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            count += 1
        out.flush()
        os.fsync(out.fileno())
    partial.replace(target)
    return count


def _records(connection: sqlite3.Connection) -> Iterator[dict[str, Any]]:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    yield {"hyperloci": FORMAT, "schema": version}
    for table in _TABLES:
        for row in connection.execute(f"SELECT * FROM {table.name}"):
            yield {"table": table.name, "row": {name: _outward(row[name]) for name in row.keys()}}  # noqa: SIM118


def _outward(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _inward(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


def import_all(store: Store, source: Path, *, clock: Clock = system_clock) -> dict[str, int]:
    """Add what `export_all` wrote and return how many rows were new, by table; known rows stay as they are.

    Raises:
        BadRequestError: the file is of another kind or damaged; the message names the line.
    """
    with open(source, encoding="utf-8") as lines:
        numbered = enumerate(lines, start=1)
        _check_header(next(numbered, (1, "")))
        importer = _Importer(store, clock)
        while batch := list(islice(numbered, BATCH)):
            with store.transaction():
                for number, line in batch:
                    importer.add(number, line)
    return importer.added


def _check_header(numbered: tuple[int, str]) -> None:
    header = _parsed(*numbered)
    if header.get("hyperloci") != FORMAT:
        raise BadRequestError(f"line 1: not an export that this version can read (format {FORMAT}): {header!r:.80}")


def _parsed(number: int, line: str) -> dict[str, Any]:
    if len(line) > MAX_LINE_CHARS:
        raise BadRequestError(f"line {number}: longer than {MAX_LINE_CHARS} characters.")
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"line {number}: not JSON ({error}).") from error
    if not isinstance(record, dict):
        raise BadRequestError(f"line {number}: not an object.")
    return record


class _Importer:
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._connection = store.connection
        self._clock = clock
        self._tables = {table.name: table for table in _TABLES}
        self._columns = {table.name: self._columns_of(table.name) for table in _TABLES}
        self._keys: dict[tuple[str, int], int] = {}
        self.added = {table.name: 0 for table in _TABLES}

    def _columns_of(self, table: str) -> frozenset[str]:
        return frozenset(row[1] for row in self._connection.execute(f"PRAGMA table_info({table})"))

    def add(self, number: int, line: str) -> None:
        record = _parsed(number, line)
        table = self._tables.get(str(record.get("table")))
        row = record.get("row")
        if table is None or not isinstance(row, dict):
            raise BadRequestError(f"line {number}: no row of a known table.")
        unknown = sorted(set(row) - self._columns[table.name])
        if unknown:
            raise BadRequestError(f"line {number}: {table.name} has no column {', '.join(unknown)}.")
        try:
            self._add(table, {name: _inward(value) for name, value in row.items()})
        except (KeyError, TypeError, ValueError, sqlite3.IntegrityError, sqlite3.ProgrammingError) as error:
            raise BadRequestError(f"line {number}: the row does not fit: {error}.") from error

    def _add(self, table: _Table, row: dict[str, Any]) -> None:
        for column, parent in table.references.items():
            if row[column] is not None:
                row[column] = self._keys[parent, row[column]]
        old_key = row.pop(table.key) if table.key else None
        known = self._find(table, row)
        if known is None:
            known = self._insert(table, row)
            self.added[table.name] += 1
            if table.name == "nodes":
                self._store.nodes.queue([known], now=self._clock())
        if table.key and old_key is not None:
            self._keys[table.name, old_key] = known

    def _find(self, table: _Table, row: Mapping[str, Any]) -> int | None:
        wanted = " AND ".join(f"{column} IS ?" for column in table.identity)
        found = self._connection.execute(
            f"SELECT {table.key or '1'} FROM {table.name} WHERE {wanted}", [row[column] for column in table.identity]
        ).fetchone()
        return None if found is None else int(found[0])

    def _insert(self, table: _Table, row: Mapping[str, Any]) -> int:
        cursor = self._connection.execute(
            f"INSERT INTO {table.name}({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
        return int(cursor.lastrowid or 0)


def restore_backup(source: Path, database: Path, *, clock: Clock = system_clock) -> Path | None:
    """Put a backup in the database's place; return where the database that was there is kept, None if there was none.

    Raises:
        StoreCorruptError: the backup is not a healthy database of ours.
    """
    with contextlib.closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as backup:
        _check_backup(backup, source)
        kept = _keep(database, clock()) if database.exists() else None
        for leftover in (f"{database}-wal", f"{database}-shm"):
            Path(leftover).unlink(missing_ok=True)
        back_up(backup, database)
    return kept


def _check_backup(backup: sqlite3.Connection, source: Path) -> None:
    try:
        owner = backup.execute("PRAGMA application_id").fetchone()[0]
        health = backup.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.DatabaseError as error:
        raise StoreCorruptError(f"{source} is not a database: {error}. Nothing was changed.") from error
    if owner != APPLICATION_ID or health != "ok":
        raise StoreCorruptError(f"{source} is not a healthy Hyperloci database ({health}). Nothing was changed.")


def _keep(database: Path, now: int) -> Path:
    kept = database.with_name(f"{database.stem}-before-restore-{now}.db")
    with contextlib.closing(sqlite3.connect(database)) as present:
        try:
            back_up(present, kept)
        except sqlite3.DatabaseError:
            # It may be replaced because it is damaged: keep its bytes as they are.
            database.replace(kept)
    return kept
