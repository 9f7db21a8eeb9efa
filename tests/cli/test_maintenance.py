"""Looking after the memory by hand: upkeep, prune, weak, sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hyperloci.cli.common import load_settings
from hyperloci.clock import MS_PER_DAY, system_clock
from hyperloci.maintenance.scheduler import ROLE
from hyperloci.memory import Memory
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.model.turn import Speaker, Turn
from hyperloci.system.process_lock import Election, lock_path
from hyperloci_hooks.spool import save_record
from tests.cli.helpers import invoke, run


@pytest.fixture
def project(home: Path) -> Path:
    """The project that the commands work in."""
    return home.parent / "project"


def faded(project: Path, text: str, days: int = 200) -> str:
    """Remember a fact, that long ago."""
    with Memory.open(load_settings(), project, clock=lambda: system_clock() - days * MS_PER_DAY) as memory:
        return memory.remember_fact(text, confidence=0.5).id


def talk(project: Path) -> None:
    """Have a session that was left two days ago."""
    with Memory.open(load_settings(), project, clock=lambda: system_clock() - 2 * MS_PER_DAY) as memory:
        text = "Let's use PostgreSQL for the invoices because SQLite locks up."
        at = system_clock() - 2 * MS_PER_DAY
        memory.add_turns("session-1", [Turn(uuid="turn-1", role=Speaker.USER, text=text, timestamp_ms=at)])


def leave_end_in_spool(project: Path) -> None:
    """Have a session that goes on, whose end a hook left in the spool."""
    with Memory.open(load_settings(), project) as memory:
        at = system_clock()
        memory.add_turns("session-1", [Turn(uuid="turn-1", role=Speaker.USER, text="Hello there", timestamp_ms=at)])
        known = memory.project
        save_record(
            memory.settings,
            CaptureRecord(
                id="end-1",
                kind=CaptureKind.ENDED,
                session_id="session-1",
                project_id=known.id,
                project_name=known.name,
                project_root=str(known.root),
                at=at,
                text="exit",
            ),
        )


def find_status(project: Path) -> str:
    with Memory.open(load_settings(), project) as memory:
        return str(memory.store.sessions.list_recent(memory.project.id, limit=1)[0].status)


def test_upkeep_by_hand_stores_what_hooks_left_and_a_dry_run_leaves_it(project: Path) -> None:
    leave_end_in_spool(project)
    run("upkeep", "--dry-run")
    assert find_status(project) == "active"
    run("upkeep")
    assert find_status(project) != "active"


def test_the_list_of_sessions_says_that_some_of_them_waits_to_be_stored(project: Path) -> None:
    leave_end_in_spool(project)
    assert "waiting to be stored: 1 record of hooks; `hyperloci upkeep`" in " ".join(invoke("sessions").stderr.split())
    run("upkeep")
    assert invoke("sessions").stderr == ""


@pytest.mark.parametrize("command", [("remember", "Deploys need two reviews"), ("dead-end", "Caching", "too slow")])
def test_what_is_told_after_a_sessions_end_is_not_counted_to_it(project: Path, command: tuple[str, ...]) -> None:
    leave_end_in_spool(project)
    id = json.loads(run(*command, "--json"))["id"]
    with Memory.open(load_settings(), project) as memory:
        told = memory.store.nodes.get_node(id)
        assert told is not None
        assert told.session_id is None


@pytest.mark.req("B.11", "D.11")
def test_what_faded_is_listed_by_a_dry_run_and_forgotten_by_a_real_one(project: Path) -> None:
    fact = faded(project, "The old gateway has two cores")
    assert f"{fact[:8]}  [insight]  The old gateway has two cores" in run("prune", "--dry-run")
    assert "1 would be forgotten" in run("prune", "--dry-run")
    done = json.loads(run("prune", "--json"))
    assert (done["ids"], done["left"]) == ([fact], 0)
    assert "0 forgotten" in run("prune")
    assert "restored" in run("restore", fact)
    assert json.loads(run("query", "gateway cores", "--json"))["results"][0]["id"] == fact


def test_what_waits_to_be_forgotten_says_what_it_waits_for(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gateway", "mirror", "proxy"):
        faded(project, f"The old {name} has two cores")
    assert "2 wait (--limit)" in run("prune", "--limit", "1", "--dry-run")
    monkeypatch.setenv("HYPERLOCI_PRUNE_CAP", "1")
    assert "2 wait (prune_cap is 1 a day)" in run("prune", "--dry-run")
    assert "2 wait (prune_cap is 1 a day)" in run("prune", "--limit", "2", "--dry-run")


@pytest.mark.req("B.15")
def test_what_is_weak_is_listed_with_its_days(project: Path) -> None:
    fact = faded(project, "The old gateway has two cores", days=10)
    (weak,) = json.loads(run("weak", "--json"))
    assert weak["hit"]["id"] == fact
    assert 0 < weak["days_to_prune"] < 60
    assert fact[:8] in run("weak")


@pytest.mark.req("B.16", "B.17")
def test_upkeep_by_hand_ends_left_sessions_and_makes_facts_of_them(project: Path) -> None:
    talk(project)
    rehearsed = run("upkeep", "--dry-run")
    assert "dry run: nothing was changed" in rehearsed
    assert json.loads(run("sessions", "--json"))[0]["status"] == "active"
    report: Any = {step["name"]: step for step in json.loads(run("upkeep", "--json"))["steps"]}
    assert (report["abandon_sessions"]["changed"], report["consolidate"]["changed"]) == (1, 1)
    (session,) = json.loads(run("sessions", "--json"))
    assert session["status"] == "abandoned"
    assert session["consolidated_at"] is not None
    (hit,) = json.loads(run("query", "PostgreSQL invoices", "--type", "decision", "--json"))["results"]
    assert hit["content"].startswith("Let's use PostgreSQL")
    assert "consolidate" in run("upkeep", "--due")


def test_upkeep_that_another_process_is_at_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperloci.maintenance.scheduler.HAND_WAIT_SECONDS", 0.05)
    settings = load_settings()
    other = Election(lock_path(settings.lock_dir, ROLE, str(settings.database)))
    assert other.try_to_win()
    try:
        run("upkeep", code=3)
    finally:
        other.resign()
