"""What a session is told of turns that wait for the assistant: seldom, and only who asked for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.clock import MS_PER_DAY
from hyperloci.config import Settings
from hyperloci.conversations.capture.consolidation_offer import MIN_TURNS
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.conversations.capture.sessions import NewTurn, add_turn, end_session, start_session
from hyperloci.conversations.consolidation.consolidator import PENDING_LIMIT
from hyperloci.memory import Memory
from hyperloci.model.turn import Speaker
from hyperloci.store import Store
from tests.support import FakeClock


@pytest.fixture
def host(settings: Settings) -> Settings:
    return replace(settings, consolidation="host")


def talk(store: Store, clock: FakeClock, scope: str, name: str, count: int) -> None:
    """Store a session that is over."""
    with store.transaction():
        start_session(store, name, scope, now=clock.advance(1))
        for number in range(count):
            turn = NewTurn(
                role=Speaker.USER, text=f"Part {number} of {name}.", at=clock.advance(1), uuid=f"{name}{number}"
            )
            add_turn(store, name, scope, turn, now=clock())
        end_session(store, name, now=clock.advance(1))


def begin(settings: Settings, project: Path, clock: FakeClock, name: str, source: str = "startup") -> str:
    """Begin a session, as a hook does, and return what it is told last."""
    with Memory.open(settings, project, clock=clock) as memory:
        record = RecordFactory(memory.project, name, now=clock.advance(1)).record_start(source, None)
        memory.keep(record)
        return memory.get_context_for_record(record).rpartition("\n")[2]


def wait_in(settings: Settings, project: Path, clock: FakeClock, *counts: int) -> None:
    with Memory.open(settings, project, clock=clock) as memory:
        for number, count in enumerate(counts):
            talk(memory.store, clock, memory.project.id, f"old {number}", count)


@pytest.mark.req("B.17")
def test_a_session_is_told_once_a_day_how_much_waits(host: Settings, project: Path, clock: FakeClock) -> None:
    wait_in(host, project, clock, MIN_TURNS - 20, 20)
    told = begin(host, project, clock, "new 1")
    assert f"{MIN_TURNS} turns of 2 earlier sessions wait" in told and "call save_consolidation" in told
    assert "wait" not in begin(host, project, clock, "new 2")
    clock.advance(MS_PER_DAY)
    assert "call save_consolidation" in begin(host, project, clock, "new 3")


def test_a_session_is_not_told_of_a_few_turns(host: Settings, project: Path, clock: FakeClock) -> None:
    wait_in(host, project, clock, MIN_TURNS - 1)
    assert "save_consolidation" not in begin(host, project, clock, "new")


@pytest.mark.parametrize("source", ["resume", "compact", "fork"])
def test_a_session_that_goes_on_is_not_told(host: Settings, project: Path, clock: FakeClock, source: str) -> None:
    wait_in(host, project, clock, MIN_TURNS)
    assert "save_consolidation" not in begin(host, project, clock, "new", source)
    assert "save_consolidation" in begin(host, project, clock, "newer")


@pytest.mark.parametrize("strategy", ["heuristic", "llm", "claude", "off"])
def test_nobody_is_told_who_left_it_to_something_else(
    settings: Settings, project: Path, clock: FakeClock, strategy: str
) -> None:
    wait_in(settings, project, clock, MIN_TURNS)
    assert "save_consolidation" not in begin(replace(settings, consolidation=strategy), project, clock, "new")


def test_what_waits_in_another_project_is_not_told(
    host: Settings, project: Path, clock: FakeClock, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    wait_in(host, elsewhere, clock, MIN_TURNS)
    assert "save_consolidation" not in begin(host, project, clock, "new")


def test_what_waits_here_is_handed_over_however_much_waits_elsewhere(
    host: Settings, project: Path, clock: FakeClock, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    wait_in(host, elsewhere, clock, *[1] * (PENDING_LIMIT + 1))
    with Memory.open(host, project, clock=clock) as memory:
        talk(memory.store, clock, memory.project.id, "mine", 3)
        assert memory.get_consolidation_request().session_id == "mine"
        assert (memory.count_waiting_turns().turns, memory.count_waiting_turns().sessions) == (3, 1)
