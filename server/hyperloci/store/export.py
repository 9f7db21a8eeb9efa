"""Export of a whole memory as JSON lines; `export_reading` reads them.

The first line names the format; every other line is a row: `{"table": ..., "row": {...}}`. The last one also says that
it is the last, beside its row: older versions read no other lines than these. Keys are those of the database that wrote
them and are mapped on import. Derived data (vectors, indexes) is left out and rebuilt.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar

from hyperloci.errors import BadRequestError, StoreError, StoreFullError
from hyperloci.model.kinds import NodeType
from hyperloci.store.archive.compressed_turns import JOIN_PACKED, WHOLE_TEXT
from hyperloci.store.export_selection import ExportChoice, SelectedRows
from hyperloci.store.store import Store
from hyperloci.system.partial_file import make_partial_file
from hyperloci.system.regular_file import find_replaceable
from hyperloci.system.values import dataclass

T = TypeVar("T")

FORMAT_VERSION: Final = 1
END_MARK: Final = {"end": True}
"""What the last line has beside the rest. Of a file whose first line says `ends`, all was cut that lacks it."""
MARKDOWN_MARK: Final = "<!-- exported by Hyperloci -->"
"""The first line of an export as Markdown."""
JSON_MARK: Final = '{"hyperloci":'
"""What an export as JSON lines begins with."""
EXPORT_MARKS: Final = (MARKDOWN_MARK, JSON_MARK)
EVERYTHING: Final = ExportChoice()


@dataclass(frozen=True, slots=True)
class ExportedTable:
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

TABLES: Final = (
    ExportedTable("scopes", "key", ("id",)),
    ExportedTable("sessions", "key", ("id",), {"scope_key": "scopes"}),
    ExportedTable("consolidations", None, ("session_key",), {"session_key": "sessions"}),
    ExportedTable("transcripts", None, ("path",)),
    ExportedTable("nodes", "key", ("id",), {"scope_key": "scopes", "session_key": "sessions"}, select=_WHOLE_NODES),
    ExportedTable(
        "shared_records", None, ("scope_key", "id", "hash", "door"), {"scope_key": "scopes", "node_key": "nodes"}
    ),
    ExportedTable("hyperedges", "key", ("id",)),
    ExportedTable(
        "membership", None, ("hyperedge_key", "node_key", "role"), {"hyperedge_key": "hyperedges", "node_key": "nodes"}
    ),
    ExportedTable("files", "key", ("scope_key", "path"), {"scope_key": "scopes"}),
    ExportedTable("positions", None, ("node_key",), {"node_key": "nodes", "file_key": "files"}),
    ExportedTable("code_facts", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable("anchors", None, ("node_key", "path", "symbol"), {"node_key": "nodes", "scope_key": "scopes"}),
    ExportedTable("facets", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable("domain_tags", None, ("tag", "node_key"), {"node_key": "nodes"}),
    ExportedTable("withheld", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable("statement_reviews", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable("passing_statements", None, ("node_key", "first"), {"node_key": "nodes", "about_key": "nodes"}),
    ExportedTable("shared_comparisons", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable("entities", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable("aliases", None, ("alias", "entity_key"), {"entity_key": "nodes"}),
    ExportedTable("mentions", None, ("node_key", "entity_key"), {"node_key": "nodes", "entity_key": "nodes"}),
    ExportedTable(
        "chunks",
        "key",
        ("session_key", "level", "first_seq"),
        {"session_key": "sessions", "node_key": "nodes"},
        select=_UNPACKED_CHUNKS,
    ),
    ExportedTable(
        "chunk_turns", None, ("node_key",), {"node_key": "nodes", "chunk_key": "chunks"}, select=_UNPACKED_TURNS
    ),
    ExportedTable("spoken_times", None, ("node_key", "since", "until", "phrase"), {"node_key": "nodes"}),
    ExportedTable("entity_merges", "key", ("merged_key", "merged_at"), {"merged_key": "nodes", "kept_key": "nodes"}),
    ExportedTable("merged_aliases", None, ("merge_key", "alias"), {"merge_key": "entity_merges"}),
    ExportedTable(
        "merged_mentions", None, ("merge_key", "node_key"), {"merge_key": "entity_merges", "node_key": "nodes"}
    ),
    ExportedTable(
        "commits", None, ("scope_key", "sha"), {"scope_key": "scopes", "node_key": "nodes"}, select=_STORED_COMMITS
    ),
    ExportedTable("keywords", None, ("node_key",), {"node_key": "nodes"}),
    ExportedTable(
        "evolution_log", "id", ("timestamp", "operation", "node_ids", "from_tier", "to_tier", "reasoning"), repeats=True
    ),
    ExportedTable("evolution_nodes", None, ("node_id", "log_id"), {"log_id": "evolution_log"}),
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
    marks = tuple(mark.encode() for mark in EXPORT_MARKS)
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
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    last: dict[str, Any] = {"hyperloci": FORMAT_VERSION, "schema": version, "ends": True}
    for record in _iterate_rows(connection, choice):
        yield last
        last = record
    yield last | END_MARK


def _iterate_rows(connection: sqlite3.Connection, choice: ExportChoice) -> Iterator[dict[str, Any]]:
    selected = None if choice.is_everything else SelectedRows(connection, choice)
    for table in TABLES:
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


def decode_value(value: Any) -> Any:
    """Return a value as a row has it: bytes are written as text.

    Raises:
        KeyError, ValueError: it was not written so.
    """
    return base64.b64decode(value["base64"], validate=True) if isinstance(value, dict) else value
