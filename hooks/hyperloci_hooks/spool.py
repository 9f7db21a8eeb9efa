"""Spool: small files, one per hook process, in which records of one database wait to be stored.

If no server runs, hooks with only a tenth of a second save their records here, because opening the database alone takes
as long; otherwise records come here only when the database is busy, full or broken. A file is written under a temporary
name, synced and renamed, so a file with its final name is complete. Storing a record twice has no effect, so a file
that was stored but not removed, because the process died in between, does no harm.

Each record names its database and is stored in no other. A file is marked in its name before it is stored: a record
that kills the process that stores it is tried once more, alone, and then set aside.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from hyperloci import __version__
from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.errors import (
    BadRequestError,
    StoreBusyError,
    StoreCorruptError,
    StoreFullError,
    StoreReadOnlyError,
    StoreVersionError,
)
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.system.data_paths import database_key
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.values import dataclass
from hyperloci_hooks import outcome_log

if TYPE_CHECKING:
    from hyperloci.store import Store

LOST_AFTER_MS: Final = 60_000
"""An unfinished file older than this belongs to a process that died: its complete lines are used."""

MAX_TRIES: Final = 2
"""A file that killed this many processes is set aside."""

BATCH_FILES: Final = 32
"""Files stored together: the tool uses of two or three turns."""

UNFINISHED: Final = ".tmp"
WAITING: Final = ".jsonl"
ASIDE: Final = ".bad"
REASON: Final = ".why"
"""Suffix of the file beside a file set aside: the program's version, and the reason."""

_TRIED: Final = re.compile(r"\.try(\d)$")

PASSING: Final = (StoreBusyError, StoreFullError, StoreReadOnlyError, StoreCorruptError, StoreVersionError)
"""Errors of the database, not of the record: the record waits until they are fixed."""


@dataclass(frozen=True, slots=True)
class SpoolFileContents:
    """The contents of a file.

    Attributes:
        good: its records.
        bad: how many complete lines are not records.
        foreign: the other database that it belongs to; '' if it names none but is not of this one.
    """

    good: tuple[CaptureRecord, ...]
    bad: int
    foreign: str | None = None


class TryMarks:
    """The marks in the names of the files that are being stored: who goes on to live takes them off."""

    def __init__(self) -> None:
        self._marked: list[tuple[Path, Path]] = []

    def mark(self, path: Path) -> Path | None:
        """Count a try in a file's name; return its path now, None if another process stored it."""
        marked = _without_try_mark(path).with_suffix(f".try{_count_tries(path) + 1}{path.suffix}")
        with contextlib.suppress(FileNotFoundError):
            path.replace(marked)
            self._marked.append((marked, path))
            return marked
        return None

    def clear(self) -> None:
        """Give the files their names back: the process does not end because of them."""
        for marked, path in self._marked:
            with contextlib.suppress(FileNotFoundError):
                marked.replace(path)

    def forget(self) -> None:
        """Have no marks to clear: what was marked is stored, set aside or cleared."""
        self._marked.clear()


class RecordSink(Protocol):
    """The part of `Memory` that the spool needs."""

    settings: Settings
    store: Store

    def keep(self, record: CaptureRecord) -> int:
        """Store a record."""
        ...


def save_record(settings: Settings, record: CaptureRecord) -> Path:
    """Write a record to a new file that only the user can read, durably, and return its path.

    Raises:
        OSError: it could not be written; nothing is left of it.
    """
    where = settings.installation_paths
    folder = Path(where.spool)
    make_own_folders(folder)
    path = folder / f"{record.at:014d}-{os.getpid()}-{os.urandom(4).hex()}{WAITING}"
    unfinished = path.with_suffix(UNFINISHED)
    line = json.dumps({**record.to_dict(), "database": where.database}).encode("ascii") + b"\n"
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


def list_waiting_files(folder: Path, *, now: int | None = None) -> list[Path]:
    """Return the files to store, oldest first, including those that a dead process left unfinished."""
    moment = system_clock() if now is None else now
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    files = [folder / name for name in names if name.endswith((WAITING, UNFINISHED))]
    return [path for path in files if path.suffix != UNFINISHED or _age_ms(path, moment) > LOST_AFTER_MS]


def list_unnamed_files(settings: Settings) -> list[Path]:
    """Return the files of earlier versions, whose records name no database."""
    return list_waiting_files(settings.spool_dir.parent)


