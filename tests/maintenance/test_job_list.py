"""Background work: what is due, what a failure costs, one process at a time, rehearsed on a copy."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from hyperloci.app import NUDGE_SECONDS
from hyperloci.config import Settings
from hyperloci.errors import StoreBusyError
from hyperloci.jobs import ALWAYS, DAILY, HOURLY, MaintenanceContext, MaintenanceJob, MaintenanceStoppedError
from hyperloci.maintenance.job_list import JOBS, RETRY_MS, list_due_jobs, rehearse_maintenance, run_maintenance
from hyperloci.maintenance.scheduler import ROLE, MaintenanceScheduler, SchedulerPace, run_maintenance_now
from hyperloci.store import Store
from hyperloci.store.archive.chunk_archive import Archive
from hyperloci.system.process_lock import Election, lock_path
from tests.support import FakeClock, add

SOON = 60.0


@pytest.fixture
def context(store: Store, settings: Settings, clock: FakeClock) -> MaintenanceContext:
    return MaintenanceContext(store=store, settings=settings, clock=clock)


class Counting:
    """A step's work that counts its runs."""

    def __init__(self, changed: int = 1, fault: Exception | None = None) -> None:
        self.runs = 0
        self.changed = changed
        self.fault = fault

    def __call__(self, context: MaintenanceContext) -> int:
        self.runs += 1
        if self.fault is not None:
            raise self.fault
        return self.changed


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SOON
    while not condition() and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    assert condition()


@pytest.mark.req("B.18")
def test_a_step_runs_when_it_is_due_and_not_before(context: MaintenanceContext, clock: FakeClock) -> None:
    work = Counting()
    steps = (MaintenanceJob("daily", DAILY, work),)
    assert run_maintenance(context, steps).changed == 1
    clock.advance(DAILY - 1)
    assert run_maintenance(context, steps).steps == ()
    clock.advance(1)
    assert [step.name for step in run_maintenance(context, steps).steps] == ["daily"]
    assert work.runs == 2
    assert context.store.meta.get("last_upkeep") is not None


def test_a_clock_that_was_set_back_puts_nothing_off(context: MaintenanceContext, clock: FakeClock) -> None:
    steps = (MaintenanceJob("daily", DAILY, Counting()),)
    run_maintenance(context, steps)
    clock.advance(-30 * DAILY)
    assert list_due_jobs(context.store, clock(), steps) == list(steps)


def test_what_fails_keeps_nothing_else_from_running_and_is_tried_again_after_a_rest(
    context: MaintenanceContext, clock: FakeClock
) -> None:
    busy, wrong, fine = Counting(fault=StoreBusyError()), Counting(fault=KeyError("x")), Counting()
    steps = (
        MaintenanceJob("busy", ALWAYS, busy),
        MaintenanceJob("wrong", DAILY, wrong),
        MaintenanceJob("fine", DAILY, fine),
    )
    report = run_maintenance(context, steps)
    assert [bool(step.error) for step in report.steps] == [True, True, False]
    assert "is writing to the memory" in str(report.steps[0].error)
    assert run_maintenance(context, steps).steps == ()
    clock.advance(RETRY_MS)
    assert [step.name for step in run_maintenance(context, steps).steps] == ["busy", "wrong"]
    busy.fault = None
    clock.advance(RETRY_MS)
    assert [step.error for step in run_maintenance(context, steps).steps[:1]] == [None]


def test_a_step_for_each_time_leaves_no_note_when_it_has_nothing_to_do(context: MaintenanceContext) -> None:
    steps = (MaintenanceJob("always", ALWAYS, Counting(changed=0)),)
    context.note_time()
    before = context.store.connection.total_changes
    assert len(run_maintenance(context, steps).steps) == 1
    assert context.store.connection.total_changes == before


def test_stopped_between_two_steps_the_rest_is_done_the_next_time(context: MaintenanceContext) -> None:
    first, second = Counting(), Counting()
    stopping = replace(context, should_stop=lambda: first.runs == 1)
    steps = (MaintenanceJob("first", HOURLY, first), MaintenanceJob("second", HOURLY, second))
    assert run_maintenance(stopping, steps).stopped
    assert [step.name for step in run_maintenance(context, steps).steps] == ["second"]


def test_a_step_that_is_stopped_within_is_due_still(context: MaintenanceContext) -> None:
    steps = (MaintenanceJob("long", HOURLY, Counting(fault=MaintenanceStoppedError())),)
    assert run_maintenance(context, steps).steps == ()
    assert list_due_jobs(context.store, context.clock(), steps) == list(steps)


def test_a_rehearsal_tells_what_would_change_and_changes_nothing(context: MaintenanceContext, clock: FakeClock) -> None:
    node = add(context.store, "fades", confidence=0.5)
    clock.advance(300 * DAILY)
    report = rehearse_maintenance(context, force=True)
    assert {step.name: step.changed for step in report.steps}["prune"] == 1
    assert report.dry_run
    assert context.store.nodes.get_node(node.id) == node
    assert context.store.meta.get("last_upkeep") is None


def test_a_rehearsal_has_a_copy_of_the_archive(context: MaintenanceContext) -> None:
    archive = Archive.for_database(context.store.path)
    place, *_ = archive.append_lines("2026-01-01", [{"chunk": "one"}])

    def read_archived(rehearsed: MaintenanceContext) -> int:
        copied = Archive.for_database(rehearsed.store.path)
        copied.append_lines("2026-01-02", [{"chunk": "two"}])
        return int(copied.read_line(place) == {"chunk": "one"})

    report = rehearse_maintenance(context, [MaintenanceJob("read", ALWAYS, read_archived)], force=True)

    assert [(step.changed, step.error) for step in report.steps] == [(1, None)]
    assert len(list(archive.folder.glob("2026-01-0*"))) == 1


