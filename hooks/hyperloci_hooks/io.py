"""Hook input and output: one JSON object each, whatever was sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def parse_object(data: bytes) -> dict[str, Any]:
    """Return the JSON object in `data`; an empty one for anything else (nothing, torn, an array, not JSON)."""
    try:
        value = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def get_text(payload: Mapping[str, Any], name: str) -> str:
    """Return a field that should be a text; '' if it is missing or something else.

    Half of a surrogate pair, which JSON can hold but a file can't, becomes a question mark.
    """
    value = payload.get(name)
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""


def get_object(payload: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a field that should be an object; an empty one if it is missing or something else."""
    value = payload.get(name)
    return value if isinstance(value, dict) else {}


def make_answer(event: str, context: str = "", notice: str = "") -> dict[str, Any]:
    """Return a hook's answer.

    Args:
        event: Claude Code's name of it.
        context: text for the assistant; only for events that accept it.
        notice: text for the user.
    """
    answer: dict[str, Any] = {}
    if notice:
        answer["systemMessage"] = notice
    if context:
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    return answer
