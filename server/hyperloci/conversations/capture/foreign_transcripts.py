"""Foreign transcripts: the lines that Codex (0.169) and Gemini CLI (0.61) keep of a session, as turns.

Codex writes `rollout-*.jsonl`: what goes to the model and what comes back, one item a line. Gemini CLI writes
`chats/session-*.jsonl`, a message a line, again when it has grown, and before 0.40 one JSON document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from hyperloci.clock import from_iso
from hyperloci.conversations.capture.tool_names import read_object, rename_use
from hyperloci.conversations.capture.tool_use import describe_tool_use
from hyperloci.conversations.capture.turn_text import is_written_by_user
from hyperloci.model.turn import Speaker, Turn, TurnKind

Calls = dict[str, tuple[int, Mapping[str, Any]]]
"""Calls without a result yet, with the place of their line."""

FOREIGN_ENTRY: Final = re.compile(rb'"type"\s*:\s*"(?:response_item|gemini)"')

_INSERTED: Final = re.compile(r"\s*+(?:# AGENTS\.md instructions|Background, not a task:)")
_INSERTED_TAG: Final = re.compile(r"\s*+<([a-z_]++)[> ]")
"""How the texts begin that Codex and Gemini CLI put in the user's place. A tag of one word may be the user's own, who
speaks of HTML: it counts where the text is nothing but elements."""

_CONTEXT_BEGINS, _CONTEXT_ENDS = "<hook_context>", "</hook_context>"

_FILES_BEGIN, _FILES_END = "\n--- Content from referenced files ---\n", "\n--- End of content ---"
"""Around the files that a prompt names (`@a.py`), which Gemini CLI puts behind it."""

_STATE_BEGINS: Final = re.compile(r"\s*+(?:##? (?!(?:Browser|Diff) comments:)[^\n]*:\n|<in-app-browser-context[ >])")
_REQUEST_BEGINS: Final = re.compile(r"\n## My request(?: for Codex)?:(?=\n|\Z)")
"""What Codex's extension and app put before a prompt, and the heading behind it, which newer ones write without a name:
what the editor shows, which files are attached. Comments on a page or a change are the user's words."""

_EXIT_CODE: Final = re.compile(r"(?:[Ee]xit code:?|exited with code) (\d+)")
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS: Final = ("function_call_output", "custom_tool_call_output")


def strip_hook_context(text: str) -> str:
    """Return a prompt without what hooks put before it or behind it, as Gemini CLI marks that."""
    kept = list[str]()
    while (start := text.find(_CONTEXT_BEGINS)) >= 0 and (end := text.find(_CONTEXT_ENDS, start)) >= 0:
        kept.append(text[:start].rstrip())
        text = text[end + len(_CONTEXT_ENDS) :].lstrip()
    return "".join([*kept, text])


def strip_attached(text: str) -> str:
    """Return a prompt without the files and the editor's state that its client put beside it."""
    before, begins, rest = f"\n{text}".partition(_FILES_BEGIN)
    if begins:
        text = f"{before}\n{rest.rpartition(_FILES_END)[2] if _FILES_END in rest else ''}".strip()
    # The last: a selection in the editor may hold the heading too.
    requests = list(_REQUEST_BEGINS.finditer(text)) if _STATE_BEGINS.match(text) else []
    return text[requests[-1].end() :].strip() if requests else text


def is_codex_entry(entry: Mapping[str, Any]) -> bool:
    """Tell whether a line is one of Codex's that may be a turn."""
    return entry.get("type") == "response_item" and isinstance(entry.get("payload"), dict)


def is_gemini_entry(entry: Mapping[str, Any]) -> bool:
    """Tell whether a line is a message of Gemini CLI's."""
    return isinstance(entry.get("id"), str) and entry.get("type") in ("user", "gemini") and "content" in entry


