"""Records: make a hook's input a record that may be stored, at once or later: cleaned, redacted, short."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hyperloci.conversations.capture.turn_text import is_written_by_user, prepare_turn_text
from hyperloci.model.record import CLAUDE_CODE, CaptureKind, CaptureRecord
from hyperloci.model.turn import TurnKind
from hyperloci.project.identity import Project
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize_name


class RecordFactory:
    """Makes the records of one session in one project, at one moment."""

    def __init__(
        self,
        project: Project,
        session_id: str,
        *,
        now: int,
        mark: str | None = None,
        client: str = CLAUDE_CODE,
        client_version: str | None = None,
        parents: tuple[str, ...] = (),
    ) -> None:
        """Begin.

        Args:
            project: where it happens.
            session_id: the assistant's id of the session.
            now: when.
            mark: tells the one event that records are made of from all others; who makes its record a second time
                makes the same.
            client: the program that the session is held in.
            client_version: its version, where it tells that.
            parents: the processes that started the hook, the nearest first.
        """
        self._client = client
        self._client_version = client_version
        self._parents = parents
        self._mark = mark
        self._project = project
        self._session_id = session_id
        self._now = now

    def record_start(self, source: str, transcript: Path | None = None) -> CaptureRecord:
        """Record that the session starts, or goes on; `source` is Claude Code's word for how."""
        return self._make_record(CaptureKind.STARTED, SanitizedText(text=source), path=transcript)

    def record_prompt(
        self, text: str, transcript: Path | None = None, *, event_id: str | None = None
    ) -> CaptureRecord | None:
        """Record what the user wrote; None where it is a notice of Claude Code's, or nothing of it may be stored.

        Args:
            text: the prompt, raw.
            transcript: the session's, which may have gained what was said before the prompt.
            event_id: Claude Code's id of the prompt; two hooks that get it make the same record.
        """
        prepared = prepare_turn_text(text) if is_written_by_user(text) else None
        if prepared is None:
            return None
        return self._make_record(CaptureKind.PROMPT, prepared, path=transcript, told=event_id)

    def record_action(
        self,
        tool_name: str,
        arguments: Mapping[str, Any],
        response: Any = None,
        *,
        error: str | None = None,
        tool_use_id: str | None = None,
    ) -> CaptureRecord | None:
        """Record what a tool did, in one line; None where that is not worth keeping."""
        from hyperloci.conversations.capture.tool_use import describe_tool_use

        use = describe_tool_use(tool_name, arguments, response, error=error, root=str(self._project.root))
        prepared = None if use is None else prepare_turn_text(use.line, TurnKind.ACTION)
        if use is None or prepared is None:
            return None
        return self._make_record(CaptureKind.ACTION, prepared, path=use.path, id=tool_use_id)

    def record_turns(
        self, transcript: Path | None, last_assistant_message: str | None = None, *, event_id: str | None = None
    ) -> CaptureRecord:
        """Record that the transcript has grown, and the last message, which it may not have yet."""
        prepared = prepare_turn_text(last_assistant_message) if last_assistant_message else None
        return self._make_record(CaptureKind.TURNS, prepared or SanitizedText(text=""), path=transcript, told=event_id)

    def record_end(self, reason: str) -> CaptureRecord:
        """Record that the session ended; `reason` is Claude Code's word for why."""
        return self._make_record(CaptureKind.ENDED, SanitizedText(text=reason))

    def _make_record(
        self,
        kind: CaptureKind,
        prepared: SanitizedText,
        *,
        path: Path | str | None = None,
        id: str | None = None,
        told: str | None = None,
    ) -> CaptureRecord:
        return CaptureRecord(
            id=id or self._make_id(kind, prepared.text, told),
            kind=kind,
            session_id=self._session_id,
            project_id=self._project.id,
            project_name=self._project.name,
            project_root=str(self._project.root),
            at=self._now,
            text=prepared.text,
            flags=prepared.flags,
            path=None if path is None else sanitize_name(str(path)),
            client=self._client,
            client_version=self._client_version,
            parents=self._parents,
        )

    def _make_id(self, kind: CaptureKind, text: str, told: str | None) -> str:
        """Return an id that is the same for the same event, where the event has one; else a new one."""
        told = told or self._mark
        if told is None:
            return os.urandom(16).hex()
        whole = "\n".join((self._session_id, kind, told, text))
        return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]
