"""Events: the hook events that are handled, and the record made of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.system.values import dataclass
from hyperloci_hooks.io import get_object, get_text

if TYPE_CHECKING:
    from hyperloci.conversations.capture.records import RecordFactory
    from hyperloci.model.record import CaptureRecord

Payload = Mapping[str, Any]
MakeRecord = Callable[["RecordFactory", Payload], "CaptureRecord | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRule:
    """How an event is handled.

    Attributes:
        make: makes its record; None if there is nothing to keep.
        journals: it has little time: if no server runs, its record goes to the spool, and the next event that drains
            stores it.
        injects: it may answer with context.
        drains: if no server runs, it stores the records waiting in the spool.
    """

    make: MakeRecord
    journals: bool = False
    injects: bool = False
    drains: bool = False


def _record_session_start(records: RecordFactory, payload: Payload) -> CaptureRecord:
    return records.record_start(get_text(payload, "source") or "startup", _transcript_path(payload))


def _record_prompt(records: RecordFactory, payload: Payload) -> CaptureRecord | None:
    return records.record_prompt(
        get_text(payload, "prompt"), _transcript_path(payload), event_id=get_text(payload, "prompt_id") or None
    )


def _record_tool_use(records: RecordFactory, payload: Payload) -> CaptureRecord | None:
    return records.record_action(
        get_text(payload, "tool_name"),
        get_object(payload, "tool_input"),
        payload.get("tool_response"),
        tool_use_id=get_text(payload, "tool_use_id") or None,
    )


def _record_tool_failure(records: RecordFactory, payload: Payload) -> CaptureRecord | None:
    return records.record_action(
        get_text(payload, "tool_name"),
        get_object(payload, "tool_input"),
        {"interrupted": payload.get("is_interrupt")},
        error=get_text(payload, "error"),
        tool_use_id=get_text(payload, "tool_use_id") or None,
    )


def _record_turns(records: RecordFactory, payload: Payload) -> CaptureRecord:
    return records.record_turns(
        _transcript_path(payload),
        get_text(payload, "last_assistant_message") or None,
        event_id=get_text(payload, "prompt_id") or None,
    )


def _record_session_end(records: RecordFactory, payload: Payload) -> CaptureRecord:
    return records.record_end(get_text(payload, "reason"))


def _transcript_path(payload: Payload) -> Path | None:
    path = get_text(payload, "transcript_path")
    return Path(path) if path else None


EVENTS: Final[Mapping[str, EventRule]] = {
    "SessionStart": EventRule(make=_record_session_start, injects=True, drains=True),
    "UserPromptSubmit": EventRule(make=_record_prompt, injects=True, drains=True),
    "PostToolUse": EventRule(make=_record_tool_use, journals=True),
    "PostToolUseFailure": EventRule(make=_record_tool_failure, journals=True),
    "PreCompact": EventRule(make=_record_turns, drains=True),
    "Stop": EventRule(make=_record_turns, drains=True),
    "SessionEnd": EventRule(make=_record_session_end, journals=True),
}
"""Any other event gets an empty answer at once; `budget` has the time limits."""
