"""Gemini CLI: Claude Code's shape under other names of events."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import Dialect

DIALECT = Dialect(
    name="gemini",
    title="Gemini CLI",
    version="0.61.0",
    events={
        "SessionStart": "SessionStart",
        "BeforeAgent": "UserPromptSubmit",
        "AfterTool": "PostToolUse",
        "PreCompress": "PreCompact",
        "AfterAgent": "Stop",
        "SessionEnd": "SessionEnd",
    },
    fields={"last_assistant_message": ("prompt_response",)},
    tools={
        "run_shell_command": "Bash",
        "write_file": "Write",
        "replace": "Edit",
        "web_fetch": "WebFetch",
        "google_web_search": "WebSearch",
        "ask_user": "AskUserQuestion",
        **dict.fromkeys(
            (
                "read_file",
                "read_many_files",
                "list_directory",
                "glob",
                "grep_search",
                "search_file_content",
                "save_memory",
                "write_todos",
                "activate_skill",
                "get_internal_docs",
            ),
            "",
        ),
    },
    sources=(("gemini", ".gemini/settings.json"), ("gemini", "~/.gemini/settings.json")),
    variables=("GEMINI_SESSION_ID",),
)
