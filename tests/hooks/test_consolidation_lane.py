"""What a server reads of turns after their hooks were answered, whatever happens to it."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from hyperloci.clock import system_clock
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.memory import Memory
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.project.identity import identify_project
from hyperloci_hooks.consolidation_lane import ConsolidationLane
from hyperloci_hooks.open_memories import OpenMemories

SOON = 60
"""Seconds that anything here may take on a busy machine."""


def end_of(place: Path, session: str = "one") -> CaptureRecord:
    """Return the record of a session's end."""
    record = RecordFactory(identify_project(place), session, now=system_clock()).record_end("exit")
    assert record.kind is CaptureKind.ENDED
    return record


def add_in_background(lane: ConsolidationLane, settings: Settings, place: Path) -> threading.Thread:
    adding = threading.Thread(target=lane.add_turn, args=(settings, place, end_of(place)), daemon=True)
    adding.start()
    return adding


def test_who_waits_for_the_end_of_a_session_is_let_go_when_the_server_closes(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_reading, may_go_on = threading.Event(), threading.Event()

    def read_slowly(memory: Memory, record: CaptureRecord) -> None:
        is_reading.set()
        assert may_go_on.wait(SOON)

    monkeypatch.setattr(Memory, "consolidate_record", read_slowly)
    lane = ConsolidationLane()
    worker = lane.start()
    in_work = add_in_background(lane, settings, tmp_path)
    assert is_reading.wait(SOON)
    behind = add_in_background(lane, settings, tmp_path)
    lane.close()
    after = add_in_background(lane, settings, tmp_path)
    for adding in (in_work, behind, after):
        adding.join(SOON)
        assert not adding.is_alive()
    may_go_on.set()
    worker.join(SOON)
    assert not worker.is_alive()


def test_turns_are_read_on_after_a_memory_could_not_be_closed(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(Memory, "consolidate_record", lambda memory, record: read.append(record.session_id))
    close = OpenMemories.close_all

    def fail(memories: OpenMemories) -> None:
        close(memories)
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(OpenMemories, "close_all", fail)
    lane = ConsolidationLane()
    worker = lane.start()
    for session in ("one", "two"):
        lane.add_turn(settings, tmp_path, end_of(tmp_path, session))
    assert read == ["one", "two"]
    lane.close()
    worker.join(SOON)
    assert not worker.is_alive()
