"""Tool use: one line on what a tool did, enough to find it again; of a file's contents at most a line that it changed.

The shapes are those of Claude Code's built-in tools, as its hooks and transcripts give them; any other tool gets its
name and its short arguments. What is missing or has another shape is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any, Final

from hyperloci.conversations import asked_questions
from hyperloci.conversations.edited_lines import Change, describe_edited_lines, find_changes, find_patched_changes
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.cleaning import has_private_tag, strip_private_blocks
from hyperloci.text.sanitize.sanitizer import sanitize
from hyperloci.text.sanitize.secret_files import is_secret_file

MAX_LINE_CHARS: Final = 400
"""A line says what was done; of a longer one its beginning and its end are kept."""

TAIL_CHARS: Final = 150
"""The end matters: the last line of a failing command names the error."""

MAX_RAW_CHARS: Final = 4_000
MAX_REASON_CHARS: Final = 1_000
"""What `describe_tool_use` returns at most, cut between words: it is redacted before it is clipped, since nothing
recognises half a secret."""

MAX_ERROR_CHARS: Final = 20_000
"""Of an error, what is looked at for secrets before its last line is taken."""

MAX_ARGUMENT_CHARS: Final = 160
"""Of a tool that isn't known, arguments up to this length name what it was for; longer ones are contents."""

READ_ONLY_TOOLS: Final = frozenset(
    {"Read", "Grep", "Glob", "LS", "NotebookRead", "BashOutput", "TaskOutput", "ToolSearch", "TodoWrite", "TodoRead"}
    | {"TaskList", "TaskGet", "TaskCreate", "TaskUpdate", "ListMcpResourcesTool", "ReadMcpResourceTool", "Skill"}
)
"""Tools that change and decide nothing: most calls are theirs, and what they found is found again by looking."""

EDITING_TOOLS: Final = frozenset({"Edit", "MultiEdit", "Write", "NotebookEdit", "apply_patch"})
"""Tools that change the file they name. Of any other it is not known: what it names may only have been read."""

OWN_TOOLS: Final = re.compile(r"^mcp__?(?:plugin_)?[a-z0-9_-]*hyperloci|^hyperloci_")
"""Our own tools, as Claude Code, Codex, Gemini CLI and OpenCode name them: what they stored is stored already."""

_EXIT_CODE: Final = re.compile(r"^(?:Error: )?Exit code (-?\d+)[ \t]*\n?")
_SPACE: Final = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ToolUse:
    """What was done, in one line that may still hold secrets, and the file that was changed."""

    line: str
    path: str | None = None


def describe_tool_use(
    name: str, arguments: Mapping[str, Any], response: Any = None, *, error: str | None = None, root: str | None = None
) -> ToolUse | None:
    """Return what a tool did, or None where that is not worth keeping.

    Args:
        name: the tool's name.
        arguments: what it was called with.
        response: what it answered, in its own shape.
        error: what it failed with; None where it didn't.
        root: the project's folder; paths inside it are given relative to it.
    """
    if not name or name in READ_ONLY_TOOLS or OWN_TOOLS.match(name):
        return None
    path = _relative_path(arguments, root) if name in EDITING_TOOLS else None
    if path is not None and error is not None:
        return None  # An edit that didn't match changed nothing, and is tried again at once.
    answer = response if isinstance(response, Mapping) else {"text": response}
    line = _DESCRIBERS.get(name, _describe_other)(name, arguments, answer, path)
    line = _truncate(_collapse_whitespace(line), MAX_RAW_CHARS) + _describe_outcome(answer, error)
    return ToolUse(line, path)


def clip_line(line: str) -> str:
    """Return a redacted line at the length it is stored with; what the user answered stays whole."""
    if len(line) <= MAX_LINE_CHARS or line.startswith(asked_questions.PREFIX):
        return line
    return f"{line[: MAX_LINE_CHARS - TAIL_CHARS - 3].rstrip()} … {line[-TAIL_CHARS:].lstrip()}"


