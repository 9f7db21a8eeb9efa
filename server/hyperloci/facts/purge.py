"""Purge: removes memories from the database, its log, its backups and the hooks' spool."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hyperloci.config import Settings
from hyperloci.errors import NotFoundError, StoreBusyError
from hyperloci.facts.facts import Facts
from hyperloci.model.answers import PurgeReport
from hyperloci.model.kinds import NodeId
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.store.purge import (
    PROBE_CHARS,
    PURGE_OPERATION,
    ErasedMemory,
    erase_memory,
    find_purged,
    list_managed_backups,
    list_unfinished_backups,
    purge_from_backups,
    sweep_file,
)

TORN_PREFIX_CHARS: Final = 40
"""A torn line may end anywhere in the text: its beginning is enough."""

SPOOL_PATTERNS: Final = ("*.jsonl", "*.tmp", "*.bad")
"""Records that wait, that a process died over, and that could not be stored."""


def resolve_or_purged(store: Store, facts: Facts, said: str) -> Node | NodeId:
    """Return the memory with an id or the beginning of one; of one that is gone for good, its id.

    What is gone is known by as much of its id as lists show, or more (`store.purge.find_purged`).

    Raises:
        NotFoundError: no memory ever had it.
        BadRequestError: several ids begin so.
    """
    try:
        return facts.resolve_node(said, "id")
    except NotFoundError:
        purged = find_purged(store, said)
        if purged is None:
            raise
        return purged


def purge_memories(store: Store, settings: Settings, facts: Facts, ids: Sequence[str], *, now: int) -> PurgeReport:
    """Make memories as if they had never been; ids that were purged before are swept for once more.

    Raises:
        NotFoundError: no memory has one of the ids; nothing was purged.
        StoreBusyError: other sessions keep the log in use; the memories are gone, their traces not all.
    """
    found = [resolve_or_purged(store, facts, id) for id in ids]
    nodes = [one for one in found if isinstance(one, Node)]
    # Whoever has erased one meanwhile may have been held up: its backups are looked at all the same.
    gone_ids = tuple(dict.fromkeys(one.id if isinstance(one, Node) else one for one in found))
    # Beside the folders of databases lie records of earlier versions, which name none.
    spools = (settings.spool_dir, settings.spool_dir.parent)
    spooled = sum(_remove_spooled(folder, [node.content for node in nodes]) for folder in spools)
    erased = [gone for node in nodes if (gone := erase_memory(store, node.id, now=now)) is not None]
    with store.transaction():
        # One whose time was over here may hold for others; of one that is erased now the team is told anyhow.
        over = [one for one in found if not isinstance(one, Node)]
        for id in over:
            store.log.add_entry(PURGE_OPERATION, [id], now=now)
        store.team.tell_again(over)
    Archive.for_database(store.path).blank_turns(gone_ids)
    try:
        sweep_file(store)
    except StoreBusyError as error:
        raise StoreBusyError(f"{error} To finish it: hyperloci purge {' '.join(gone_ids)}") from error
    for torn in list_unfinished_backups(store.path, settings.backup_dir):
        torn.unlink(missing_ok=True)
    backups = purge_from_backups(
        store.path,
        list_managed_backups(store.path, settings.backup_dir),
        gone_ids,
        now=now,
    )
    return PurgeReport(
        ids=gone_ids,
        entities=tuple(name for gone in erased for name in gone.entities),
        alike=_remaining_alike(erased),
        sources=tuple(dict.fromkeys(gone.source for gone in erased if gone.source)),
        records=spooled,
        backups_rewritten=tuple(map(str, backups.rewritten)),
        backups_deleted=tuple(map(str, backups.deleted)),
        backups_unreadable=tuple(map(str, backups.unreadable)),
    )


def _remaining_alike(erased: Sequence[ErasedMemory]) -> tuple[str, ...]:
    gone = {item.id for item in erased}
    return tuple(dict.fromkeys(id for item in erased for id in item.alike if id not in gone))


def _remove_spooled(folder: Path, texts: Sequence[str]) -> int:
    """Take the records that hold one of the texts out of the spool; return how many."""
    files = [path for pattern in SPOOL_PATTERNS for path in folder.glob(pattern)] if folder.is_dir() else []
    return sum(_remove_from_file(path, texts) for path in files)


def _remove_from_file(path: Path, texts: Sequence[str]) -> int:
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return 0  # Another process has just stored it.
    kept = [line for line in lines if not any(_holds_text(line, text) for text in texts)]
    if len(kept) < len(lines):
        _replace_file(path, b"".join(kept))
    return len(lines) - len(kept)


def _holds_text(line: bytes, text: str) -> bool:
    try:
        said = json.loads(line)["text"]
    except (ValueError, KeyError, TypeError, RecursionError):
        # No record: torn, or of another version. The text begins in it as JSON writes it, or as it is.
        begins = text[:TORN_PREFIX_CHARS]
        written = (json.dumps(begins)[1:-1].encode(), begins.encode("utf-8", "replace"))
        return len(text) >= PROBE_CHARS and any(form in line for form in written)
    if not isinstance(said, str):
        return False
    return said == text or (len(text) >= PROBE_CHARS and text in said) or (len(said) >= PROBE_CHARS and said in text)


def _replace_file(path: Path, data: bytes) -> None:
    if not data:
        path.unlink(missing_ok=True)
        path.with_suffix(".why").unlink(missing_ok=True)  # The reason for putting it aside may quote it.
        return
    # Not `.tmp`: another session takes those for records.
    partial = path.with_suffix(".purging")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
