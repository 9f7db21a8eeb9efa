"""Doctor: the checks of `hyperloci doctor`, each with a fix."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperloci import __version__
from hyperloci.cli.diagnostics.client_checks import check_clients
from hyperloci.cli.diagnostics.findings import Diagnosis, Severity
from hyperloci.cli.install import installer
from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.config import Settings, list_idle_settings, list_unknown_variables
from hyperloci.errors import HyperlociError, StoreCorruptError
from hyperloci.maintenance import backups
from hyperloci.project.identity import Project, identify_project
from hyperloci.project.places import PlaceAccount, describe_place
from hyperloci.store import Store, integrity
from hyperloci.store.archive.chunk_archive import Archive, describe_retention
from hyperloci.store.database import vector_extension
from hyperloci.store.database.checkpoint import measure_log
from hyperloci.store.database.error_translation import translate_block_errors
from hyperloci.store.database.file_guard import list_rescued_copies
from hyperloci_hooks import spool
from hyperloci_hooks.outcome_statistics import DAYS, HookStatistics

MIN_FREE_BYTES: Final = 200_000_000
"""With less free space, a busy day of indexing may fill the disk."""

BACKUP_LATE_DAYS: Final = 7
"""A backup older than this is late, even after a week of holidays."""

NETWORK_FILE_SYSTEMS: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afs", "ceph"})
"""File systems on which SQLite's locks and shared memory are not reliable."""


def run_checks(project: Path, *, repair: bool = False) -> list[Diagnosis]:
    """Check the installation, configuration, database and embedder; `repair` repairs what can be repaired."""
    findings = [Diagnosis(Severity.OK, "program", f"hyperloci {__version__}, Python {sys.version.split()[0]}")]
    try:
        settings = Settings.from_env(os.environ, project)  # noqa: TID251 - a process's entry point
    except HyperlociError as error:
        return [*findings, Diagnosis(Severity.ERROR, "settings", str(error), "correct the file or variable named here")]
    findings.extend(Diagnosis(Severity.WARNING, "settings", fault, "correct it") for fault in settings.project_faults)
    unused = [*list_unknown_variables(os.environ), *list_idle_settings(settings)]  # noqa: TID251 - as above
    findings.extend(Diagnosis(Severity.WARNING, "settings", line, "correct it, or remove it") for line in unused)
    for check in (
        _check_sqlite,
        _check_database,
        _check_archive,
        _check_backups,
        _check_disk,
        _git_project,
        _check_index,
        _claude_code,
        check_clients,
        _check_embedder,
        _check_consolidation,
        _check_spool,
        _check_hooks,
    ):
        findings.extend(check(settings, project, repair))
    return findings


