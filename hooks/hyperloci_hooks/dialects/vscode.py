"""VS Code: Claude Code's shape in either spelling; it runs Claude Code's hooks and those of a repository."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, Dialect

DIALECT = Dialect(
    name="vscode",
    title="VS Code",
    version="1.109",
    events={
        "SessionStart": "SessionStart",
        "UserPromptSubmit": "UserPromptSubmit",
        "PostToolUse": "PostToolUse",
        "PreCompact": "PreCompact",
        "Stop": "Stop",
    },
    fields={
        "session_id": ("sessionId", "session_id"),
        "prompt_id": ("timestamp",),
        "tool_name": ("tool_name", "toolName"),
        "tool_input": ("tool_input", "toolInput", "toolArgs"),
        "tool_response": ("tool_response", "toolResponse", "toolResult"),
        "tool_use_id": ("tool_use_id", "toolUseId", "toolCallId"),
        "last_assistant_message": ("last_assistant_message", "lastAssistantMessage"),
        "transcript_path": (),
    },
    context_events=("SessionStart",),
    tells_user=False,
    sources=(
        ("copilot", ".github/hooks/hyperloci.json"),
        (CLAUDE_CODE, ".claude/settings.json"),
        (CLAUDE_CODE, "~/.claude/settings.json"),
        ("copilot", "~/.copilot/hooks/hyperloci.json"),
    ),
    signs=("hookEventName",),
)
