"""Export and import of a whole memory as JSON lines.

The first line names the format; every other line is a row: `{"table": ..., "row": {...}}`. Keys are those of the
database that wrote them and are mapped on import. Derived data (vectors, indexes) is left out and rebuilt.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from itertools import islice
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from hyperloci.clock import Clock, system_clock
from hyperloci.errors import BadRequestError, NotFoundError, StoreError, StoreFullError
from hyperloci.model.facets import Verification
from hyperloci.model.kinds import NodeType, Role
from hyperloci.store.archive.compressed_turns import JOIN_PACKED, WHOLE_TEXT
from hyperloci.store.export_selection import ExportChoice, SelectedRows
from hyperloci.store.store import Store
from hyperloci.system.partial_file import make_partial_file
from hyperloci.system.regular_file import find_replaceable
from hyperloci.system.values import dataclass

T = TypeVar("T")

FORMAT_VERSION: Final = 1
MARKDOWN_MARK: Final = "<!-- exported by Hyperloci -->"
"""The first line of an export as Markdown."""
JSON_MARK: Final = '{"hyperloci":'
"""What an export as JSON lines begins with."""
EVERYTHING: Final = ExportChoice()
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


@dataclass(frozen=True, slots=True)
class _ExportedTable:
    """How one table is exported: its own key and unique columns, and which columns are keys of other tables.

    `repeats`: equal rows may stand in it more than once. `select`: what is written of it, if not all as it is.
    """

    name: str
    key: str | None = None
    identity: tuple[str, ...] = ()
    references: Mapping[str, str] = field(default_factory=dict)
    repeats: bool = False
    select: str = ""


_WHOLE_NODES: Final = f"SELECT n.*, {WHOLE_TEXT} AS whole FROM nodes n{JOIN_PACKED}"
_UNPACKED_CHUNKS: Final = (
    "SELECT key, id, session_key, level, CASE WHEN level = 'micro' AND (ctf IS NOT NULL OR archive_day IS NOT NULL)"
    " THEN 'hot' ELSE stage END AS stage, first_seq, last_seq, turns, tokens, started_at, ended_at, node_key,"
    " summarised_at, key_facts, themes, created_at FROM chunks"
)
_UNPACKED_TURNS: Final = "SELECT node_key, chunk_key, place, tokens, 0 AS packed FROM chunk_turns"
"""Texts travel in their nodes, whole; the memory that takes them in packs them again."""

_STORED_COMMITS: Final = "SELECT * FROM commits WHERE node_key IS NOT NULL"

_TABLES: Final = (
    _ExportedTable("scopes", "key", ("id",)),
    _ExportedTable("sessions", "key", ("id",), {"scope_key": "scopes"}),
    _ExportedTable("consolidations", None, ("session_key",), {"session_key": "sessions"}),
    _ExportedTable("transcripts", None, ("path",)),
    _ExportedTable("nodes", "key", ("id",), {"scope_key": "scopes", "session_key": "sessions"}, select=_WHOLE_NODES),
    _ExportedTable(
        "shared_records", None, ("scope_key", "id", "hash", "door"), {"scope_key": "scopes", "node_key": "nodes"}
    ),
    _ExportedTable("hyperedges", "key", ("id",)),
    _ExportedTable(
        "membership", None, ("hyperedge_key", "node_key", "role"), {"hyperedge_key": "hyperedges", "node_key": "nodes"}
    ),
    _ExportedTable("files", "key", ("scope_key", "path"), {"scope_key": "scopes"}),
    _ExportedTable("positions", None, ("node_key",), {"node_key": "nodes", "file_key": "files"}),
    _ExportedTable("code_facts", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable("anchors", None, ("node_key", "path", "symbol"), {"node_key": "nodes", "scope_key": "scopes"}),
    _ExportedTable("facets", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable("domain_tags", None, ("tag", "node_key"), {"node_key": "nodes"}),
    _ExportedTable("withheld", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable("statement_reviews", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable("passing_statements", None, ("node_key", "first"), {"node_key": "nodes", "about_key": "nodes"}),
    _ExportedTable("shared_comparisons", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable("entities", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable("aliases", None, ("alias", "entity_key"), {"entity_key": "nodes"}),
    _ExportedTable("mentions", None, ("node_key", "entity_key"), {"node_key": "nodes", "entity_key": "nodes"}),
    _ExportedTable(
        "chunks",
        "key",
        ("session_key", "level", "first_seq"),
        {"session_key": "sessions", "node_key": "nodes"},
        select=_UNPACKED_CHUNKS,
    ),
    _ExportedTable(
        "chunk_turns", None, ("node_key",), {"node_key": "nodes", "chunk_key": "chunks"}, select=_UNPACKED_TURNS
    ),
    _ExportedTable("spoken_times", None, ("node_key", "since", "until", "phrase"), {"node_key": "nodes"}),
    _ExportedTable("entity_merges", "key", ("merged_key", "merged_at"), {"merged_key": "nodes", "kept_key": "nodes"}),
    _ExportedTable("merged_aliases", None, ("merge_key", "alias"), {"merge_key": "entity_merges"}),
    _ExportedTable(
        "merged_mentions", None, ("merge_key", "node_key"), {"merge_key": "entity_merges", "node_key": "nodes"}
    ),
    _ExportedTable(
        "commits", None, ("scope_key", "sha"), {"scope_key": "scopes", "node_key": "nodes"}, select=_STORED_COMMITS
    ),
    _ExportedTable("keywords", None, ("node_key",), {"node_key": "nodes"}),
    _ExportedTable(
        "evolution_log", "id", ("timestamp", "operation", "node_ids", "from_tier", "to_tier", "reasoning"), repeats=True
    ),
    _ExportedTable("evolution_nodes", None, ("node_id", "log_id"), {"log_id": "evolution_log"}),
)
"""Parents before children, so that a key is known when it is referred to."""


def write_records(store: Store, out: TextIO, choice: ExportChoice = EVERYTHING) -> Counter[str]:
    """Write the memory, or what is chosen of it, as JSON lines; return how many memories of each kind that are."""
    kinds: Counter[str] = Counter()
    with store.snapshot():
        for record in _iterate_records(store.connection, choice):
            out.write(json.dumps(record, ensure_ascii=False) + "\n")
            row = record["row"] if record.get("table") == "nodes" else None
            if row is not None and row["type"] != NodeType.ENTITY:
                kinds["forgotten" if row["deleted_at"] is not None else row["subtype"] or row["type"]] += 1
    return kinds


def export_memory(store: Store, target: Path, choice: ExportChoice = EVERYTHING) -> Counter[str]:
    """Write the memory to a file, as `write_records`, and return what that returns.

    Raises:
        StoreError: the file can't be written.
    """
    return write_private_file(target, lambda out: write_records(store, out, choice))


def check_is_export(target: Path) -> None:
    """Check that an export takes the place of nothing but an older one.

    Raises:
        BadRequestError: something else is there.
        StoreError: the file can't be read.
    """
    if not target.is_file():
        return
    marks = (MARKDOWN_MARK.encode(), JSON_MARK.encode())
    try:
        with target.open("rb") as file:
            head = file.read(max(map(len, marks)))
    except OSError as error:
        raise StoreError(f"{target} cannot be read: {error.strerror}.") from error
    if head and not head.startswith(marks):
        raise BadRequestError(f"{target} is there already, and is no export: give another file.")


def write_private_file(target: Path, write: Callable[[TextIO], T]) -> T:
    """Have a file written that is private to the user, whole or not at all; return what `write` does.

    A link stays, and leads to what is written. A pipe or a device is written into, and stays what it is.

    Raises:
        BrokenPipeError: nobody reads the pipe.
        StoreError: the file can't be written.
    """
    try:
        place = find_replaceable(target)
        if place is None:
            with open(target, "w", encoding="utf-8", newline="\n") as out:
                return write(out)
        return _replace_file(place, write)
    except BrokenPipeError:
        raise
    except OSError as error:
        kind = StoreFullError if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreError
        raise kind(f"{target} cannot be written: {error.strerror}.") from error


def _replace_file(place: Path, write: Callable[[TextIO], T]) -> T:
    with make_partial_file(place) as partial:
        with open(partial, "w", encoding="utf-8", newline="\n") as out:
            done = write(out)
            out.flush()
            os.fsync(out.fileno())
        partial.replace(place)
    return done


def _iterate_records(connection: sqlite3.Connection, choice: ExportChoice = EVERYTHING) -> Iterator[dict[str, Any]]:
    selected = None if choice.is_everything else SelectedRows(connection, choice)
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    yield {"hyperloci": FORMAT_VERSION, "schema": version}
    for table in _TABLES:
        for row in connection.execute(table.select or f"SELECT * FROM {table.name}"):
            values = _restore_whole_text(row)
            if selected is None or selected.keeps(table.name, table.key, table.references, values):
                yield {"table": table.name, "row": {name: _encode_value(value) for name, value in values.items()}}


def _restore_whole_text(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row's values; a packed turn's content is what was said, not what its node keeps of it."""
    values = dict(zip(row.keys(), row, strict=True))
    if "whole" in values:
        values["content"] = values.pop("whole")
    return values


