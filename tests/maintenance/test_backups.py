"""Backups that are made by themselves: when, which are kept, and what becomes of the rest."""

from __future__ import annotations

import shutil
from collections import namedtuple
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.errors import StoreError, StoreFullError
from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.backups import (
    FRESH_FOR_MS,
    KEPT_OF_MIGRATIONS,
    Backup,
    back_up,
    ensure_backup,
    list_before_migrations,
    list_restorable,
    list_scheduled,
    rotate_backups,
    select_kept,
)
from hyperloci.maintenance.decay import prune_faded
from hyperloci.maintenance.job_list import JOBS
from hyperloci.store import Store
from hyperloci.system.data_paths import name_copies
from tests.support import NOW, FakeClock, add, examples

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def context(store: Store, settings: Settings, clock: FakeClock) -> MaintenanceContext:
    return MaintenanceContext(store=store, settings=settings, clock=clock)


def contents(path: Path) -> list[str]:
    with Store.open(path, read_only=True) as store:
        return [node.content for node in store.nodes.query_nodes(limit=1_000)]


def test_a_backup_is_made_once_and_holds_everything(context: MaintenanceContext, clock: FakeClock) -> None:
    add(context.store, "kept")
    assert back_up(context) == 1
    assert back_up(context) == 0
    [backup] = list_scheduled(context.settings)
    assert backup.at == NOW
    assert contents(backup.path) == ["kept"]
    assert backup.path.stat().st_mode & 0o777 == 0o600
    clock.advance(FRESH_FOR_MS)
    add(context.store, "newer")
    assert back_up(context) == 2, "one made, and the older one of the same day deleted"
    [backup] = list_scheduled(context.settings)
    assert sorted(contents(backup.path)) == ["kept", "newer"]


def test_days_weeks_and_a_month_are_kept(context: MaintenanceContext, clock: FakeClock) -> None:
    for _ in range(70):
        back_up(context)
        clock.advance(MS_PER_DAY)
    days = [(clock.now - backup.at) // MS_PER_DAY for backup in list_scheduled(context.settings)]
    assert days[:3] == [1, 2, 3]
    assert 4 <= len(days) <= 6


@hypothesis_settings(max_examples=examples(100))
@given(
    st.lists(st.integers(0, 3 * 365 * 24), unique=True, max_size=60),
    st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)),
)
def test_the_newest_of_each_day_week_and_month_is_kept(hours: list[int], counts: tuple[int, int, int]) -> None:
    settings = Settings(
        database=Path("m.db"),
        state_dir=Path(),
        runtime_dir=Path(),
        backups_daily=counts[0],
        backups_weekly=counts[1],
        backups_monthly=counts[2],
    )
    backups = [Backup(Path(str(hour)), NOW + hour * 3_600_000) for hour in sorted(hours, reverse=True)]
    kept = select_kept(backups, settings)
    assert kept <= set(backups)
    assert len(kept) <= max(1, sum(counts))
    assert not backups or backups[0] in kept
    days = {datetime.fromtimestamp(backup.at / 1_000, UTC).date() for backup in kept}
    every = sorted({datetime.fromtimestamp(backup.at / 1_000, UTC).date() for backup in backups}, reverse=True)
    assert set(every[: counts[0]]) <= days
    # What was kept is kept again: rotating twice deletes nothing more.
    assert select_kept([backup for backup in backups if backup in kept], settings) == kept


