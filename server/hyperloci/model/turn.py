"""Turn: one thing said or done in a conversation, as a transcript records it."""

from __future__ import annotations

from enum import StrEnum

from hyperloci.system.values import dataclass


class Speaker(StrEnum):
    """Who said or did it; the values are Claude Code's."""

    USER = "user"
    ASSISTANT = "assistant"


class TurnKind(StrEnum):
    """What a turn is: words, or the use of a tool in one line."""

    TEXT = "text"
    ACTION = "action"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a conversation.

    Attributes:
        uuid: the transcript's id of the line, or of the tool use; the same in every copy of the transcript.
        role: who.
        text: what was said, or one line on what was done.
        timestamp_ms: when; None where the line doesn't say.
        kind: words or action.
        path: the file that an action changed, as the tool was given it.
    """

    uuid: str
    role: Speaker
    text: str
    timestamp_ms: int | None
    kind: TurnKind = TurnKind.TEXT
    path: str | None = None
