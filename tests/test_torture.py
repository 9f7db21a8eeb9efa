"""A minute of what `python -m bench torture` does for an hour: kills at random moments, and many writers at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench._torture_check import ExpectedState
from bench.torture import all_at_once, under_fire

pytest.importorskip("resource", reason="SIGKILL and a fork server are POSIX's")


@pytest.mark.timeout(300)
@pytest.mark.req("SPEC-02.04")
def test_whatever_is_killed_at_whatever_moment_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    outcome = under_fire(tmp_path / "house", 8)
    assert sum(outcome.kills.values()) == 8
    assert outcome.verdict.acknowledged > 0
    assert outcome.verdict.found == outcome.verdict.acknowledged
    assert outcome.is_sound, outcome.verdict


@pytest.mark.timeout(300)
@pytest.mark.req("SPEC-02.04")
def test_many_who_write_at_once_are_never_told_of_a_lock(tmp_path: Path) -> None:
    outcome = all_at_once(tmp_path / "house", 4, 3.0)
    assert outcome.verdict.acknowledged > 0
    assert outcome.verdict.found == outcome.verdict.acknowledged
    assert outcome.verdict.errors == {}
    assert outcome.is_sound, outcome.verdict


def test_a_loss_would_be_seen(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    journal.write_text(
        '{"n": 1, "intent": "remember", "text": "a"}\n{"n": 1, "done": "remember", "id": "x", "text": "a", "ms": 2}\n'
        '{"n": 2, "intent": "forget", "id": "x"}\n{"n": 2, "error": "StoreBusyError", "message": "locked"}\n'
        '{"n": 3, "done": "turns", "texts": ["b"], "new": 1}\n{"n": 4, "done": "forget", "id": "y"}\n'
    )
    expected = ExpectedState()
    expected.read_journal(journal)
    assert (expected.acknowledged, expected.errors["StoreBusyError"]) == (3, 1)
    assert expected.texts == {"x": {"a"}}
    assert expected.living == {"x": None, "y": False}
    assert expected.once == {"b"}
