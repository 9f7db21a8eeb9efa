"""Storage checks of `hyperloci doctor`: the database, its archive and backups, the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperloci.cli.diagnostics.diagnosis import Diagnosis, Severity
from hyperloci.cli.layout import count_things
from hyperloci.clock import MS_PER_DAY, format_age, system_clock
from hyperloci.config import Settings
from hyperloci.errors import BACKUP_ADVICE, HyperlociError, StoreCorruptError
from hyperloci.maintenance import backups
from hyperloci.model.kinds import NodeType
from hyperloci.store import Store, integrity
from hyperloci.store.archive.chunk_archive import Archive, describe_retention
from hyperloci.store.database.checkpoint import measure_log
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.store.database.file_guard import list_rescued_copies

MIN_FREE_BYTES: Final = 200_000_000
"""With less free space, a busy day of indexing may fill the disk."""


BACKUP_LATE_DAYS: Final = 7
"""A backup older than this is late, even after a week of holidays."""


NETWORK_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"})
"""File systems on which SQLite's locks and shared memory are not reliable."""


def check_database(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Check the file, what was saved of it, and what is in it; `repair` repairs it."""
    path = settings.database
    yield from _saved_copies(path)
    if not os.path.exists(path):
        yield _check_folder(path)
        return
    yield from _check_permissions(path)
    kind = file_system_of(path)
    if kind in NETWORK_FILE_SYSTEMS:
        yield Diagnosis(
            Severity.WARNING,
            "database",
            f"{path} lies on a network file system ({kind}); locks may not hold there",
            "set RLM_MEMORY_DB to a file on a local disk",
        )
    held = measure_log(path)
    try:
        with translate_block_errors(path), Store.open(path, backup_dir=settings.backup_dir) as store:
            yield from _check_health(store, repair)
            yield from _check_log(store, held)
    except StoreCorruptError as error:
        problem = str(error).replace(f" {BACKUP_ADVICE}", "")
        yield Diagnosis(Severity.ERROR, "database", problem, _restore_advice(settings))
    except HyperlociError as error:
        yield Diagnosis(Severity.ERROR, "database", str(error))


def check_archive(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Tell what the archive of conversations holds, and for how long."""
    usage = Archive.for_database(settings.database).measure_usage()
    if usage.oldest is not None:
        held = f"{usage.bytes / 1e6:.1f} MB of conversations since {usage.oldest}"
        yield Diagnosis(Severity.OK, "archive", f"{held}; {describe_retention(settings.cold_retention_days)}")


def _saved_copies(path: Path) -> Iterator[Diagnosis]:
    for copy in list_rescued_copies(path):
        yield Diagnosis(
            Severity.ERROR,
            "database",
            f"its file was removed or replaced while in use; its contents were saved to {copy}",
            f"hyperloci restore-backup {copy}; or delete that file to keep the current memory",
        )


def _check_log(store: Store, held: int) -> Iterator[Diagnosis]:
    """Report what a copy of the database file alone would lack, after a checkpoint of its log."""
    if held:
        store.checkpoint_log()
        left = measure_log(store.path)
        message = f"{held / 1e6:.1f} MB were in the log beside it ({store.path.name}-wal)"
        more = "; all of it is in the file now" if not left else f", {left / 1e6:.1f} MB still are: a session is active"
        yield Diagnosis(
            Severity.NOTE, "database", message + more, "copy it with `hyperloci backup FILE`" if left else ""
        )


def _check_folder(path: Path) -> Diagnosis:
    """Check the folder of a database that does not exist yet."""
    folder = _existing_parent(path)
    if _can_write(folder):
        return Diagnosis(Severity.NOTE, "database", f"{path} does not exist yet; it is created on first use")
    message = f"{path} does not exist and can't be created: {folder} is not writable"
    return Diagnosis(Severity.ERROR, "database", message, "set RLM_MEMORY_DB to a file that you may write")


def check_folders(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Report a folder of the installation that can't be made or written."""
    for name in ("state_dir", "runtime_dir"):
        path: Path = getattr(settings, name)
        folder = path if os.path.lexists(path) else _existing_parent(path)
        if not _can_write(folder):
            verb = "be written" if folder == path else f"be made in {folder}"
            mend = f"set {name} (HYPERLOCI_{name.upper()}) to a folder that you may write"
            yield Diagnosis(Severity.ERROR, "settings", f"{name}: {path} can't {verb}", mend)


def _can_write(folder: Path) -> bool:
    """Tell whether files can be made in a folder. Permissions do not say it: root has them in `/proc` too."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _existing_parent(path: Path) -> Path:
    return next((parent for parent in path.parents if os.path.exists(parent)), Path("/"))


def _restore_advice(settings: Settings) -> str:
    """Return how to replace a damaged database: by the newest backup, if there is one."""
    if copies := backups.list_restorable(settings):
        return f"hyperloci restore-backup {copies[0]}"
    return "hyperloci restore-backup FILE with a backup of your own; or move the file away to start empty"


def _check_permissions(path: Path) -> Iterator[Diagnosis]:
    if os.name == "posix" and path.stat().st_mode & 0o077:
        yield Diagnosis(Severity.WARNING, "database", f"{path} can be read by others", f"chmod 600 {path}")


def _check_health(store: Store, repair: bool) -> Iterator[Diagnosis]:
    problems = integrity.check_integrity(store)
    drift = integrity.count_violations(store)
    if repair and (drift or problems):
        store.back_up(store.path.with_name(f"{store.path.stem}-before-repair.db"))
        integrity.repair_store(store)
        problems, drift = integrity.check_integrity(store), integrity.count_violations(store)
        yield Diagnosis(Severity.NOTE, "database", "repaired; the previous state is beside it (-before-repair.db)")
    if lost := integrity.count_unreadable_turns(store):
        archive = Archive.for_database(store.path).folder
        message = f"only the beginning of {lost} turns can be read; {archive} is damaged or missing"
        yield Diagnosis(Severity.WARNING, "archive", message, "restore that folder from a backup of your disk")
    for problem in problems:
        yield Diagnosis(Severity.ERROR, "database", problem, "hyperloci doctor --repair; otherwise restore a backup")
    for name, count in drift.items():
        yield Diagnosis(Severity.WARNING, "database", f"{count} {name}", "hyperloci doctor --repair")
    yield from _set_aside(store)
    if not problems and not drift:
        stats = store.count_everything()
        names = stats["nodes_by_type"].get(NodeType.ENTITY, 0)
        yield Diagnosis(
            Severity.OK,
            "database",
            f"{store.path}: healthy, schema {stats['schema_version']}, "
            f"{count_things(stats['nodes'] - names, 'memory')} and {count_things(names, 'name')}, "
            f"{stats['fingerprints_pending']:,} of them waiting for vectors, "
            f"{stats['database_bytes'] / 1e6:.1f} MB",
        )


def _set_aside(store: Store) -> Iterator[Diagnosis]:
    counts = store.set_aside.count_by_kind()
    if counts:
        (last,) = store.set_aside.list_all(limit=1)
        told = ", ".join(f"{kind}: {count}" for kind, count in counts.items())
        message = f"{told} failed and set aside, everything else is stored; the last: {last.subject} ({last.reason})"
        yield Diagnosis(Severity.NOTE, "set aside", message, "hyperloci set-aside lists them; --again retries them")


def check_backups(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Tell which backups there are, and whether the last one is late."""
    if not os.path.exists(settings.database):
        return
    if not backups.is_enabled(settings):
        yield Diagnosis(Severity.NOTE, "backups", "switched off (backups_daily, backups_weekly, backups_monthly are 0)")
        return
    now = system_clock()
    found = backups.list_until(settings, now)
    if not found:
        yield Diagnosis(
            Severity.NOTE, "backups", "none yet; one is made each day while a session is idle", "hyperloci upkeep"
        )
        return
    age = (now - found[0].at) / MS_PER_DAY
    size = sum(backup.path.stat().st_size for backup in found)
    message = f"{len(found)} kept ({size / 1e6:.1f} MB), the last {format_age(found[0].at, now)}: {found[0].path}"
    late = age > BACKUP_LATE_DAYS
    yield Diagnosis(Severity.WARNING if late else Severity.OK, "backups", message, "hyperloci upkeep" if late else "")


def check_disk(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Warn of a disk that is nearly full."""
    folder = _existing_parent(settings.database)
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        yield Diagnosis(Severity.WARNING, "disk", f"only {free / 1e6:.0f} MB free in {folder}", "free disk space")


def file_system_of(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the type of the file system that holds a path; None if unknown."""
    if not mounts.exists():
        return None
    best: tuple[int, str] | None = None
    target = path.absolute()
    for line in mounts.read_text(errors="replace").splitlines():
        parts = line.split()
        if len(parts) > 2 and target.is_relative_to(parts[1]) and (best is None or len(parts[1]) >= best[0]):
            best = (len(parts[1]), parts[2])
    return best[1] if best else None
