"""Backups: one per day, and one before memories are pruned; older ones are thinned to one per week and per month.

They are in the state folder, readable by the user only; `hyperloci restore-backup` restores one, and `purge` removes
memories from them too. A file's name tells whose it is: two databases of one name may share a state folder.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from hyperloci.clock import Clock
from hyperloci.config import Settings
from hyperloci.errors import StoreFullError
from hyperloci.jobs import HOURLY, MaintenanceContext
from hyperloci.store import Store
from hyperloci.store.purge import list_unfinished_backups
from hyperloci.system.data_paths import name_copies
from hyperloci.system.own_folders import make_own_folders
from hyperloci.system.values import dataclass

FRESH_FOR_MS: Final = HOURLY
"""A backup so young needs no other: what was written since is not yet what anybody would prune."""

KEPT_OF_MIGRATIONS: Final = 3
"""Copies made before the schema changed. Who has not noticed for three releases that something is gone never will."""

SPACE_FACTOR: Final = 2
"""A backup is made only where so many times its size are free: a full disk keeps the user from all other work."""

UNFINISHED_AFTER_MS: Final = HOURLY
"""A copy still unfinished after so long has no one who finishes it: copying a gigabyte takes seconds."""

_MADE_FOR: Final = re.compile(r"-(?:auto|v\d{1,4})-\d{1,14}\.db\Z")
"""How the name of a copy ends that Hyperloci made of some database."""


@dataclass(frozen=True, slots=True)
class Backup:
    """One backup that Hyperloci made by itself, and when, in milliseconds."""

    path: Path
    at: int


def list_scheduled(settings: Settings) -> list[Backup]:
    """Return the scheduled backups of the database, newest first."""
    return _list_named(settings, "auto")


def list_until(settings: Settings, now: int) -> list[Backup]:
    """Return the scheduled backups but for those of a time to come, beside which none would be fresh or wanted."""
    return [backup for backup in list_scheduled(settings) if backup.at <= now]


def list_before_migrations(settings: Settings) -> list[Backup]:
    """Return the copies made before the schema of the database changed, newest first."""
    return _list_named(settings, r"v\d+")


def list_restorable(settings: Settings) -> list[Path]:
    """Return the copies that may be the database's: its own, then what somebody put into the folder; newest first.

    Copies of older versions, whose names don't say whose they are, may be those of the usual database.
    """
    own = [backup.path for backup in (*list_scheduled(settings), *list_before_migrations(settings))]
    others = (path for path in settings.backup_dir.glob("*.db") if path not in own)
    former = settings.database.stem if settings.is_usual_database else ""
    put = [path for path in others if _may_belong(path, former)]
    return [path for paths in (own, put) for path in sorted(paths, key=_read_time, reverse=True)]


def _may_belong(path: Path, former: str) -> bool:
    """Return whether somebody put a file there, or an older version made it of a database of that name."""
    made = _MADE_FOR.search(path.name)
    return made is None or path.name[: made.start()] == former


def _read_time(path: Path) -> int:
    return path.stat().st_mtime_ns


def _list_named(settings: Settings, occasion: str) -> list[Backup]:
    """Return the copies of an occasion; not those of older versions, whose names don't say whose they are."""
    folder = settings.backup_dir
    if not folder.is_dir():
        return []
    pattern = rf"{re.escape(name_copies(str(settings.database)))}-{occasion}-(\d{{1,14}})\.db"
    named = ((path, re.fullmatch(pattern, path.name)) for path in folder.iterdir())
    found = [Backup(path, int(match[1])) for path, match in named if match is not None]
    return sorted(found, key=lambda backup: backup.at, reverse=True)


def is_enabled(settings: Settings) -> bool:
    """Tell whether scheduled backups are switched on."""
    return any((settings.backups_daily, settings.backups_weekly, settings.backups_monthly))


def ensure_backup(store: Store, settings: Settings, clock: Clock) -> Backup | None:
    """Make a backup unless a fresh one is there or they are switched off; return the new one, None if none was made.

    Raises:
        StoreFullError: there is no room for it.
        StoreError: it can't be written.
    """
    now = clock()
    newest = next(iter(list_until(settings, now)), None)
    if not is_enabled(settings) or (newest is not None and now - newest.at < FRESH_FOR_MS):
        return None
    make_own_folders(settings.backup_dir)
    size = int(store.count_everything()["database_bytes"])
    free = shutil.disk_usage(settings.backup_dir).free
    if free < SPACE_FACTOR * size:
        raise StoreFullError(
            f"No backup was made: {settings.backup_dir} has {free / 1e6:.0f} MB free, but the database takes "
            f"{size / 1e6:.0f} MB. Free space, or lower backups_daily, backups_weekly and backups_monthly."
        )
    path = settings.backup_dir / f"{name_copies(str(store.path))}-auto-{now}.db"
    return Backup(store.back_up(path), now)


def rotate_backups(settings: Settings, now: int) -> list[Path]:
    """Delete the scheduled backups that no day, week or month wants, the oldest of migrations, and unfinished ones.

    Those of a time to come stay: either they or the present time are of a clock that was wrong.
    """
    backups = list_until(settings, now)
    kept = select_kept(backups, settings)
    old = [backup for backup in backups if backup not in kept]
    old += list_before_migrations(settings)[KEPT_OF_MIGRATIONS:]
    gone = [backup.path for backup in old]
    gone += [
        path
        for path in list_unfinished_backups(settings.database, settings.backup_dir)
        if _age_ms(path, now) > UNFINISHED_AFTER_MS
    ]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone


def select_kept(backups: Sequence[Backup], settings: Settings) -> set[Backup]:
    """Return the backups to keep: the newest of each of the last days, weeks and months that have any, by UTC.

    The newest of all is always kept.
    """
    grid: tuple[tuple[Callable[[datetime], object], int], ...] = (
        (lambda moment: moment.date(), settings.backups_daily),
        (lambda moment: moment.isocalendar()[:2], settings.backups_weekly),
        (lambda moment: (moment.year, moment.month), settings.backups_monthly),
    )
    kept = set(backups[:1])
    for part, count in grid:
        newest: dict[object, Backup] = {}
        for backup in backups:
            newest.setdefault(part(datetime.fromtimestamp(backup.at / 1_000, UTC)), backup)
        kept.update(list(newest.values())[:count])
    return kept


def _age_ms(path: Path, now: int) -> int:
    try:
        return now - path.stat().st_mtime_ns // 1_000_000
    except FileNotFoundError:
        return 0


def back_up(context: MaintenanceContext) -> int:
    """Back up and rotate, as a maintenance job."""
    if context.dry_run:
        return 0
    made = ensure_backup(context.store, context.settings, context.clock)
    return (made is not None) + len(rotate_backups(context.settings, context.clock()))