def test_every_step_has_a_name_of_its_own_and_finds_nothing_in_an_empty_database(context: MaintenanceContext) -> None:
    assert len({step.name for step in JOBS}) == len(JOBS)
    quiet = replace(context, settings=replace(context.settings, backups_daily=0, backups_weekly=0, backups_monthly=0))
    run_maintenance(quiet, force=True)
    again = run_maintenance(quiet, force=True)
    assert [step.error for step in again.steps] == [None] * len(JOBS)
    assert {step.name: step.changed for step in again.steps if step.changed} == {}


def test_by_hand_it_waits_for_its_turn_and_gives_up(
    store: Store, settings: Settings, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hyperloci.maintenance.scheduler.HAND_WAIT_SECONDS", 0.05)
    other = Election(lock_path(settings.lock_dir, ROLE, str(settings.database)))
    assert other.try_to_win()
    work = Counting()
    steps = (MaintenanceJob("daily", DAILY, work),)
    assert run_maintenance_now(store, settings, clock, steps=steps) is None
    other.resign()
    report = run_maintenance_now(store, settings, clock, steps=steps)
    assert report is not None
    assert (report.changed, work.runs) == (1, 1)


QUICK = SchedulerPace(first=0.0, look=0.01, idle=0.0, quiet=0.0)


def test_a_round_waits_from_one_nudge_of_a_busy_session_to_the_next() -> None:
    assert SchedulerPace().quiet > NUDGE_SECONDS


@pytest.mark.req("B.16")
def test_an_idle_server_does_what_is_due(store: Store, settings: Settings, clock: FakeClock) -> None:
    work = Counting()
    keeper = MaintenanceScheduler(settings, clock, pace=QUICK, steps=(MaintenanceJob("daily", DAILY, work),))
    keeper.start()
    try:
        wait_until(lambda: keeper.status()["last_changed"] == 1)
        assert keeper.status()["running"]
        assert keeper.status()["last_error"] is None
    finally:
        assert keeper.stop(SOON)
    assert work.runs == 1
    assert not keeper.status()["running"]


def test_only_one_process_at_a_time_does_it(store: Store, settings: Settings, clock: FakeClock) -> None:
    other = Election(lock_path(settings.lock_dir, ROLE, str(settings.database)))
    assert other.try_to_win()
    work, looked = Counting(), threading.Event()

    def look() -> int:
        looked.set()
        return clock.now

    keeper = MaintenanceScheduler(settings, look, pace=QUICK, steps=(MaintenanceJob("daily", DAILY, work),))
    keeper.start()
    try:
        assert looked.wait(SOON)
        assert work.runs == 0
        other.resign()
        wait_until(lambda: work.runs == 1)
    finally:
        assert keeper.stop(SOON)


def test_a_server_that_is_asked_something_goes_first(store: Store, settings: Settings, clock: FakeClock) -> None:
    asked, went_on = threading.Event(), threading.Event()

    def work(context: MaintenanceContext) -> int:
        keeper.note_request()
        asked.set()
        context.yield_to_others()
        went_on.set()
        return 1

    steps = (MaintenanceJob("daily", DAILY, work),)
    keeper = MaintenanceScheduler(settings, clock, pace=replace(QUICK, quiet=3_600.0), steps=steps)
    keeper.start()
    assert asked.wait(SOON)
    assert keeper.stop(SOON)
    assert not went_on.is_set()
    assert list_due_jobs(store, clock(), steps) == list(steps)


def test_a_server_that_stays_busy_leaves_a_round_to_others(store: Store, settings: Settings, clock: FakeClock) -> None:
    asked = threading.Event()

    def work(context: MaintenanceContext) -> int:
        keeper.note_request()
        asked.set()
        context.yield_to_others()
        return 1

    pace = replace(QUICK, idle=SOON, quiet=0.01)
    steps = (MaintenanceJob("daily", DAILY, work),)
    keeper = MaintenanceScheduler(settings, clock, pace=pace, steps=steps)
    keeper._is_quiet = lambda seconds: seconds == pace.idle and not asked.is_set()  # type: ignore[method-assign]
    keeper.start()
    try:
        assert asked.wait(SOON)
        other = Election(lock_path(settings.lock_dir, ROLE, str(settings.database)))
        wait_until(other.try_to_win)
        other.resign()
        assert list_due_jobs(store, clock(), steps) == list(steps)
    finally:
        assert keeper.stop(SOON)


def test_a_database_that_cannot_be_opened_is_told_of_and_tried_again(settings: Settings, clock: FakeClock) -> None:
    settings.database.parent.mkdir(parents=True, exist_ok=True)
    settings.database.write_text("not a database at all, and long enough to be looked at as one" * 10)
    keeper = MaintenanceScheduler(settings, clock, pace=QUICK, steps=(MaintenanceJob("daily", DAILY, Counting()),))
    keeper.start()
    try:
        wait_until(lambda: "not a healthy SQLite database" in str(keeper.status()["last_error"]))
        settings.database.unlink()
        wait_until(lambda: keeper.status()["last_changed"] == 1)
        assert keeper.status()["last_error"] is None
    finally:
        assert keeper.stop(SOON)