def _collapse_whitespace(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _truncate(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[:limit].rpartition(" ")[0]


def _relative_path(arguments: Mapping[str, Any], root: str | None) -> str | None:
    given = arguments.get("file_path") or arguments.get("notebook_path") or _find_patched_file(arguments)
    if not isinstance(given, str) or not given:
        return None
    path = PurePath(given)
    if root and path.is_absolute() and path.is_relative_to(root):
        path = path.relative_to(root)
    return path.as_posix()


def _describe_outcome(answer: Mapping[str, Any], error: str | None) -> str:
    if answer.get("interrupted") is True:
        return " (interrupted)"
    if error is None:
        return " (in the background)" if answer.get("backgroundTaskId") else ""
    found = _EXIT_CODE.match(error)
    said = error[found.end() :] if found else error
    # All of it first: what tells that the last line is half of a key, or a password, may stand in those above.
    said = sanitize(said[-MAX_ERROR_CHARS:]).text
    reason = next((line for line in reversed(said.splitlines()) if line.strip()), "")
    reason = _truncate(_collapse_whitespace(reason), MAX_REASON_CHARS)
    verdict = f"(exit {found[1]})" if found else "(failed)"
    return f" {verdict}: {reason}" if reason else f" {verdict}"


Describer = Callable[[str, Mapping[str, Any], Mapping[str, Any], str | None], str]


def _describe_command(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    command = _read_text(arguments, "command")
    if has_private_tag(strip_private_blocks(command, is_cut=True)[0]):
        # A patch shows a part of a file: a block that only ends there began above it.
        command = f"<private>{command}"
    return f"{name}: {command}"


def _describe_edit(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    hunks = _read_patch(answer)
    if hunks is None:
        edits = arguments.get("edits")
        pieces = [piece for piece in (edits if isinstance(edits, list) else [arguments]) if isinstance(piece, Mapping)]
        texts = [(_read_text(piece, "old_string"), _read_text(piece, "new_string")) for piece in pieces]
        removed, added = (sum(map(_count_lines, side)) for side in zip(*texts, strict=True)) if texts else (0, 0)
        changes = [change for old, new in texts for change in find_changes(old.splitlines(), new.splitlines())]
    else:
        lines = [line for hunk in hunks for line in hunk]
        added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        changes = [change for hunk in hunks for change in find_patched_changes(hunk)]
    return f"{name} {path or '?'}: +{added} -{removed} lines{_describe_changes(path, changes, arguments, answer)}"


def _describe_changes(
    path: str | None, changes: Sequence[Change], arguments: Mapping[str, Any], answer: Mapping[str, Any]
) -> str:
    whole = PurePath(path or "")
    told = "" if is_secret_file(whole.name, whole.parent.name) else describe_edited_lines(changes)
    return f": {told}" if told and not _shows_private_part(arguments, answer) else ""


def _shows_private_part(arguments: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Tell whether a file has a private part, as far as its edit shows: a changed line may lie between the tags."""
    return any(map(has_private_tag, _iterate_texts([arguments, answer])))


def _iterate_texts(value: Any) -> Iterator[str]:
    """Return the texts of a value from JSON, however deep: each client shows a file in a place of its own."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            yield part
        elif isinstance(part, Mapping):
            waiting += part.values()
        elif isinstance(part, list):
            yield "\n".join(line for line in part if isinstance(line, str))  # A tag may span lines of a patch.
            waiting += (one for one in part if not isinstance(one, str))


def _read_patch(answer: Mapping[str, Any]) -> list[list[str]] | None:
    """Return the lines of each part of a structured patch; None without one."""
    hunks = answer.get("structuredPatch")
    if not isinstance(hunks, list) or not hunks:
        return None
    parts = [hunk.get("lines") for hunk in hunks if isinstance(hunk, Mapping)]
    return [[line for line in part if isinstance(line, str)] for part in parts if isinstance(part, list)]


def _describe_write(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    made = ", new file" if answer.get("type") == "create" else ""
    changes = [change for hunk in _read_patch(answer) or () for change in find_patched_changes(hunk)]
    lines = _count_lines(_read_text(arguments, "content"))
    return f"{name} {path or '?'}: {lines} lines{made}{_describe_changes(path, changes, arguments, answer)}"


_PATCHED_FILE: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)


def _find_patched_file(arguments: Mapping[str, Any]) -> str | None:
    """Return the first file that a patch in Codex's form names."""
    patch = _read_text(arguments, "command")
    found = _PATCHED_FILE.search(patch) if patch.startswith("*** Begin Patch") else None
    return found[1].strip() if found else None


def _describe_patch(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    lines = _read_text(arguments, "command").splitlines()
    added, removed = (sum(line.startswith(sign) for line in lines) for sign in "+-")
    more = len(_PATCHED_FILE.findall("\n".join(lines))) - 1
    others = f" and {more} more" if more > 0 else ""
    changes = [] if others else find_patched_changes(lines)
    return f"Edit {path or '?'}{others}: +{added} -{removed} lines{_describe_changes(path, changes, arguments, answer)}"


def _describe_notebook(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    mode = _read_text(arguments, "edit_mode") or "replace"
    return f"{name} {path or '?'}: {mode} a cell, {_count_lines(_read_text(arguments, 'new_source'))} lines"


def _describe_agent(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    kind = _read_text(arguments, "subagent_type") or "general-purpose"
    return f"{name} {kind}: {_read_text(arguments, 'description') or _read_text(arguments, 'prompt')}"


def _describe_plan(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    return f"Plan: {_read_text(arguments, 'plan')}"


def _describe_question(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    answers = answer.get("answers") or arguments.get("answers")
    if isinstance(answers, Mapping) and answers:
        return asked_questions.format_answers(answers)
    questions = arguments.get("questions")
    asked = questions if isinstance(questions, list) else []
    return asked_questions.format_questions(_read_text(item, "question") for item in asked if isinstance(item, Mapping))


def _describe_web(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    return f"{name}: {_read_text(arguments, 'url') or _read_text(arguments, 'query')}"


def _describe_other(name: str, arguments: Mapping[str, Any], answer: Mapping[str, Any], path: str | None) -> str:
    short = {
        key: value
        for key, value in arguments.items()
        if isinstance(value, (int, float)) or (isinstance(value, str) and len(value) <= MAX_ARGUMENT_CHARS)
    }
    return f"{name} {json.dumps(short, ensure_ascii=False)}" if short else name


def _read_text(arguments: Mapping[str, Any], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""


def _count_lines(text: str) -> int:
    return len(text.splitlines())


_DESCRIBERS: Final[Mapping[str, Describer]] = {
    "Bash": _describe_command,
    "PowerShell": _describe_command,
    "Edit": _describe_edit,
    "MultiEdit": _describe_edit,
    "Write": _describe_write,
    "NotebookEdit": _describe_notebook,
    "Task": _describe_agent,
    "Agent": _describe_agent,
    "ExitPlanMode": _describe_plan,
    "AskUserQuestion": _describe_question,
    "WebFetch": _describe_web,
    "WebSearch": _describe_web,
    "apply_patch": _describe_patch,
}