def read_codex_entry(entry: Mapping[str, Any], position: int, calls: Calls, root: str | None) -> Iterator[Turn]:
    """Yield the turns of a line of Codex's; a call waits in `calls` for its output."""
    item = entry["payload"]
    kind, call_id = item.get("type"), str(item.get("call_id") or item.get("id") or "")
    if kind == "message" and item.get("role") in ("user", "assistant"):
        yield from _make_text_turn(
            str(item.get("id") or f"{entry.get('timestamp')}:{item['role']}"),
            Speaker(item["role"]),
            _list_texts(item.get("content")),
            entry.get("timestamp"),
        )
    elif kind in _CALLS and call_id:
        calls[call_id] = position, item
    elif kind in _OUTPUTS and call_id in calls:
        _, call = calls.pop(call_id)
        output = _read_output(item.get("output"))
        failed = _EXIT_CODE.search(output[:400])
        error = None
        if failed and failed[1] != "0":
            error = f"Exit code {failed[1]}\n{output[failed.end() :]}"
        arguments = call.get("arguments", call.get("action"))
        if kind == "custom_tool_call_output":
            arguments = {"command": call.get("input")}
        name = "__".join(str(part) for part in (call.get("namespace"), call.get("name") or "local_shell") if part)
        yield from _make_action_turn("codex", call_id, name, arguments, error, root, entry.get("timestamp"))


def read_gemini_entry(entry: Mapping[str, Any], root: str | None) -> Iterator[Turn]:
    """Yield the turns of a message of Gemini CLI's."""
    speaker = Speaker.USER if entry["type"] == "user" else Speaker.ASSISTANT
    yield from _make_text_turn(entry["id"], speaker, _list_texts(entry["content"]), entry.get("timestamp"))
    calls = entry.get("toolCalls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and call.get("status") in ("success", "error") and isinstance(call.get("id"), str):
            error = str(call.get("resultDisplay") or "failed") if call["status"] == "error" else None
            when = call.get("timestamp", entry.get("timestamp"))
            yield from _make_action_turn(
                "gemini", call["id"], str(call.get("name", "")), call.get("args"), error, root, when
            )


def _is_inserted(text: str) -> bool:
    """Tell whether a text is nothing but what a client put in the user's place."""
    first = _INSERTED_TAG.match(text)
    if _INSERTED.match(text) or (first is not None and "_" in first[1]):
        return True
    at = 0
    while opened := _INSERTED_TAG.match(text, at):
        end = text.find(f"</{opened[1]}", opened.end())
        at = text.find(">", end) + 1 if end >= 0 else 0
        if at == 0:
            return False
    return at > 0 and not text[at:].strip()


def _make_text_turn(uuid: str, speaker: Speaker, texts: list[str], when: Any) -> Iterator[Turn]:
    if speaker is Speaker.USER:
        texts = [text for text in map(strip_hook_context, texts) if is_written_by_user(text) and not _is_inserted(text)]
    text = "\n".join(texts)
    if text := (strip_attached(text) if speaker is Speaker.USER else text).strip():
        yield Turn(uuid=uuid, role=speaker, text=text, timestamp_ms=read_time(when))


def _make_action_turn(
    client: str, uuid: str, name: str, arguments: Any, error: str | None, root: str | None, when: Any
) -> Iterator[Turn]:
    tool, known = rename_use(client, name, arguments)
    use = describe_tool_use(tool, known, error=error, root=root)
    if use is not None:
        yield Turn(
            uuid=uuid,
            role=Speaker.ASSISTANT,
            text=use.line,
            timestamp_ms=read_time(when),
            kind=TurnKind.ACTION,
            path=use.path,
        )


def _list_texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    found = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return [text for text in found if isinstance(text, str)]


def _read_output(output: Any) -> str:
    told = read_object(output) if isinstance(output, str) else None
    if isinstance(told, dict):
        meta = told.get("metadata")
        code = meta.get("exit_code") if isinstance(meta, dict) else None
        return f"Exit code {code}\n{told.get('output', '')}" if code is not None else str(told.get("output", ""))
    return output if isinstance(output, str) else "\n".join(_list_texts(output))


def read_time(when: Any) -> int | None:
    """Return when a line was written, in milliseconds; None where it does not tell, or not as a time."""
    try:
        return from_iso(when)
    except (TypeError, ValueError, OverflowError, AttributeError):
        return None
