"""Of what is said in a session, what may be kept. Light: hooks load it without the store."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from hyperloci.ingest.boundary import Prepared, prepare
from hyperloci.ingest.clean import PRIVATE_MARK
from hyperloci.ingest.tool_use import clip
from hyperloci.model.turn import TurnKind

MAX_EPISODE_CHARS: Final = 100_000
"""A longer text was pasted from a file or a log; its beginning tells what it was."""

_NOT_SAID: Final = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|task-notification|system-reminder|ide_[a-z_]+|user-memory-input|teammate-message)\b"
    r"|\[Request interrupted by user|Caveat: The messages below were generated)"
)
"""How the texts begin that stand in the user's place but are not the user's words."""


def is_users_own(text: str) -> bool:
    """Tell whether a text that came as a prompt is what the user wrote, not a notice that Claude Code put in."""
    return bool(text.strip()) and not _NOT_SAID.match(text)


def storable(text: str, kind: TurnKind = TurnKind.TEXT) -> Prepared | None:
    """Return a text as it may be stored, without what we injected; None where nothing is left of it."""
    if len(text) > MAX_EPISODE_CHARS:
        text = f"{text[:MAX_EPISODE_CHARS]}\n[{len(text) - MAX_EPISODE_CHARS} more characters were not stored]"
    prepared = prepare(text)
    if not prepared.text.replace(PRIVATE_MARK, "").strip():
        return None
    return replace(prepared, text=clip(prepared.text)) if kind is TurnKind.ACTION else prepared
