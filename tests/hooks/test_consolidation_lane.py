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
from hyperloci_hooks import consolidation_lane
from hyperloci_hooks.consolidation_lane import ConsolidationLane
from hyperloci_hooks.open_memories import OpenMemories

SOON = 60
"""Seconds that anything here may take on a busy machine."""


def end_of(place: Path, session: str = "one") -> CaptureRecord:
    """Return the record of a session's end."""
    record = RecordFactory(identify_project(place), session, now=system_clock()).record_end("exit")
    assert record.kind is CaptureKind.ENDED
    return record


def test_what_waits_when_a_server_closes_is_read(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(Memory, "consolidate_record", lambda memory, record: read.append(record.session_id))
    monkeypatch.setattr(consolidation_lane, "CLOSE_SECONDS", SOON)
    lane = ConsolidationLane()
    lane.start()
    for session in ("one", "two"):
        lane.add_turn(settings, tmp_path, end_of(tmp_path, session))
    lane.close()
    assert read == ["one", "two"]


def test_a_closing_server_does_not_wait_for_what_takes_long(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_reading, may_go_on, read = threading.Event(), threading.Event(), list[str]()

    def read_slowly(memory: Memory, record: CaptureRecord) -> None:
        is_reading.set()
        assert may_go_on.wait(SOON)
        read.append(record.session_id)

    monkeypatch.setattr(Memory, "consolidate_record", read_slowly)
    monkeypatch.setattr(consolidation_lane, "CLOSE_SECONDS", 0.01)
    lane = ConsolidationLane()
    lane.start()
    lane.add_turn(settings, tmp_path, end_of(tmp_path, "one"))
    assert is_reading.wait(SOON)
    lane.add_turn(settings, tmp_path, end_of(tmp_path, "two"))
    lane.close()
    may_go_on.set()
    monkeypatch.setattr(consolidation_lane, "CLOSE_SECONDS", SOON)
    lane.close()
    assert read == ["one"]


def test_turns_are_read_on_after_a_memory_could_not_be_closed(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    has_failed = threading.Event()
    monkeypatch.setattr(Memory, "consolidate_record", lambda memory, record: read.append(record.session_id))
    close = OpenMemories.close_all

    def fail(memories: OpenMemories) -> None:
        close(memories)
        has_failed.set()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(OpenMemories, "close_all", fail)
    monkeypatch.setattr(consolidation_lane, "CLOSE_SECONDS", SOON)
    lane = ConsolidationLane()
    lane.start()
    lane.add_turn(settings, tmp_path, end_of(tmp_path, "one"))
    assert has_failed.wait(SOON)
    lane.add_turn(settings, tmp_path, end_of(tmp_path, "two"))
    lane.close()
    assert read == ["one", "two"]