def _encode_value(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _decode_value(value: Any) -> Any:
    return base64.b64decode(value["base64"], validate=True) if isinstance(value, dict) else value


def import_memory(store: Store, source: Path, *, clock: Clock = system_clock) -> dict[str, int]:
    """Add what `export_memory` wrote and return how many rows were new, by table; known rows stay as they are.

    But what holds here and was replaced there ends here too, by what comes in with it. All lines are read before the
    first is stored: nothing is left of a damaged file.

    Raises:
        NotFoundError: there is no such file.
        BadRequestError: the file is of another kind or damaged; the message names the line.
    """
    if not source.is_file():
        raise NotFoundError(f"There is no export at {source}.")
    with open(source, "rb") as lines:
        numbered = enumerate(lines, start=1)
        _check_header(next(numbered, (1, b"")))
        importer = _Importer(store, clock)
        for number, line in numbered:
            importer.check_line(number, line)
        lines.seek(0)
        rows = islice(enumerate(lines, start=1), 1, None)
        while batch := list(islice(rows, BATCH)):
            with store.transaction():
                for number, line in batch:
                    importer.add_line(number, line)
    return importer.added


def _check_header(numbered: tuple[int, bytes]) -> None:
    header = _parse_line(*numbered)
    if header.get("hyperloci") != FORMAT_VERSION:
        raise BadRequestError(
            f"line 1: not an export that this version can read (format {FORMAT_VERSION}): {header!r:.80}"
        )


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
    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._connection = store.connection
        self._clock = clock
        self._tables = {table.name: table for table in _TABLES}
        self._kinds = {table.name: self._column_types(table.name) for table in _TABLES}
        self._needed = {table.name: self._list_needed(table) for table in _TABLES}
        self._keys: dict[tuple[str, int], int] = {}
        self._matched: set[int] = set()
        self._ended: dict[int, int] = {}  # What is known here and has ended there, with when.
        self._replacements: set[int] = set()
        self.added = {table.name: 0 for table in _TABLES}

    def _column_types(self, table: str) -> dict[str, str]:
        return {row["name"]: row["type"] for row in self._connection.execute(f"PRAGMA table_info({table})")}

    def _list_needed(self, table: _ExportedTable) -> list[str]:
        """Return the columns without which no row can be looked up and stored."""
        columns = self._connection.execute(f"PRAGMA table_info({table.name})")
        bare = (row["name"] for row in columns if row["notnull"] and row["dflt_value"] is None)
        return [name for name in dict.fromkeys((*table.identity, *bare)) if name != table.key]

    def check_line(self, number: int, line: bytes) -> None:
        """Check that a line is a row that fits, lacks nothing, and refers to none but earlier ones."""
        table, row = self._read_row(number, line)
        with _name_line(number):
            values = self._check_values(table, row)
            if lacking := next((name for name in self._needed[table.name] if name not in values), None):
                raise KeyError(lacking)
            for column, parent in table.references.items():
                if values.get(column) is not None:
                    self._map_key(parent, values[column])
            if table.key:
                self._keys[table.name, values[table.key]] = 0

    def add_line(self, number: int, line: bytes) -> None:
        table, row = self._read_row(number, line)
        with _name_line(number):
            self._add_row(table, self._check_values(table, row))

    def _read_row(self, number: int, line: bytes) -> tuple[_ExportedTable, dict[str, Any]]:
        record = _parse_line(number, line)
        table = self._tables.get(str(record.get("table")))
        row = record.get("row")
        if table is None or not isinstance(row, dict):
            raise BadRequestError(f"line {number}: not a row of a known table.")
        unknown = sorted(set(row) - set(self._kinds[table.name]))
        if unknown:
            raise BadRequestError(f"line {number}: {table.name} has no column {', '.join(unknown)}.")
        return table, row

    def _check_values(self, table: _ExportedTable, row: Mapping[str, Any]) -> dict[str, Any]:
        values = {name: _decode_value(value) for name, value in row.items()}
        for name, value in values.items():
            kind = self._kinds[table.name][name]
            if value is not None and not isinstance(value, _PYTHON_TYPES[kind]):
                raise ValueError(f"{name} is not of type {kind}")
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError(f"{name} has more than 64 bits")
            if table.name == "nodes" and name in _TIMES and value is not None and value not in _SHOWN:
                raise ValueError(f"{name} is no time")
        return values

    def _add_row(self, table: _ExportedTable, row: dict[str, Any]) -> None:
        for column, parent in table.references.items():
            if row.get(column) is not None:
                row[column] = self._map_key(parent, row[column])
        old_key = row.pop(table.key) if table.key else None
        known = self._find_row(table, row)
        if known is None:
            if table.name == "entities":
                row["mention_count"] = 0  # Counted as they come: some are here, some stayed there.
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

    def _read_back(self, table: _ExportedTable, key: int) -> None:
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

    def _find_row(self, table: _ExportedTable, row: Mapping[str, Any]) -> int | None:
        wanted = " AND ".join(f"{column} IS ?" for column in table.identity)
        found = self._connection.execute(
            f"SELECT {table.key or '1'} FROM {table.name} WHERE {wanted}", [row[column] for column in table.identity]
        )
        return next((int(known[0]) for known in found if not table.repeats or known[0] not in self._matched), None)

    def _insert_row(self, table: _ExportedTable, row: Mapping[str, Any]) -> int:
        cursor = self._connection.execute(
            f"INSERT INTO {table.name}({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", list(row.values())
        )
        return int(cursor.lastrowid or 0)
