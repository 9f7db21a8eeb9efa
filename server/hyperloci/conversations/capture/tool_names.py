"""Tool names: what other assistants call tools that are Claude Code's under another name, and their arguments."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

_READING: Final = ("read_file", "list_dir", "file_search", "grep_search", "semantic_search", "get_errors", "view")

TOOLS: Final[Mapping[str, Mapping[str, str]]] = {
    "codex": {
        "exec_command": "Bash",
        "shell": "Bash",
        "shell_command": "Bash",
        "local_shell": "Bash",
        **dict.fromkeys(("update_plan", "view_image", "write_stdin", "list_mcp_resources", "read_mcp_resource"), ""),
    },
    "gemini": {
        "run_shell_command": "Bash",
        "write_file": "Write",
        "replace": "Edit",
        "web_fetch": "WebFetch",
        "google_web_search": "WebSearch",
        "ask_user": "AskUserQuestion",
        **dict.fromkeys(("read_many_files", "list_directory", "glob", "search_file_content", "save_memory"), ""),
        **dict.fromkeys(("write_todos", "activate_skill", "get_internal_docs", "update_topic", *_READING), ""),
    },
    "opencode": {
        "bash": "Bash",
        "edit": "Edit",
        "write": "Write",
        "patch": "apply_patch",
        "task": "Task",
        "webfetch": "WebFetch",
        "websearch": "WebSearch",
        **dict.fromkeys(("read", "grep", "glob", "list", "todowrite", "todoread", "skill", "lsp", "invalid"), ""),
    },
    "cursor": {
        "Shell": "Bash",
        **dict.fromkeys(("Read", "Grep", "Glob", "List", "SemanticSearch", "ReadLints", "TodoWrite"), ""),
    },
    "copilot": {
        "bash": "Bash",
        "powershell": "PowerShell",
        "create": "Write",
        "edit": "Edit",
        **dict.fromkeys(("grep", "glob", "report_intent", "update_todo", "read_bash", "stop_bash", *_READING), ""),
    },
    "vscode": {
        "run_in_terminal": "Bash",
        "runTerminalCommand": "Bash",
        "create_file": "Write",
        "createFile": "Write",
        "replace_string_in_file": "Edit",
        "insert_edit_into_file": "Edit",
        "editFiles": "Edit",
        **dict.fromkeys(_READING, ""),
    },
}
"""By client: its names of tools with ours; '' for one that changes nothing. Any other keeps its name."""

ARGUMENTS: Final = {
    "filePath": "file_path",
    "absolute_path": "file_path",
    "path": "file_path",
    "oldString": "old_string",
    "old_str": "old_string",
    "newString": "new_string",
    "new_str": "new_string",
    "file_text": "content",
    "contents": "content",
    "cmd": "command",
    "patchText": "command",
    "input": "command",
}
"""Names that clients have for the arguments of edits and commands, with ours."""


def rename_use(client: str, name: str, arguments: Any) -> tuple[str, dict[str, Any]]:
    """Return a tool and its arguments under our names.

    Args:
        client: the assistant.
        name: its name of the tool.
        arguments: an object, or one as JSON; anything else is none.
    """
    given = read_object(arguments)
    known: dict[str, Any] = {}
    if isinstance(given, Mapping):
        known = {ARGUMENTS.get(str(key), str(key)): value for key, value in given.items()}
    command = known.get("command")
    if isinstance(command, list):
        # `bash -lc LINE` is how a shell is called, not what was done.
        wrapped = len(command) == 3 and str(command[1]).startswith("-") and str(command[1]).endswith("c")
        known["command"] = str(command[2]) if wrapped else " ".join(str(part) for part in command)
    return TOOLS.get(client, {}).get(name, name), known


def read_object(value: Any) -> Any:
    """Return an object that was sent as JSON in a string; anything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value
