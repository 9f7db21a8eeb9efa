"""Record: what a hook has to keep; the same value whether stored at once or read back from the spool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any, Final, Self

from hyperloci.errors import BadRequestError
from hyperloci.system.values import dataclass

CLAUDE_CODE: Final = "claude-code"
"""The client whose hooks made every record that names none."""

FRESH_START_SOURCES: Final = frozenset({"startup", "clear"})
"""How a session begins that is about something new: the assistant has no context at all. A resumed or compacted one is
in the middle of its work."""

RECORD_VERSION: Final = 1
"""Of the JSON form; a program reads the versions up to its own."""


class CaptureKind(StrEnum):
    """What happened in the session."""

    STARTED = "started"
    PROMPT = "prompt"
    ACTION = "action"
    TURNS = "turns"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureRecord:
    """Something that happened in a session. Its texts are clean and redacted: it may lie in a file.

    Attributes:
        id: makes storing it twice the same as storing it once.
        kind: what happened.
        session_id: the assistant's id of the session.
        project_id, project_name, project_root: where; enough to file it with no other knowledge.
        at: when, in milliseconds.
        text: the prompt, the action's line, the assistant's last message, or the word for why it started or ended.
        path: the file an action changed, or the transcript to read.
        flags: what was suspicious about the text as it came.
        client, client_version: the program the session is held in; its version may be unknown.
        parents: the processes that started the hook of a start, the nearest first (`system.parents`).
    """

    id: str
    kind: CaptureKind
    session_id: str
    project_id: str
    project_name: str
    project_root: str
    at: int
    text: str = ""
    path: str | None = None
    flags: tuple[str, ...] = ()
    client: str = CLAUDE_CODE
    client_version: str | None = None
    parents: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"version": RECORD_VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the JSON form.

        Raises:
            BadRequestError: a newer version, or not a record.
        """
        if values.get("version") != RECORD_VERSION:
            raise BadRequestError(f"version={values.get('version')!r}: this program reads version {RECORD_VERSION}.")
        path, client_version = values.get("path"), values.get("client_version")
        try:
            return cls(
                id=str(values["id"]),
                kind=CaptureKind(values["kind"]),
                session_id=str(values["session_id"]),
                project_id=str(values["project_id"]),
                project_name=str(values["project_name"]),
                project_root=str(values["project_root"]),
                at=int(values["at"]),
                text=str(values["text"]),
                path=None if path is None else str(path),
                flags=tuple(str(flag) for flag in values.get("flags", ())),
                client=str(values.get("client", CLAUDE_CODE)),
                client_version=None if client_version is None else str(client_version),
                parents=tuple(str(parent) for parent in values.get("parents", ())),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BadRequestError(f"not a record of a session: {error!r}.") from error
