"""Turn text: which part of a message may be stored. Cheap to load: hooks load it without the store."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from hyperloci.conversations.capture.tool_use import clip_line
from hyperloci.model.turn import TurnKind
from hyperloci.text.sanitize.cleaning import PRIVATE_MARK
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize

MAX_EPISODE_CHARS: Final = 100_000
"""A longer text was pasted from a file or a log; its beginning is enough."""

OVERLAP_CHARS: Final = 10_000
"""Looked at beyond the cut, so that a secret that lies across it is seen whole, and goes."""

MARK_CHARS: Final = 100
"""Room for the sentence that says what was cut off."""

_NOTICE_PREFIXES: Final = re.compile(
    r"\s*(?:<(?:command-(?:name|message|args)|local-command-(?:stdout|stderr|caveat)|bash-(?:input|stdout|stderr)"
    r"|task-notification|system-reminder|ide_[a-z_]+|user-memory-input|teammate-message)\b"
    r"|\[Request interrupted by user|Caveat: The messages below were generated)"
)
"""How the texts begin that stand in the user's place but are not the user's words."""


def is_written_by_user(text: str) -> bool:
    """Tell whether a text that came as a prompt is what the user wrote, not a notice that Claude Code put in."""
    return bool(text.strip()) and not _NOTICE_PREFIXES.match(text)


def prepare_turn_text(text: str, kind: TurnKind = TurnKind.TEXT) -> SanitizedText | None:
    """Return a text as it may be stored, without what we injected; None where nothing is left of it.

    What is storable is returned as it is: a hook's record and the transcript must come to the same text.
    """
    prepared = sanitize(text[: MAX_EPISODE_CHARS + OVERLAP_CHARS])
    if not prepared.text.replace(PRIVATE_MARK, "").strip():
        return None
    if kind is TurnKind.ACTION:
        # A placeholder may be longer than its secret: cut here too, or a second look would cut elsewhere.
        return replace(prepared, text=clip_line(prepared.text[:MAX_EPISODE_CHARS]))
    if len(prepared.text) > MAX_EPISODE_CHARS + MARK_CHARS:
        kept = prepared.text[:MAX_EPISODE_CHARS]
        return replace(prepared, text=f"{kept}\n[the rest of {len(text)} characters was not stored]")
    return prepared
