"""Copilot CLI: names in camel case, and answers that nobody reads."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import SILENT, Dialect

DIALECT = Dialect(
    name="copilot",
    title="Copilot CLI",
    version="1.0.102",
    events={
        "sessionStart": "SessionStart",
        "userPromptSubmitted": "UserPromptSubmit",
        "postToolUse": "PostToolUse",
        "postToolUseFailure": "PostToolUseFailure",
        "preCompact": "PreCompact",
        "agentStop": "Stop",
        "sessionEnd": "SessionEnd",
    },
    fields={
        "session_id": ("sessionId", "session_id"),
        "prompt_id": ("timestamp",),
        "tool_name": ("toolName", "tool_name"),
        "tool_input": ("toolArgs", "tool_input"),
        "tool_response": ("toolResult", "tool_result", "tool_response"),
        "tool_use_id": ("toolCallId", "tool_use_id"),
        "last_assistant_message": ("lastAssistantMessage", "last_assistant_message"),
        "transcript_path": (),
    },
    form=SILENT,
    context_events=(),
    tells_user=False,
    sources=(("copilot", ".github/hooks/hyperloci.json"), ("copilot", "~/.copilot/hooks/hyperloci.json")),
)
