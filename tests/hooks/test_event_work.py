"""What an event is answered, whatever becomes of the work for it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.errors import StoreBusyError
from hyperloci.memory import Memory
from hyperloci.model.record import CaptureRecord
from hyperloci_hooks.event_work import EventWork


@contextmanager
def lend(settings: Settings, place: Path, project_id: str) -> Iterator[Memory]:
    with Memory.open(settings, place) as memory:
        yield memory


def refuse(memory: Memory, record: CaptureRecord) -> None:
    raise StoreBusyError("somebody else writes")


def test_a_session_gets_its_context_even_if_turns_cannot_be_consolidated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    environ = {"HOME": str(tmp_path), "RLM_MEMORY_DB": str(tmp_path / "memory.db"), "HYPERLOCI_EMBEDDER": "false"}
    with Memory.open(Settings.from_env(environ, project), project) as memory:
        memory.remember_fact("We deploy on Tuesdays", category="decision")
    monkeypatch.setattr(Memory, "consolidate_record", refuse)

    work = EventWork("SessionStart", environ, cwd=str(project), lend=lend)
    answer = work.answer_event(json.dumps({"session_id": "s", "source": "startup"}).encode())

    assert "We deploy on Tuesdays" in answer["hookSpecificOutput"]["additionalContext"]
    assert not work.spooled and not work.is_lost