def has_work(settings: Settings) -> bool:
    """Return whether a file waits that this version of the program has not already failed to store."""
    if list_waiting_files(settings.spool_dir) or (settings.is_usual_database and list_unnamed_files(settings)):
        return True
    return any(_read_reason(path)[0] != __version__ for path, _ in list_set_aside(settings.spool_dir))


def list_set_aside(folder: Path) -> list[tuple[Path, str]]:
    """Return the files that could not be stored, each with its reason."""
    found = sorted(folder.glob(f"*{ASIDE}")) if folder.is_dir() else []
    return [(path, _read_reason(path)[1]) for path in found]


def _read_reason(path: Path) -> tuple[str, str]:
    """Return the version of the program that set a file aside, and the reason."""
    try:
        version, _, reason = path.with_suffix(REASON).read_text("utf-8", "replace").partition("\n")
    except OSError:
        return "", "an earlier version could not store it"
    return version, reason.strip()


def _age_ms(path: Path, now: int) -> float:
    try:
        return now - path.stat().st_mtime_ns / 1_000_000
    except FileNotFoundError:
        return 0.0


def drain_spool(
    memory: RecordSink, *, may_go_on: Callable[[], bool] = lambda: True, marks: TryMarks | None = None
) -> int:
    """Store every waiting record of the memory's database, oldest first, and return how many.

    Lines that are not records, records that can't be stored in any state of the database, and records that killed the
    process twice are set aside in a file that ends in `.bad`, with the reason beside it.

    If another process is draining the spool, nothing is done.

    Args:
        memory: where to store them.
        may_go_on: called before each batch; False stops.
        marks: takes the marks of what is being stored, for another thread that may end the process.

    Raises:
        StoreError: the database could not take a record; it and the following ones keep waiting.
        OSError: the spool can't be read.
    """
    settings = memory.settings
    if not has_work(settings):
        return 0
    # Loading this takes longer than writing a record, and a hook that only writes a record runs this too.
    from hyperloci.system.process_lock import Election, lock_path

    election = Election(lock_path(settings.lock_dir, "spool", settings.installation_paths.database))
    if not election.try_to_win():
        return 0
    try:
        _adopt_unnamed(settings)
        _retry_set_aside(settings.spool_dir)
        return _drain_files(memory, list_waiting_files(settings.spool_dir), may_go_on, marks or TryMarks())
    finally:
        election.resign()


def _adopt_unnamed(settings: Settings) -> None:
    """Move the files that earlier versions left for the default database into its folder."""
    files = list_unnamed_files(settings) if settings.is_usual_database else []
    if files:
        make_own_folders(settings.spool_dir)
    for path in files:
        with contextlib.suppress(FileNotFoundError):
            path.replace(settings.spool_dir / path.name)


def _retry_set_aside(folder: Path) -> None:
    """Let files that another version of the program set aside wait again."""
    for path, _ in list_set_aside(folder):
        if _read_reason(path)[0] != __version__:
            with contextlib.suppress(FileNotFoundError):
                path.replace(_without_try_mark(path).with_suffix(WAITING))
            path.with_suffix(REASON).unlink(missing_ok=True)


def _drain_files(memory: RecordSink, files: Sequence[Path], may_go_on: Callable[[], bool], marks: TryMarks) -> int:
    fresh = [path for path in files if not _count_tries(path)]
    # Files in progress when a process died are tried alone and last: they may kill this one too.
    batches = [fresh[start : start + BATCH_FILES] for start in range(0, len(fresh), BATCH_FILES)]
    batches += [[path] for path in files if _count_tries(path)]
    stored = 0
    for batch in batches:
        if not may_go_on():
            break
        stored += _store_marked(memory, batch, marks)
    return stored


def _store_marked(memory: RecordSink, files: Sequence[Path], marks: TryMarks) -> int:
    """Store files, with a mark in their names meanwhile that counts the tries."""
    contents: dict[Path, SpoolFileContents] = {}
    for path in files:
        if _count_tries(path) >= MAX_TRIES:
            _set_aside_file(memory.settings, path, f"the process that stored it died {MAX_TRIES} times")
            continue
        content = _read_contents(path, memory.settings)
        if content.foreign is not None:
            _move_to_own_spool(memory.settings, path, content.foreign)
            continue
        if (marked := marks.mark(path)) is not None:
            contents[marked] = content
    try:
        return _store_contents(memory, contents) if contents else 0
    except BaseException:
        marks.clear()
        raise
    finally:
        marks.forget()


