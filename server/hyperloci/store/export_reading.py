"""Import of an export (`export`): what is new in it is added, under keys of this memory."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

from hyperloci.clock import Clock, system_clock
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.model.facets import Verification
from hyperloci.model.kinds import Role
from hyperloci.store.export import END_MARK, FORMAT_VERSION, TABLES, ExportedTable, decode_value
from hyperloci.store.store import Store

BATCH: Final = 500
"""Rows written a transaction: an import that is cut short can be run again and goes on."""

MAX_LINE_BYTES: Final = 64_000_000

_PYTHON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "INTEGER": (int,),
    "REAL": (int, float),
    "TEXT": (str,),
    "BLOB": (bytes,),
}

_TIMES: Final = frozenset(("created_at", "event_time", "valid_from", "valid_until", "deleted_at"))
_SHOWN: Final = range(-62_135_596_800_000, 253_402_300_800_000)  # The years 1 to 9999: others can't be told.


def import_memory(store: Store, source: Path, *, clock: Clock = system_clock) -> dict[str, int]:
    """Add what `export_memory` wrote and return how many rows were new, by table; known rows stay as they are.

    But what holds here and was replaced there ends here too, by what comes in with it. All lines are read before the
    first is stored: nothing is left of a file that is cut short or garbled. What only the database refuses, as metadata
    that is no object, leaves the batches before it, and the message says so.

    Raises:
        NotFoundError: there is no such file.
        BadRequestError: the file is of another kind or damaged; the message names the line.
    """
    if not source.is_file():
        raise NotFoundError(f"There is no export at {source}.")
    with open(source, "rb") as lines:
        numbered = enumerate(lines, start=1)
        header = _read_header(*next(numbered, (1, b"")))
        importer = _Importer(store, clock, header.get("schema"))
        _check_rows(importer, numbered, header)
        lines.seek(0)
        rows = islice(enumerate(lines, start=1), 1, None)
        while batch := list(islice(rows, BATCH)):
            try:
                with store.transaction():
                    for number, line in batch:
                        importer.add_line(number, line)
            except BadRequestError as error:
                if batch[0][0] == 2 or store.connection.in_transaction:  # A dry run takes all of it back.
                    raise
                raise BadRequestError(
                    f"{error} The lines before {batch[0][0]} are stored. Mend the line, or take it out, and import the"
                    " file again: what is here already stays as it is."
                ) from error
    return importer.added


def _check_rows(importer: _Importer, numbered: Iterator[tuple[int, bytes]], header: Mapping[str, Any]) -> None:
    """Check all rows, and of a file that says that it `ends` that the last one says that it is the last."""
    number, has_ended = 1, _is_last(header)
    for number, line in numbered:
        if has_ended:
            raise BadRequestError(f"line {number}: the export has ended before it.")
        has_ended = importer.check_line(number, line)
    if header.get("ends") and not has_ended:
        raise BadRequestError(
            f"line {number + 1}: the export ends before its last line: it was cut. Nothing is stored; export it anew."
        )


def _is_last(record: Mapping[str, Any]) -> bool:
    return END_MARK.items() <= record.items()


def _read_header(number: int, line: bytes) -> dict[str, Any]:
    """Return the line that names the format."""
    header = _parse_line(number, line)
    if header.get("hyperloci") != FORMAT_VERSION:
        raise BadRequestError(
            f"line 1: not an export that this version can read (format {FORMAT_VERSION}): {header!r:.80}"
        )
    return header


def _parse_line(number: int, line: bytes) -> dict[str, Any]:
    if len(line) > MAX_LINE_BYTES:
        raise BadRequestError(f"line {number}: longer than {MAX_LINE_BYTES} bytes.")
    try:
        record = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"line {number}: not JSON ({error}).") from error
    if not isinstance(record, dict):
        raise BadRequestError(f"line {number}: not an object.")
    return record


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


@contextlib.contextmanager
def _name_line(number: int) -> Iterator[None]:
    """Name the line in what is said of a row that does not fit."""
    try:
        yield
    except KeyError as error:
        raise BadRequestError(f"line {number}: the row has no {error.args[0]}.") from error
    except (TypeError, ValueError, sqlite3.IntegrityError) as error:
        raise BadRequestError(f"line {number}: the row does not fit: {error}.") from error


class _Importer:
    def __init__(self, store: Store, clock: Clock, schema: object) -> None:
        self._store = store
        self._connection = store.connection
        self._clock = clock
        self._is_of_this_schema = schema == self._connection.execute("PRAGMA user_version").fetchone()[0]
        self._tables = {table.name: table for table in TABLES}
        self._kinds = {table.name: self._column_types(table.name) for table in TABLES}
        self._needed = {table.name: self._list_needed(table) for table in TABLES}
        self._keys: dict[tuple[str, int], int] = {}
        self._matched: set[int] = set()
        self._ended: dict[int, int] = {}  # What is known here and has ended there, with when.
        self._replacements: set[int] = set()
        self.added = {table.name: 0 for table in TABLES}

    def _column_types(self, table: str) -> dict[str, str]:
        return {row["name"]: row["type"] for row in self._connection.execute(f"PRAGMA table_info({table})")}

    def _list_needed(self, table: ExportedTable) -> list[str]:
        """Return the columns without which no row can be looked up and stored."""
        columns = self._connection.execute(f"PRAGMA table_info({table.name})")
        bare = (row["name"] for row in columns if row["notnull"] and row["dflt_value"] is None)
        return [name for name in dict.fromkeys((*table.identity, *bare)) if name != table.key]

    def check_line(self, number: int, line: bytes) -> bool:
        """Check that a line is a row that fits, lacks nothing, and refers to none but earlier ones.

        Return whether it says that it is the last.
        """
        record = _parse_line(number, line)
        table, row = self._read_row(number, record)
        with _name_line(number):
            values = self._check_values(table, row)
            if lacking := next((name for name in self._needed[table.name] if name not in values), None):
                raise KeyError(lacking)
            for column, parent in table.references.items():
                if values.get(column) is not None:
                    self._map_key(parent, values[column])
            if table.key:
                self._keys[table.name, values[table.key]] = 0
        return _is_last(record)

    def add_line(self, number: int, line: bytes) -> None:
        table, row = self._read_row(number, _parse_line(number, line))
        with _name_line(number):
            self._add_row(table, self._check_values(table, row))

    def _read_row(self, number: int, record: Mapping[str, Any]) -> tuple[ExportedTable, dict[str, Any]]:
        table = self._tables.get(str(record.get("table")))
        row = record.get("row")
        if table is None or not isinstance(row, dict):
            raise BadRequestError(f"line {number}: not a row of a known table.")
        unknown = sorted(set(row) - set(self._kinds[table.name]))
        if unknown:
            raise BadRequestError(f"line {number}: {table.name} has no column {', '.join(unknown)}.")
        return table, row

    def _check_values(self, table: ExportedTable, row: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: decode_value(value) for name, value in row.items()}
        for name, value in values.items():
            kind = self._kinds[table.name][name]
            if value is not None and not isinstance(value, _PYTHON_TYPES[kind]):
                raise ValueError(f"{name} is not of type {kind}")
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError(f"{name} has more than 64 bits")
            if table.name == "nodes" and name in _TIMES and value is not None and value not in _SHOWN:
                raise ValueError(f"{name} is no time")
        return values

    def _add_row(self, table: ExportedTable, row: dict[str, Any]) -> None:
        for column, parent in table.references.items():
            if row.get(column) is not None:
                row[column] = self._map_key(parent, row[column])
        old_key = row.pop(table.key) if table.key else None
        known = self._find_row(table, row)
        if known is None:
            if table.name == "entities":
                row["mention_count"] = 0  # Counted as they come: some are here, some stayed there.
            if table.name == "files" and not self._is_of_this_schema:
                # Another program cut it, which may understand less: the next index run looks at it anew, as 0030 does.
                row |= {"content_hash": b"", "mtime_ns": -1}
            known = self._insert_row(table, row)
            self.added[table.name] += 1
            self._read_back(table, known)
            self._follow_up(table.name, known, row)
        elif table.name == "nodes" and row.get("valid_until") is not None:
            self._ended[known] = row["valid_until"]
        if table.name == "hyperedges" and row.get("label") == "supersedes":
            self._replacements.add(known)
        if table.repeats:
            self._matched.add(known)
        if old_key is not None:
            self._keys[table.name, old_key] = known

    def _follow_up(self, table: str, key: int, row: Mapping[str, Any]) -> None:
        """Do what a new row brings with it."""
        if table == "nodes":
            self._store.nodes.queue_for_fingerprint([key], now=self._clock())
        elif table == "mentions":
            self._connection.execute(
                "UPDATE entities SET mention_count = mention_count + 1 WHERE node_key = ?", (row["entity_key"],)
            )
        elif table == "membership" and row["hyperedge_key"] in self._replacements:
            self._end_replaced(row["hyperedge_key"])

    def _end_replaced(self, edge: int) -> None:
        """End what holds here and was replaced there, once what replaced it is here too; else both would hold."""
        for (key,) in self._connection.execute(
            "SELECT node_key FROM membership o WHERE hyperedge_key = ?1 AND role = ?2 AND EXISTS (SELECT 1"
            " FROM membership s WHERE s.hyperedge_key = ?1 AND s.role = ?3 AND s.node_key <> o.node_key)",
            (edge, Role.OBJECT, Role.SUBJECT),
        ).fetchall():
            node = self._store.nodes.get_by_key(key) if key in self._ended else None
            if node is not None and node.holds:
                until = max(self._ended[key], node.valid_from)
                self._store.nodes.update_node(node.id, now=self._clock(), valid_until=until)
                self._store.facets.set_verification(node.key, Verification.OUTDATED)
                self._store.facets.settle_disputes(node.key)
                self._store.entities.drop_summaries_from(node.key)

    def _read_back(self, table: ExportedTable, key: int) -> None:
        """Check that a row can be read back as values: one that cannot would fail every later search."""
        if table.name == "nodes":
            node = self._store.nodes.get_by_key(key)
            if node is not None and not isinstance(node.metadata, dict):
                raise ValueError("metadata is not an object")
        elif table.name == "positions":
            self._store.positions.get_positions([key])
        elif table.name == "code_facts":
            self._store.positions.get_code_facts([key])

    def _map_key(self, parent: str, key: int) -> int:
        if (parent, key) not in self._keys:
            raise ValueError(f"it refers to {parent} {key}, which no earlier line defines")
        return self._keys[parent, key]

    def _find_row(self, table: ExportedTable, row: Mapping[str, Any]) -> int | None:
        wanted = " AND ".join(f"{column} IS ?" for column in table.identity)
        found = self._connection.execute(
            f"SELECT {table.key or '1'} FROM {table.name} WHERE {wanted}", [row[column] for column in table.identity]
        )
        return next((int(known[0]) for known in found if not table.repeats or known[0] not in self._matched), None)

    def _insert_row(self, table: ExportedTable, row: Mapping[str, Any]) -> int:
        cursor = self._connection.execute(
            f"INSERT INTO {table.name}({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
        return int(cursor.lastrowid or 0)
