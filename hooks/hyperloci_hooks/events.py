"""The events that are heard, and the record each makes of what Claude Code tells."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci_hooks.io import object_of, text_of

if TYPE_CHECKING:
    from hyperloci.lifecycle.records import Records
    from hyperloci.model.record import CaptureRecord

Payload = Mapping[str, Any]
MakeRecord = Callable[["Records", Payload], "CaptureRecord | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """How an event is handled.

    Attributes:
        make: makes its record; None where there is nothing to keep.
        journals: it has little time; where no server runs, its record goes to the spool, and into the database with
            the next event that drains.
        injects: it may answer with context.
        drains: where no server runs, it stores what waits in the spool.
    """

    make: MakeRecord
    journals: bool = False
    injects: bool = False
    drains: bool = False


def _started(records: Records, payload: Payload) -> CaptureRecord:
    return records.started(text_of(payload, "source") or "startup", _transcript(payload))


def _prompted(records: Records, payload: Payload) -> CaptureRecord | None:
    return records.prompt(text_of(payload, "prompt"), event_id=text_of(payload, "prompt_id") or None)


def _used(records: Records, payload: Payload) -> CaptureRecord | None:
    return records.action(
        text_of(payload, "tool_name"),
        object_of(payload, "tool_input"),
        payload.get("tool_response"),
        tool_use_id=text_of(payload, "tool_use_id") or None,
    )


def _failed(records: Records, payload: Payload) -> CaptureRecord | None:
    return records.action(
        text_of(payload, "tool_name"),
        object_of(payload, "tool_input"),
        {"interrupted": payload.get("is_interrupt")},
        error=text_of(payload, "error"),
        tool_use_id=text_of(payload, "tool_use_id") or None,
    )


def _grown(records: Records, payload: Payload) -> CaptureRecord:
    return records.turns(
        _transcript(payload),
        text_of(payload, "last_assistant_message") or None,
        event_id=text_of(payload, "prompt_id") or None,
    )


def _ended(records: Records, payload: Payload) -> CaptureRecord:
    return records.ended(text_of(payload, "reason"))


def _transcript(payload: Payload) -> Path | None:
    path = text_of(payload, "transcript_path")
    return Path(path) if path else None


EVENTS: Final[Mapping[str, Event]] = {
    "SessionStart": Event(make=_started, injects=True, drains=True),
    "UserPromptSubmit": Event(make=_prompted, injects=True, drains=True),
    "PostToolUse": Event(make=_used, journals=True),
    "PostToolUseFailure": Event(make=_failed, journals=True),
    "PreCompact": Event(make=_grown, drains=True),
    "Stop": Event(make=_grown, drains=True),
    "SessionEnd": Event(make=_ended, journals=True),
}
"""An event that isn't here is answered at once, with nothing; `budget` says how long each may take."""
