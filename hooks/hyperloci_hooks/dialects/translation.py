"""Translation: what a client's hook was told, in our names, and our answer in the client's form.

It runs where the event is handled, not in the hook's process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, FLAT, NAMES, SILENT, Dialect, load_dialect

NEW_SOURCES: Final = ("new",)
"""Words for a session that starts afresh, beside ours."""


def recognise_client(wired: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """Return the client that runs a hook: another than it was installed for, where that one reads its configuration.

    Args:
        wired: the client whose dialect the hook's command was installed for.
        payload: what it was told.
        environ: its environment.
    """
    event = payload.get("hookEventName", payload.get("hook_event_name"))
    if wired == "copilot" and isinstance(event, str) and event[:1].isupper():
        return "vscode"
    if wired != CLAUDE_CODE:
        return wired
    tables = [table for name in NAMES if (table := load_dialect(name)) is not None]
    by_field = (table.name for table in tables if any(sign in payload for sign in table.signs))
    by_variable = (table.name for table in tables if any(environ.get(name) for name in table.variables))
    return next(by_field, "") or next(by_variable, wired)


def translate_payload(table: Dialect, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a hook was told, in our names of fields and tools."""
    told = dict(payload)
    for ours, theirs in table.fields.items():
        value = next((payload[name] for name in theirs if payload.get(name) not in (None, "")), None)
        told[ours] = _first_text(value) if ours == "cwd" else value
    told.update({key: str(told[key]) for key in ("prompt_id", "tool_use_id") if isinstance(told.get(key), int | float)})
    if told.get("source") in NEW_SOURCES:
        told["source"] = "startup"
    if isinstance(told.get("prompt"), str):
        from hyperloci.conversations.capture.foreign_transcripts import strip_attached, strip_hook_context

        told["prompt"] = strip_attached(strip_hook_context(told["prompt"]))
    name = told.get("tool_name")
    if isinstance(name, str):
        from hyperloci.conversations.capture.tool_names import read_object, rename_use

        told["tool_name"], told["tool_input"] = rename_use(table.name, name, told.get("tool_input"))
        told["tool_response"] = read_object(told.get("tool_response"))
    return told


def _first_text(value: Any) -> Any:
    return value[0] if isinstance(value, list) and value else value


def shape_answer(table: Dialect, event: str, context: str = "", notice: str = "") -> dict[str, Any]:
    """Return the answer to an event in a client's form; always one that the client takes.

    Args:
        table: the client's dialect.
        event: our name of the event.
        context: text for the assistant.
        notice: text for the user.
    """
    theirs = table.name_event(event)
    answer: dict[str, Any] = json.loads(table.empty_answers.get(theirs, "{}"))
    if notice and table.tells_user and event != "SessionEnd":
        answer["systemMessage"] = notice
    if not context or event not in table.context_events or table.form == SILENT:
        return answer
    told = f"{table.preface}{context}"
    if table.form == FLAT:
        answer["additional_context"] = told
    else:
        answer["hookSpecificOutput"] = {"hookEventName": theirs, "additionalContext": told}
    return answer