def test_copies_are_made_and_kept_though_the_clock_ran_ahead_for_weeks(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    def back_up_daily() -> set[int]:
        for _ in range(40):
            clock.advance(MS_PER_DAY)
            back_up(context)
            back_up(context)
        return {backup.at for backup in list_scheduled(context.settings)}

    before = back_up_daily()
    clock.advance(3_650 * MS_PER_DAY)
    ahead = back_up_daily() - before
    clock.advance(-3_650 * MS_PER_DAY)
    after = back_up_daily()
    assert clock() in after and len(after - ahead) == len(before)
    assert after & ahead
    # A clock that is set back by mistake costs no copy either.
    clock.advance(-3_650 * MS_PER_DAY)
    assert len(back_up_daily() & (after - ahead)) == len(before)


def test_what_is_nobodys_scheduled_backup_is_left_alone(context: MaintenanceContext) -> None:
    folder = context.settings.backup_dir
    folder.mkdir(parents=True)
    own = name_copies(str(context.settings.database))
    others = ["mine.db", f"{own}-auto-x.db", "other-auto-5.db", f"{own}-auto-5.db.txt", f"{own}-auto-{10**20}.db"]
    others += [f"{name_copies(str(folder / 'memory.db'))}-auto-5.db", "memory-auto-5.db", "memory-v1-5.db"]
    for name in others:
        (folder / name).touch()
    for number in range(KEPT_OF_MIGRATIONS + 2):
        (folder / f"{own}-v{number}-{number}.db").touch()
    (folder / "memory-auto-1.db.partial").touch()
    gone = rotate_backups(context.settings, NOW)
    assert {path.name for path in gone} == {f"{own}-v0-0.db", f"{own}-v1-1.db", "memory-auto-1.db.partial"}
    assert [backup.at for backup in list_before_migrations(context.settings)] == [4, 3, 2]
    assert all((folder / name).exists() for name in others)


def test_two_databases_of_one_name_each_have_their_own(tmp_path: Path, clock: FakeClock) -> None:
    for said in ("first", "second"):
        folder = tmp_path / said
        folder.mkdir()
        settings = Settings(database=folder / "notes.db", state_dir=tmp_path / "state", runtime_dir=tmp_path)
        with Store.open(settings.database, clock=clock) as store:
            add(store, said)
            assert back_up(MaintenanceContext(store=store, settings=settings, clock=clock)) == 1
        [backup] = list_scheduled(settings)
        assert contents(backup.path) == [said]


def test_a_database_that_a_link_leads_to_has_one_row_of_copies(tmp_path: Path, clock: FakeClock) -> None:
    real = Settings(database=tmp_path / "notes.db", state_dir=tmp_path / "state", runtime_dir=tmp_path)
    linked = replace(real, database=tmp_path / "link.db")
    linked.database.symlink_to(real.database)
    for settings in (real, linked):
        with Store.open(settings.database, clock=clock) as store:
            ensure_backup(store, settings, clock)
    assert len(list_scheduled(real)) == len(list_scheduled(linked)) == len(list(real.backup_dir.iterdir())) == 1


def test_copies_of_older_versions_are_offered_to_the_usual_database_and_never_deleted(
    tmp_path: Path, clock: FakeClock
) -> None:
    usual = Settings(database=tmp_path / "rlm-memory.db", state_dir=tmp_path / "hyperloci", runtime_dir=tmp_path)
    other = replace(usual, database=tmp_path / "elsewhere" / "rlm-memory.db")
    usual.backup_dir.mkdir(parents=True)
    former = {usual.backup_dir / name for name in (f"rlm-memory-auto-{NOW}.db", "rlm-memory-v3-8.db")}
    for path in former:
        path.touch()
    assert set(list_restorable(usual)) == former
    assert list_restorable(other) == []
    with Store.open(usual.database, clock=clock) as store:
        made = ensure_backup(store, usual, clock)
    assert made is not None, "a copy that may be another's is none of its own"
    assert rotate_backups(usual, NOW) == []
    assert list_restorable(usual)[0] == made.path and former < set(list_restorable(usual))


def test_they_can_be_switched_off(context: MaintenanceContext) -> None:
    off = replace(context.settings, backups_daily=0, backups_weekly=0, backups_monthly=0)
    assert back_up(replace(context, settings=off)) == 0
    assert ensure_backup(context.store, off, context.clock) is None
    assert not context.settings.backup_dir.exists()


def test_a_rehearsal_makes_none(context: MaintenanceContext) -> None:
    assert back_up(replace(context, dry_run=True)) == 0
    assert list_scheduled(context.settings) == []


def test_a_disk_without_room_gets_none_and_nothing_is_pruned(
    context: MaintenanceContext, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(context.store, "faint", confidence=0.06, decay_rate=0.5)
    clock.advance(30 * MS_PER_DAY)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(100, 100, 10))
    with pytest.raises(StoreFullError, match="backups_daily"):
        back_up(context)
    with pytest.raises(StoreFullError):
        prune_faded(context)
    assert [node.content for node in context.store.nodes.query_nodes()] == ["faint"]


def test_before_memories_fade_away_a_backup_that_holds_them_is_made(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    add(context.store, "faint", confidence=0.06, decay_rate=0.5)
    clock.advance(30 * MS_PER_DAY)
    assert len(prune_faded(context).ids) == 1
    assert context.store.nodes.query_nodes() == []
    [backup] = list_scheduled(context.settings)
    assert contents(backup.path) == ["faint"]


def test_in_a_round_of_upkeep_it_comes_before_everything_that_deletes() -> None:
    names = [step.name for step in JOBS]
    assert names.index("backup") < min(names.index("prune"), names.index("expire"))


def test_a_backup_folder_that_can_not_be_written_is_an_error_of_ours(context: MaintenanceContext) -> None:
    context.settings.state_dir.mkdir(parents=True, exist_ok=True)
    (context.settings.state_dir / "backups").write_text("a file in its place")
    with pytest.raises((StoreError, OSError)):
        back_up(context)
    assert add(context.store, "still writable").content == "still writable"