def _check_sqlite(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    road = vector_extension.prepare_vec()
    yield Diagnosis(Severity.OK, "sqlite", f"{sqlite3.sqlite_version}; sqlite-vec by {road}")
    if road == vector_extension.ABSENT:
        yield Diagnosis(
            Severity.NOTE, "sqlite-vec", "cannot be loaded by this Python; numpy ranks instead, same results"
        )


def _check_database(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
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
        yield Diagnosis(Severity.ERROR, "database", str(error), _restore_advice(settings))
    except HyperlociError as error:
        yield Diagnosis(Severity.ERROR, "database", str(error))


def _check_archive(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
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
    if folder.is_dir() and os.access(folder, os.W_OK):
        return Diagnosis(Severity.NOTE, "database", f"{path} does not exist yet; it is created on first use")
    message = f"{path} does not exist and can't be created: {folder} is not writable"
    return Diagnosis(Severity.ERROR, "database", message, "set RLM_MEMORY_DB to a file that you may write")


def _existing_parent(path: Path) -> Path:
    return next((parent for parent in path.parents if os.path.exists(parent)), Path("/"))


def _restore_advice(settings: Settings) -> str:
    """Return how to replace a damaged database: by the newest backup, if there is one."""
    backups = [(file.stat().st_mtime_ns, file) for file in settings.backup_dir.glob("*.db")]
    if backups:
        return f"hyperloci restore-backup {max(backups)[1]}"
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
        yield Diagnosis(
            Severity.OK,
            "database",
            f"{store.path}: healthy, schema {stats['schema_version']}, {stats['nodes']} memories, "
            f"{stats['fingerprints_pending']} waiting for vectors, "
            f"{stats['database_bytes'] / 1e6:.1f} MB",
        )


def _set_aside(store: Store) -> Iterator[Diagnosis]:
    counts = store.set_aside.count_by_kind()
    if counts:
        (last,) = store.set_aside.list_all(limit=1)
        told = ", ".join(f"{kind}: {count}" for kind, count in counts.items())
        message = f"{told} failed and set aside, everything else is stored; the last: {last.subject} ({last.reason})"
        yield Diagnosis(Severity.NOTE, "set aside", message, "hyperloci set-aside lists them; --again retries them")


def _check_index(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Report how much of this project's history is stored, and how much of the project can be found by meaning."""
    if not os.path.exists(settings.database):
        return
    from hyperloci.memory import Memory

    try:
        with Memory.open(settings, project) as memory:
            history, reach = memory.get_history_progress(), memory.get_embedding_coverage()
    except HyperlociError:
        return  # The check of the database reports it.
    if reach.total:
        known = f"{reach.embedded:,} of {reach.total:,} memories ({reach.share:.0%}) are found by meaning, all by words"
        yield _progress_finding("search", known, is_whole=not reach.waiting or not settings.embedder)
    if history.stored or history.waiting:
        yield _progress_finding("history", history.describe_progress(), is_whole=not history.waiting)


def _progress_finding(subject: str, message: str, *, is_whole: bool) -> Diagnosis:
    if is_whole:
        return Diagnosis(Severity.OK, subject, message)
    return Diagnosis(Severity.NOTE, subject, message, "hyperloci index, or wait: a session continues in the background")


def _check_backups(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    if not os.path.exists(settings.database):
        return
    if not backups.is_enabled(settings):
        yield Diagnosis(Severity.NOTE, "backups", "switched off (backups_daily, backups_weekly, backups_monthly are 0)")
        return
    found = backups.list_scheduled(settings.database, settings.backup_dir)
    if not found:
        yield Diagnosis(
            Severity.NOTE, "backups", "none yet; one is made each day while a session is idle", "hyperloci upkeep"
        )
        return
    age = (system_clock() - found[0].at) / MS_PER_DAY
    size = sum(backup.path.stat().st_size for backup in found)
    message = f"{len(found)} kept ({size / 1e6:.1f} MB), the last {age:.1f} days ago: {found[0].path}"
    late = age > BACKUP_LATE_DAYS
    yield Diagnosis(Severity.WARNING if late else Severity.OK, "backups", message, "hyperloci upkeep" if late else "")


def _check_disk(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    folder = _existing_parent(settings.database)
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        yield Diagnosis(Severity.WARNING, "disk", f"only {free / 1e6:.0f} MB free in {folder}", "free disk space")


def _git_project(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    if shutil.which("git") is None:
        yield Diagnosis(Severity.WARNING, "git", "not found: commits are not remembered", "install git")
    found = identify_project(project, override=settings.project, claimed_name=settings.claimed_project)
    yield from _place_of_project(settings, found)
    if found.is_broad:
        yield Diagnosis(Severity.NOTE, "project", "this folder is too large to index or watch; open a project's folder")
    for note in found.notes:
        yield Diagnosis(Severity.NOTE, "project", note)


def _place_of_project(settings: Settings, found: Project) -> Iterator[Diagnosis]:
    told = PlaceAccount(
        scope=found.id, name=found.name, root=str(found.root), reason="new", why="by its folder; it is new"
    )
    if os.path.exists(settings.database):
        with contextlib.suppress(HyperlociError), Store.open(settings.database, read_only=True) as store:
            told = describe_place(store, found)
    yield Diagnosis(Severity.OK, "project", f"{told.name} ({told.scope}) at {told.root}, known {told.why}")
    for alike in told.alike:
        other = alike.project
        yield Diagnosis(
            Severity.NOTE,
            "project",
            f"looks like {other.name} ({other.scope}) at {other.root}, {other.memories} memories: {alike.because}",
            f"if they belong together: hyperloci link {other.scope}",
        )


def _claude_code(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")  # noqa: TID251 - Claude Code's own variable, not a setting of ours
    active = []
    for scope in installer.InstallScope:
        try:
            plan = installer.plan_uninstall(
                scope, project_root=project, home=Path.home(), config_dir=Path(folder) if folder else None
            )
        except HyperlociError as error:
            yield Diagnosis(Severity.WARNING, "claude code", str(error), "correct the file, then run hyperloci install")
            continue
        if plan.changed:
            active.append(scope)
            yield Diagnosis(Severity.OK, "claude code", f"installed for scope {scope}")
    if len(active) > 1:
        yield Diagnosis(
            Severity.WARNING,
            "claude code",
            "installed for the user and for the project: every event is captured twice",
            "hyperloci uninstall --scope project",
        )
    if not active:
        yield Diagnosis(Severity.NOTE, "claude code", "not installed (unless as a plugin)", "hyperloci install")


def _check_embedder(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    from hyperloci.embedder.client import EmbedderClient

    if not settings.embedder:
        yield Diagnosis(
            Severity.NOTE, "embedder", "switched off: searches use keywords only", "unset HYPERLOCI_EMBEDDER"
        )
        return
    client = EmbedderClient(settings)
    status = client.status()
    if status is None and client.silent_since is not None:
        yield Diagnosis(
            Severity.WARNING,
            "embedder",
            "it runs but does not answer: searches use words until it does",
            "wait a minute: the session that started it replaces it; if not, restart Claude Code",
        )
        return
    state = f"running: {status}" if status else "not running; a session starts it when it is needed"
    yield Diagnosis(Severity.OK, "embedder", state)


def _check_consolidation(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    """Tell how the user's own Claude Code fares, where it was asked for."""
    from hyperloci.conversations.chat_model import ChatError
    from hyperloci.conversations.claude_allowance import ClaudeAllowance
    from hyperloci.conversations.claude_client import find_claude

    if settings.consolidation != "claude" or not os.path.exists(settings.database):
        return
    try:
        program = find_claude(settings.claude_program, os.environ)  # noqa: TID251 - handed on as it is
    except ChatError as error:
        yield Diagnosis(
            Severity.WARNING, "consolidation", str(error), "or: hyperloci install --consolidation heuristic"
        )
        return
    with Store.open(settings.database, backup_dir=settings.backup_dir) as store:
        usage = ClaudeAllowance(store, settings, system_clock).get_usage()
    used = f"{usage.calls} of {settings.claude_calls_per_day} calls used today"
    if usage.fault:
        message = f"{program} failed {usage.failures} times in a row: {usage.fault} ({used})"
        mend = "run claude once and sign in; meanwhile rules make facts of what can't wait"
        yield Diagnosis(Severity.WARNING, "consolidation", message, mend)
    else:
        yield Diagnosis(Severity.OK, "consolidation", f"by {program}: {used}")


def _check_spool(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    folder = settings.spool_dir
    if waiting := spool.list_waiting_files(folder):
        yield Diagnosis(
            Severity.NOTE, "spool", f"{len(waiting)} file(s) of hooks wait to be stored; the next session stores them"
        )
    for path, reason in spool.list_set_aside(folder):
        mend = f"see {settings.log_file}; the next version tries it again; delete it to discard it"
        yield Diagnosis(Severity.NOTE, "spool", f"{path} could not be stored: {reason}", mend)
    unnamed = [] if spool.accepts_unnamed(settings) else spool.list_unnamed_files(settings)
    if unnamed:
        message = f"{len(unnamed)} file(s) of hooks in {folder.parent} name no database: an earlier version left them"
        mend = f"they will be stored in the default database; move them to {folder} to store them in this one"
        yield Diagnosis(Severity.NOTE, "spool", message, mend)


def _check_hooks(settings: Settings, project: Path, repair: bool) -> Iterator[Diagnosis]:
    account = HookStatistics.from_tally(str(settings.spool_dir))
    for message, mend in account.list_problems():
        yield Diagnosis(Severity.WARNING, "hooks", message, mend)
    if account.event_count:
        times = ", ".join(f"{event} {middle:.0f}/{end:.0f}" for event, (middle, end) in sorted(account.times.items()))
        message = f"{account.event_count} events in {DAYS} days; ms per event (median/95th percentile): {times}"
        yield Diagnosis(Severity.OK, "hooks", message)


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
