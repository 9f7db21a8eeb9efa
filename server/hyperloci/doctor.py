"""`hyperloci doctor`: everything that may be wrong for a user, each with its mend."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from hyperloci import __version__, install
from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.config import Settings
from hyperloci.errors import HyperlociError, StoreCorruptError
from hyperloci.ingest.project import identify
from hyperloci.lifecycle import backups
from hyperloci.store import Store, health, vec
from hyperloci.store.archive import Archive
from hyperloci.store.connection import translated

MIN_FREE_BYTES: Final = 200_000_000
"""With less room left, a busy day of indexing may fill the disk."""

BACKUP_LATE_DAYS: Final = 7
"""Longer than a holiday week without a session, and one should have been made."""

NETWORK_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"})
"""Where SQLite's locks and shared memory can't be relied on."""


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: what was found, and how to mend it where it is wrong."""

    level: Level
    subject: str
    message: str
    mend: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the finding for JSON."""
        return asdict(self)


def examine(project: Path, *, repair: bool = False) -> list[Finding]:
    """Look at the installation, the configuration, the database and the embedder; with `repair`, mend what can be."""
    findings = [Finding(Level.OK, "program", f"hyperloci {__version__}, Python {sys.version.split()[0]}")]
    try:
        settings = Settings.from_env(os.environ, project)  # noqa: TID251 - a process's entry point
    except HyperlociError as error:
        return [*findings, Finding(Level.ERROR, "settings", str(error), "correct the file or variable it names")]
    for check in (_sqlite, _database, _backups, _disk, _git_project, _indexed, _claude_code, _embedder, _spool):
        findings.extend(check(settings, project, repair))
    return findings


def _sqlite(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    road = vec.prepare()
    yield Finding(Level.OK, "sqlite", f"{sqlite3.sqlite_version}; sqlite-vec by {road}")
    if road == vec.ABSENT:
        yield Finding(Level.NOTE, "sqlite-vec", "cannot be loaded by this Python; numpy ranks instead, same results")


def _database(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    path = settings.database
    if not os.path.exists(path):
        yield _place(path)
        return
    yield from _permissions(path)
    kind = file_system_of(path)
    if kind in NETWORK_FILE_SYSTEMS:
        yield Finding(
            Level.WARNING,
            "database",
            f"{path} lies on a network file system ({kind}); locks may not hold there",
            "set RLM_MEMORY_DB to a file on a local disk",
        )
    try:
        with translated(path), Store.open(path, backup_dir=settings.backup_dir) as store:
            yield from _health(store, repair)
    except StoreCorruptError as error:
        yield Finding(Level.ERROR, "database", str(error), _restoring(settings))
    except HyperlociError as error:
        yield Finding(Level.ERROR, "database", str(error))


def _place(path: Path) -> Finding:
    """Judge the place of a database that is not there yet."""
    folder = _existing(path)
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Finding(Level.NOTE, "database", f"{path} is not there yet; it is made on first use")
    message = f"{path} is not there, and can't be made: {folder} can't be written"
    return Finding(Level.ERROR, "database", message, "set RLM_MEMORY_DB to a file you may write")


def _existing(path: Path) -> Path:
    return next((parent for parent in path.parents if os.path.exists(parent)), Path("/"))


def _restoring(settings: Settings) -> str:
    """Return how to get out of a damaged database: with the newest backup, if there is one."""
    backups = [(file.stat().st_mtime_ns, file) for file in settings.backup_dir.glob("*.db")]
    if backups:
        return f"hyperloci restore-backup {max(backups)[1]}"
    return "hyperloci restore-backup FILE with a backup of your own; or move the file away, to begin anew"


def _permissions(path: Path) -> Iterator[Finding]:
    if os.name == "posix" and path.stat().st_mode & 0o077:
        yield Finding(Level.WARNING, "database", f"{path} can be read by others", f"chmod 600 {path}")


def _health(store: Store, repair: bool) -> Iterator[Finding]:
    problems = health.integrity(store.connection)
    drift = health.violations(store)
    if repair and (drift or problems):
        store.back_up(store.path.with_name(f"{store.path.stem}-before-repair.db"))
        health.repair(store)
        problems, drift = health.integrity(store.connection), health.violations(store)
        yield Finding(Level.NOTE, "database", "repaired; the state before lies beside it (-before-repair.db)")
    if lost := health.unreadable_turns(store):
        archive = Archive.beside(store.path).folder
        message = f"of {lost} turns only the beginning can be read; {archive} is damaged or gone"
        yield Finding(Level.WARNING, "archive", message, "put that folder back from a backup of your disk")
    for problem in problems:
        yield Finding(Level.ERROR, "database", problem, "hyperloci doctor --repair, else restore a backup")
    for name, count in drift.items():
        yield Finding(Level.WARNING, "database", f"{count} {name}", "hyperloci doctor --repair")
    if not problems and not drift:
        stats = store.stats()
        share = 1 - stats["fingerprints_pending"] / max(1, stats["nodes"])
        yield Finding(
            Level.OK,
            "database",
            f"{store.path}: healthy, schema {stats['schema_version']}, {stats['nodes']} memories, "
            f"{share:.0%} of them found by meaning ({stats['fingerprints_pending']} waiting for vectors), "
            f"{stats['database_bytes'] / 1e6:.1f} MB",
        )


def _indexed(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    """Tell how much of this project's history is stored, and how much of the project can be found by meaning."""
    if not os.path.exists(settings.database):
        return
    from hyperloci.memory import Memory

    try:
        with Memory.open(settings, project) as memory:
            history, reach = memory.history(), memory.by_meaning()
    except HyperlociError:
        return  # Told by the look at the database.
    if reach.total:
        known = f"{reach.embedded:,} of {reach.total:,} memories ({reach.share:.0%}) are found by meaning, all by words"
        yield _progress("search", known, is_whole=not reach.waiting or not settings.embedder)
    if history.stored or history.waiting:
        yield _progress("history", history.words(), is_whole=not history.waiting)


