"""Where records wait to be stored: small files, one a hook process.

Hooks that have a tenth of a second in all leave their records here in any case, since the database alone takes as long
to load; the others only when it is busy, full or broken. A file is complete when it has its name: it is written under
another, synced, and renamed. Storing a record twice is storing it once, so that neither a file that was stored but not
removed, because the process died between, nor two processes that store the same file do any harm.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.errors import (
    BadRequestError,
    HyperlociError,
    StoreBusyError,
    StoreCorruptError,
    StoreFullError,
    StoreReadOnlyError,
    StoreVersionError,
)
from hyperloci.model.record import Record, RecordKind

if TYPE_CHECKING:
    from hyperloci.store import Store

LOST_AFTER_MS: Final = 60_000
"""An unfinished file that old belongs to a process that died: its whole lines are used, a torn one is not."""

BATCH_FILES: Final = 32
"""Stored in one transaction: two or three turns' worth of tool uses."""

UNFINISHED: Final = ".tmp"
UNREADABLE: Final = ".bad"


PASSING: Final = (StoreBusyError, StoreFullError, StoreReadOnlyError, StoreCorruptError, StoreVersionError)
"""What is wrong with the database, not with the record: it waits until somebody mends it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file holds: its records, and how many whole lines are none."""

    good: tuple[Record, ...]
    bad: int


class Keeper(Protocol):
    """`Memory`, as far as the spool needs it."""

    settings: Settings
    store: Store

    def keep(self, record: Record) -> int:
        """Store what a record tells."""
        ...


def save(folder: Path, record: Record) -> Path:
    """Write a record to a new file that only the user can read, durably, and return its path.

    Raises:
        OSError: it could not be written; nothing is left of it.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{record.at:014d}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
    unfinished = path.with_suffix(UNFINISHED)
    line = json.dumps(record.to_dict()).encode("ascii") + b"\n"
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        try:
            while line:
                line = line[os.write(descriptor, line) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        unfinished.replace(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
    return path


def waiting(folder: Path, *, now: int | None = None) -> list[Path]:
    """Return the files to be stored, oldest first, those among them that a dead process left unfinished."""
    moment = system_clock() if now is None else now
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    files = [folder / name for name in names if name.endswith((".jsonl", UNFINISHED))]
    return [path for path in files if path.suffix != UNFINISHED or _age_ms(path, moment) > LOST_AFTER_MS]


def _age_ms(path: Path, now: int) -> float:
    try:
        return now - path.stat().st_mtime_ns / 1_000_000
    except FileNotFoundError:
        return 0.0


def drain_spool(memory: Keeper, *, may_go_on: Callable[[], bool] = lambda: True) -> int:
    """Store every waiting record, oldest first, and return how many.

    A line that is no record, and a record that can't be stored whatever the state of the database, is put aside in a
    file that ends in `.bad`, with a line in the log.

    Args:
        memory: where to store them.
        may_go_on: asked before each batch.

    Raises:
        StoreError: the database could still not take one; it and what follows goes on waiting.
        OSError: the spool can't be read.
    """
    files = waiting(memory.settings.spool_dir)
    stored = 0
    for start in range(0, len(files), BATCH_FILES):
        if not may_go_on():
            break
        stored += _store(memory, {path: _read(path) for path in files[start : start + BATCH_FILES]})
    return stored


def _store(memory: Keeper, contents: Mapping[Path, Contents]) -> int:
    try:
        # Turns read a transcript, in transactions of their own.
        with memory.store.transaction():
            for record in _records(contents):
                if record.kind is not RecordKind.TURNS:
                    memory.keep(record)
        for record in _records(contents):
            if record.kind is RecordKind.TURNS:
                memory.keep(record)
    except PASSING:
        raise
    except (HyperlociError, OSError, ValueError):
        return sum(_store_one(memory, path, content) for path, content in contents.items())
    for path, content in contents.items():
        _put_away(path, content.bad)
    return sum(len(content.good) for content in contents.values())


def _records(contents: Mapping[Path, Contents]) -> Iterator[Record]:
    return (record for content in contents.values() for record in content.good)


def _store_one(memory: Keeper, path: Path, content: Contents) -> int:
    """Store the records of one file, one by one; those that can't be stored don't hold the others up."""
    stored = 0
    bad = content.bad
    for record in content.good:
        try:
            memory.keep(record)
            stored += 1
        except PASSING:
            raise
        except (HyperlociError, OSError, ValueError) as error:
            _warn("a record of %s can't be stored: %s", path.name, error)
            bad += 1
    _put_away(path, bad)
    return stored


def _warn(message: str, *arguments: object) -> None:
    """Write to the log of the process; `logging` is loaded only now, since there is nearly always nothing to say."""
    import logging

    logging.getLogger(__name__).warning(message, *arguments)


def _put_away(path: Path, bad: int) -> None:
    if not bad:
        path.unlink(missing_ok=True)
        return
    _warn("%s: %s of its lines could not be stored; it is put aside", path.name, bad)
    with contextlib.suppress(FileNotFoundError):
        path.replace(path.with_suffix(UNREADABLE))


def _read(path: Path) -> Contents:
    """Return a file's records and the number of its whole lines that are none; a torn last line is nothing."""
    good: list[Record] = []
    bad = 0
    for line in _whole_lines(path):
        try:
            good.append(Record.from_dict(json.loads(line)))
        except (ValueError, AttributeError, RecursionError, BadRequestError):
            bad += 1
    return Contents(tuple(good), bad)


def _whole_lines(path: Path) -> Iterator[bytes]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return iter(())  # Another process stored it.
    return (line for line in data.splitlines(keepends=True) if line.endswith(b"\n") and line.strip())