def _move_to_own_spool(settings: Settings, path: Path, database: str) -> None:
    """Move a file of another database into the folder of that database."""
    home = settings.spool_dir.parent / database_key(database)
    if not database or home == settings.spool_dir:
        whose = f"it belongs to the database {database}" if database else "it names no database"
        _set_aside_file(settings, path, whose)
        return
    home.mkdir(exist_ok=True, mode=0o700)
    with contextlib.suppress(FileNotFoundError):
        path.replace(home / path.name)


def _count_tries(path: Path) -> int:
    found = _TRIED.search(path.stem)
    return int(found[1]) if found else 0


def _without_try_mark(path: Path) -> Path:
    return path.with_name(_TRIED.sub("", path.stem) + path.suffix)


def _store_contents(memory: RecordSink, contents: Mapping[Path, SpoolFileContents]) -> int:
    try:
        # In their order, or answers would stand behind what was said to them.
        for is_turns, records in itertools.groupby(
            _iterate_records(contents), key=lambda record: record.kind is CaptureKind.TURNS
        ):
            # Turns read a transcript, in transactions of their own.
            with contextlib.nullcontext() if is_turns else memory.store.transaction():
                for record in records:
                    memory.keep(record)
    except PASSING:
        raise
    except Exception:  # One record caused it: storing them one by one shows which.
        return sum(_store_one(memory, path, content) for path, content in contents.items())
    for path, content in contents.items():
        _finish_file(memory.settings, path, content.bad)
    return sum(len(content.good) for content in contents.values())


def _iterate_records(contents: Mapping[Path, SpoolFileContents]) -> Iterator[CaptureRecord]:
    return (record for content in contents.values() for record in content.good)


def _store_one(memory: RecordSink, path: Path, content: SpoolFileContents) -> int:
    """Store the records of one file, one by one; a record that can't be stored does not stop the others."""
    stored = 0
    bad, reason = content.bad, ""
    for record in content.good:
        try:
            memory.keep(record)
            stored += 1
        except PASSING:
            raise
        except Exception as error:  # Whatever it is, it must not stop the others.
            _log_warning("a record in %s can't be stored: %s", path.name, error)
            bad, reason = bad + 1, str(error) or type(error).__name__
    _finish_file(memory.settings, path, bad, reason)
    return stored


def _log_warning(message: str, *arguments: object) -> None:
    """Write to the log of the process; `logging` is imported only now, as it is rarely needed."""
    import logging

    logging.getLogger(__name__).warning(message, *arguments)


def _finish_file(settings: Settings, path: Path, bad: int, reason: str = "not a record") -> None:
    if not bad:
        path.unlink(missing_ok=True)
        return
    _set_aside_file(settings, path, f"{bad} of its lines could not be stored: {reason or 'not a record'}")


def _set_aside_file(settings: Settings, path: Path, reason: str) -> None:
    _log_warning("%s is set aside: %s", path.name, reason)
    outcome_log.append_outcome(str(settings.spool_dir), "spool", outcome_log.ASIDE)
    aside = _without_try_mark(path).with_suffix(ASIDE)
    descriptor = os.open(aside.with_suffix(REASON), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(f"{__version__}\n{reason}\n")
    with contextlib.suppress(FileNotFoundError):
        path.replace(aside)


def _read_contents(path: Path, settings: Settings) -> SpoolFileContents:
    """Return a file's records and the number of complete lines that are not records; a torn last line is ignored."""
    good: list[CaptureRecord] = []
    bad = 0
    for line in _read_whole_lines(path):
        try:
            values = json.loads(line)
            record, database = CaptureRecord.from_dict(values), values.get("database")
            if not _belongs_to_database(database, settings):
                return SpoolFileContents((), 0, foreign=str(database or ""))
            good.append(record)
        except (ValueError, AttributeError, RecursionError, BadRequestError):
            bad += 1
    return SpoolFileContents(tuple(good), bad)


def _belongs_to_database(database: object, settings: Settings) -> bool:
    if isinstance(database, str):
        return os.path.realpath(database) == settings.installation_paths.database
    return settings.is_usual_database


def _read_whole_lines(path: Path) -> Iterator[bytes]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return iter(())  # Another process stored it.
    return (line for line in data.splitlines(keepends=True) if line.endswith(b"\n") and line.strip())
