"""Maintenance exchanges with the team by itself, and waits longer each time that it does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.jobs import MaintenanceContext
from hyperloci.maintenance.job_list import JOBS
from hyperloci.memory import Memory
from hyperloci.store.team.shared_truth import SharedTruth
from hyperloci.store.team.shared_values import SyncReport
from hyperloci.team.enrolment import leave_team
from hyperloci.team.membership import Membership, find_membership_file, has_joined, load_membership, save_membership
from hyperloci.team.sync import TeamSync
from hyperloci.team.sync_job import LONGEST_WAIT_MS, SyncState, load_state, sync_with_team
from tests.team.machines import Machine, Team

NOWHERE = "postgresql:///nowhere?host=/nonexistent-folder"


@pytest.fixture
def machine(database_url: str, tmp_path: Path) -> Iterator[Machine]:
    made = Machine.make(tmp_path / "ada", Team.make(database_url))
    yield made
    made.memory.close()


def run_job(machine: Machine, membership: Membership | None = None, *, dry_run: bool = False) -> int:
    save_membership(machine.memory.settings, membership or machine.membership)
    context = MaintenanceContext(
        store=machine.memory.store, settings=machine.memory.settings, clock=machine.clock, dry_run=dry_run
    )
    return sync_with_team(context)


def test_the_job_is_one_of_maintenances_and_comes_before_what_others_may_have_restored_is_deleted() -> None:
    names = [job.name for job in JOBS]
    assert names.index("team") < names.index("expire")


def test_a_machine_without_a_team_has_nothing_to_do(machine: Machine) -> None:
    context = MaintenanceContext(store=machine.memory.store, settings=machine.memory.settings, clock=machine.clock)
    assert not has_joined(machine.memory.settings)
    assert sync_with_team(context) == 0


def test_what_was_shared_is_told(machine: Machine) -> None:
    machine.share("Deploys go out on Tuesdays")
    assert run_job(machine) == 1
    assert machine.memory.store.team.count_waiting() == 0
    assert load_state(machine.memory.store).last_success == machine.clock()


def test_who_leaves_during_an_exchange_has_left(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = TeamSync._exchange

    def leave_meanwhile(sync: TeamSync, truth: SharedTruth) -> SyncReport:
        with Memory.open(machine.memory.settings, machine.memory.project.root, clock=machine.clock) as other:
            leave_team(other.store, other.settings, None)
        return exchange(sync, truth)

    monkeypatch.setattr(TeamSync, "_exchange", leave_meanwhile)
    assert machine.membership.role is None  # As one of an older version, whose role the exchange tells.
    run_job(machine)
    assert not has_joined(machine.memory.settings)


def test_a_rehearsal_asks_nobody(machine: Machine) -> None:
    machine.share("Deploys go out on Tuesdays")
    assert run_job(machine, dry_run=True) == 0
    assert machine.memory.store.team.count_waiting() == 1


def test_a_database_that_does_not_answer_is_asked_later_and_what_waits_is_kept(machine: Machine) -> None:
    machine.share("Deploys go out on Tuesdays")
    away = replace(machine.membership, url=NOWHERE)
    assert run_job(machine, away) == 0
    assert load_state(machine.memory.store).failures == 1
    machine.clock.advance(1_000)
    assert run_job(machine) == 0
    machine.clock.advance(60_000)
    assert run_job(machine) == 1
    assert load_state(machine.memory.store).failures == 0


def test_a_clock_that_was_set_back_puts_nothing_off(machine: Machine) -> None:
    machine.share("Deploys go out on Tuesdays")
    run_job(machine, replace(machine.membership, url=NOWHERE))
    machine.clock.advance(-10_000_000)
    assert run_job(machine) == 1


def test_the_wait_doubles_up_to_half_an_hour(machine: Machine) -> None:
    client = machine.membership.client
    waits = [SyncState(last_try=0, failures=count).next_try(client) for count in range(20)]
    assert waits[0] == 0
    assert waits == sorted(waits)
    assert waits[2] == pytest.approx(2 * waits[1], abs=1)
    assert LONGEST_WAIT_MS / 2 <= waits[-1] <= LONGEST_WAIT_MS


def test_the_token_lies_in_a_file_of_the_users_own_and_not_in_the_database(machine: Machine) -> None:
    machine.share("Deploys go out on Tuesdays")
    run_job(machine)
    path = find_membership_file(machine.memory.settings)
    assert path.stat().st_mode & 0o077 == 0
    assert load_membership(machine.memory.settings) == replace(machine.membership, role="admin")
    machine.memory.store.checkpoint_log()
    assert machine.membership.token.encode() not in machine.memory.store.path.read_bytes()