def _progress(subject: str, message: str, *, is_whole: bool) -> Finding:
    if is_whole:
        return Finding(Level.OK, subject, message)
    return Finding(Level.NOTE, subject, message, "hyperloci index, or wait: a session goes on in the background")


def _backups(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    if not os.path.exists(settings.database):
        return
    if not backups.wanted(settings):
        yield Finding(Level.NOTE, "backups", "switched off (backups_daily, backups_weekly, backups_monthly are 0)")
        return
    found = backups.scheduled(settings.database, settings.backup_dir)
    if not found:
        yield Finding(Level.NOTE, "backups", "none yet; one is made a day while a session is idle", "hyperloci upkeep")
        return
    age = (system_clock() - found[0].at) / MS_PER_DAY
    size = sum(backup.path.stat().st_size for backup in found)
    message = f"{len(found)} kept ({size / 1e6:.1f} MB), the last {age:.1f} days ago: {found[0].path}"
    late = age > BACKUP_LATE_DAYS
    yield Finding(Level.WARNING if late else Level.OK, "backups", message, "hyperloci upkeep" if late else "")


def _disk(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    folder = _existing(settings.database)
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        yield Finding(Level.WARNING, "disk", f"only {free / 1e6:.0f} MB free in {folder}", "make room")


def _git_project(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    if shutil.which("git") is None:
        yield Finding(Level.WARNING, "git", "not found: commits are not remembered", "install git")
    found = identify(project, override=settings.project)
    yield Finding(Level.OK, "project", f"{found.name} ({found.id}), known by its {found.basis}, at {found.root}")
    if found.broad:
        yield Finding(Level.NOTE, "project", "this folder is too broad to index or watch; open a project's folder")
    for note in found.notes:
        yield Finding(Level.NOTE, "project", note)


def _claude_code(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")  # noqa: TID251 - Claude Code's own variable, not a setting of ours
    active = []
    for scope in install.Scope:
        try:
            plan = install.plan_uninstall(
                scope, project_root=project, home=Path.home(), config_dir=Path(folder) if folder else None
            )
        except HyperlociError as error:
            yield Finding(Level.WARNING, "claude code", str(error), "correct the file, then run hyperloci install")
            continue
        if plan.changed:
            active.append(scope)
            yield Finding(Level.OK, "claude code", f"installed for scope {scope}")
    if len(active) > 1:
        yield Finding(
            Level.WARNING,
            "claude code",
            "installed for the user and for the project: every event is captured twice",
            "hyperloci uninstall --scope project",
        )
    if not active:
        yield Finding(Level.NOTE, "claude code", "not installed (unless as a plugin)", "hyperloci install")


def _embedder(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    from hyperloci.embedder.client import EmbedderClient

    if not settings.embedder:
        yield Finding(Level.NOTE, "embedder", "switched off: searches use keywords only", "unset HYPERLOCI_EMBEDDER")
        return
    status = EmbedderClient(settings).status()
    state = f"running: {status}" if status else "not running; a session starts it when it is needed"
    yield Finding(Level.OK, "embedder", state)


def _spool(settings: Settings, project: Path, repair: bool) -> Iterator[Finding]:
    waiting, refused = (len(list(settings.spool_dir.glob(pattern))) for pattern in ("*.jsonl", "*.bad"))
    if waiting:
        yield Finding(Level.NOTE, "spool", f"{waiting} file(s) of hooks wait to be stored; the next session does it")
    if refused:
        message = f"{refused} file(s) of hooks could not be stored (*.bad in {settings.spool_dir})"
        yield Finding(Level.NOTE, "spool", message, f"see {settings.log_file}, then delete them")


def file_system_of(path: Path, mounts: Path = Path("/proc/mounts")) -> str | None:
    """Return the type of the file system a path lies on, None where that can't be told."""
    if not mounts.exists():
        return None
    best: tuple[int, str] | None = None
    target = path.absolute()
    for line in mounts.read_text(errors="replace").splitlines():
        parts = line.split()
        if len(parts) > 2 and target.is_relative_to(parts[1]) and (best is None or len(parts[1]) >= best[0]):
            best = (len(parts[1]), parts[2])
    return best[1] if best else None
