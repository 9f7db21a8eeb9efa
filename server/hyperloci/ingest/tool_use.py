"""One line on what a tool did: enough to find it again, never the contents of a file.

The shapes are those of Claude Code's built-in tools, as its hooks and transcripts give them; any other tool gets its
name and its short arguments. Whatever is missing or of another shape is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

MAX_LINE_CHARS: Final = 400
"""A line says what was done; of a longer one its beginning and its end are kept."""

TAIL_CHARS: Final = 150
"""The end tells how it went: the last line that a failing command wrote names the error."""

MAX_RAW_CHARS: Final = 4_000
MAX_REASON_CHARS: Final = 1_000
"""What `describe` returns at most, cut between words: it is redacted before it is clipped, since nothing recognises
half a secret."""

MAX_ARGUMENT_CHARS: Final = 160
"""Of a tool that isn't known, arguments up to this length name what it was for; longer ones are contents."""

LOOKING: Final = frozenset(
    {"Read", "Grep", "Glob", "LS", "NotebookRead", "BashOutput", "TaskOutput", "ToolSearch", "TodoWrite", "TodoRead"}
    | {"TaskList", "TaskGet", "TaskCreate", "TaskUpdate", "ListMcpResourcesTool", "ReadMcpResourceTool", "Skill"}
)
"""Tools that change and decide nothing: most calls are theirs, and what they found is found again by looking."""

OWN_TOOLS: Final = re.compile(r"^mcp__(?:plugin_)?[a-z0-9_-]*hyperloci")
"""Our own tools: what they stored is stored already."""

_EXIT_CODE: Final = re.compile(r"^(?:Error: )?Exit code (-?\d+)[ \t]*\n?")
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What was done, in one line that may still hold secrets, and the file that was changed."""

    line: str
    path: str | None = None


def describe(
    name: str, arguments: Mapping[str, Any], response: Any = None, *, error: str | None = None, root: str | None = None
) -> ToolUse | None:
    """Return what a tool did, or None where that is not worth keeping.

    Args:
        name: the tool's name.
        arguments: what it was called with.
        response: what it answered, in its own shape.
        error: what it failed with; None where it didn't.
        root: the project's folder; paths inside it are told relative to it.
    """
    if not name or name in LOOKING or OWN_TOOLS.match(name):
        return None
    path = _path(arguments, root)
    if path is not None and error is not None:
        return None  # An edit that didn't match changed nothing, and is tried again at once.
    answer = response if isinstance(response, Mapping) else {}
    line = _DESCRIBERS.get(name, _other)(name, arguments, answer, path)
    line = _cut(_one_line(line), MAX_RAW_CHARS) + _outcome(answer, error)
    return ToolUse(line, path)


def clip(line: str) -> str:
    """Return a redacted line at the length it is stored with."""
    if len(line) <= MAX_LINE_CHARS:
        return line
    return f"{line[: MAX_LINE_CHARS - TAIL_CHARS - 3].rstrip()} … {line[-TAIL_CHARS:].lstrip()}"


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0]


def _path(arguments: Mapping[str, Any], root: str | None) -> str | None:
    given = arguments.get("file_path") or arguments.get("notebook_path")
    if not isinstance(given, str) or not given:
        return None
    path = PurePath(given)
    if root and path.is_absolute() and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()


def _outcome(answer: Mapping[str, Any], error: str | None) -> str:
    if answer.get("interrupted") is True:
        return " (interrupted)"
    if error is None:
        return " (in the background)" if answer.get("backgroundTaskId") else ""
    found = _EXIT_CODE.match(error)
    said = error[found.end() :] if found else error
    reason = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    reason = _cut(_one_line(reason), MAX_REASON_CHARS)
    verdict = f"(exit {found[1]})" if found else "(failed)"
    return f" {verdict}: {reason}" if reason else f" {verdict}"


Describer = Callable[[str, Mapping[str, Any], Mapping[str, Any], str | None], str]


def _command(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    return f"{name}: {_text(arguments, 'command')}"


def _edit(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    changed = _patch(answer)
    if changed is None:
        edits = arguments.get("edits")
        pieces = edits if isinstance(edits, list) else [arguments]
        added = sum(_lines(_text(piece, "new_string")) for piece in pieces if isinstance(piece, Mapping))
        removed = sum(_lines(_text(piece, "old_string")) for piece in pieces if isinstance(piece, Mapping))
    else:
        added, removed = changed
    return f"{name} {path or '?'}: +{added} -{removed} lines"


def _patch(answer: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return how many lines a structured patch adds and removes; None without one."""
    hunks = answer.get("structuredPatch")
    if not isinstance(hunks, list) or not hunks:
        return None
    parts = [hunk.get("lines") for hunk in hunks if isinstance(hunk, Mapping)]
    lines = [line for part in parts if isinstance(part, list) for line in part if isinstance(line, str)]
    return sum(line.startswith("+") for line in lines), sum(line.startswith("-") for line in lines)


def _write(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    made = ", new file" if answer.get("type") == "create" else ""
    return f"{name} {path or '?'}: {_lines(_text(arguments, 'content'))} lines{made}"


def _notebook(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    mode = _text(arguments, "edit_mode") or "replace"
    return f"{name} {path or '?'}: {mode} a cell, {_lines(_text(arguments, 'new_source'))} lines"


def _agent(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    kind = _text(arguments, "subagent_type") or "general-purpose"
    return f"{name} {kind}: {_text(arguments, 'description') or _text(arguments, 'prompt')}"


def _plan(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    return f"Plan: {_text(arguments, 'plan')}"


def _question(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    answers = answer.get("answers") or arguments.get("answers")
    if isinstance(answers, Mapping) and answers:
        return "Asked: " + "; ".join(f"{question} -> {reply}" for question, reply in answers.items())
    questions = arguments.get("questions")
    asked = questions if isinstance(questions, list) else []
    return "Asked: " + "; ".join(_text(item, "question") for item in asked if isinstance(item, Mapping))


def _web(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    return f"{name}: {_text(arguments, 'url') or _text(arguments, 'query')}"


def _other(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    short = {
        key: value
        for key, value in arguments.items()
        if isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= MAX_ARGUMENT_CHARS)
    }
    return f"{name} {json.dumps(short, ensure_ascii=False)}" if short else name


def _text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""


def _lines(text: str) -> int:
    return len(text.splitlines())


_DESCRIBERS: Final[Mapping[str, Describer]] = {
    "Bash": _command,
    "PowerShell": _command,
    "Edit": _edit,
    "MultiEdit": _edit,
    "Write": _write,
    "NotebookEdit": _notebook,
    "Task": _agent,
    "Agent": _agent,
    "ExitPlanMode": _plan,
    "AskUserQuestion": _question,
    "WebFetch": _web,
    "WebSearch": _web,
}
