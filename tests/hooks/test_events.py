"""The record that each event makes of what Claude Code tells, whatever it tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.model.record import CaptureKind, CaptureRecord
from hyperloci.project.identity import IdentityBasis, Project
from hyperloci_hooks.budget import GRACE_SECONDS, SECONDS
from hyperloci_hooks.events import EVENTS
from tests.support import NOW, examples

ROOT = Path("/srv/harbour")
PROJECT = Project(id="p", name="harbour", root=ROOT, basis=IdentityBasis.PATH, place_id="", place=ROOT)


def record_of(event: str, **payload: Any) -> CaptureRecord | None:
    return EVENTS[event].make(RecordFactory(PROJECT, "s1", now=NOW), payload)


@pytest.mark.parametrize(
    ("event", "payload", "kind", "text", "path"),
    [
        (
            "SessionStart",
            {"source": "resume", "transcript_path": "/t.jsonl"},
            CaptureKind.STARTED,
            "resume",
            "/t.jsonl",
        ),
        ("SessionStart", {}, CaptureKind.STARTED, "startup", None),
        ("UserPromptSubmit", {"prompt": "Paint the crane."}, CaptureKind.PROMPT, "Paint the crane.", None),
        (
            "PostToolUse",
            {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_response": {"stdout": "ok"}},
            CaptureKind.ACTION,
            "Bash: make",
            None,
        ),
        (
            "PostToolUseFailure",
            {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 2\nno rule"},
            CaptureKind.ACTION,
            "Bash: make (exit 2): no rule",
            None,
        ),
        ("PreCompact", {"transcript_path": "/t.jsonl"}, CaptureKind.TURNS, "", "/t.jsonl"),
        ("Stop", {"last_assistant_message": "It is painted."}, CaptureKind.TURNS, "It is painted.", None),
        ("SessionEnd", {"reason": "logout"}, CaptureKind.ENDED, "logout", None),
    ],
)
def test_an_event_becomes_its_record(
    event: str, payload: dict[str, Any], kind: CaptureKind, text: str, path: str | None
) -> None:
    found = record_of(event, **payload)
    assert found is not None
    assert (found.kind, found.text, found.path) == (kind, text, path)
    assert (found.session_id, found.project_id, found.project_root, found.at) == ("s1", "p", str(ROOT), NOW)


@pytest.mark.parametrize(
    ("event", "payload"),
    [
        ("UserPromptSubmit", {}),
        ("UserPromptSubmit", {"prompt": "<private>all of it</private>"}),
        ("UserPromptSubmit", {"prompt": "<task-notification>\n<task-id>a1</task-id>"}),
        ("PostToolUse", {"tool_name": "Read", "tool_input": {"file_path": "/srv/harbour/a.py"}}),
        ("PostToolUse", {}),
    ],
)
def test_what_is_not_worth_keeping_makes_no_record(event: str, payload: dict[str, Any]) -> None:
    assert record_of(event, **payload) is None


@pytest.mark.parametrize(
    ("event", "payload", "name"),
    [
        ("UserPromptSubmit", {"prompt": "Paint the crane."}, "prompt_id"),
        ("Stop", {"last_assistant_message": "It is painted."}, "prompt_id"),
        ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "make"}}, "tool_use_id"),
        ("PostToolUseFailure", {"tool_name": "Bash", "tool_input": {"command": "make"}, "error": "no"}, "tool_use_id"),
    ],
)
def test_an_event_with_an_id_makes_the_same_record_twice_and_one_without_another(
    event: str, payload: dict[str, Any], name: str
) -> None:
    assert record_of(event, **payload, **{name: "e1"}) == record_of(event, **payload, **{name: "e1"})
    assert record_of(event, **payload, **{name: "e1"}) != record_of(event, **payload, **{name: "e2"})
    assert record_of(event, **payload) != record_of(event, **payload)


_FIELDS = [
    "source",
    "prompt",
    "prompt_id",
    "tool_name",
    "tool_input",
    "tool_response",
    "tool_use_id",
    "error",
    "is_interrupt",
    "transcript_path",
    "last_assistant_message",
    "reason",
]
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(100))
@given(event=st.sampled_from(sorted(EVENTS)), payload=st.dictionaries(st.sampled_from(_FIELDS), _JSON))
def test_fields_of_any_other_kind_break_no_event(event: str, payload: dict[str, Any]) -> None:
    found = record_of(event, **payload)
    assert found is None or CaptureRecord.from_dict(found.to_dict()) == found


def test_every_event_that_is_heard_has_its_time_and_no_other_has() -> None:
    assert set(SECONDS) == set(EVENTS)
    assert set(GRACE_SECONDS) == {name for name, event in EVENTS.items() if event.injects}


def test_an_event_leaves_its_record_or_stores_what_waits() -> None:
    assert [name for name, event in EVENTS.items() if event.journals is event.drains] == []
