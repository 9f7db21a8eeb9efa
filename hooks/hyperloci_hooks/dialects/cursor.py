"""Cursor: flat answers; it runs Claude Code's hooks too, where its user allows that."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, FLAT, Dialect

DIALECT = Dialect(
    name="cursor",
    title="Cursor",
    version="2.4",
    events={
        "sessionStart": "SessionStart",
        "beforeSubmitPrompt": "UserPromptSubmit",
        "postToolUse": "PostToolUse",
        "postToolUseFailure": "PostToolUseFailure",
        "preCompact": "PreCompact",
        "afterAgentResponse": "Stop",
        "sessionEnd": "SessionEnd",
    },
    fields={
        "session_id": ("conversation_id", "session_id"),
        "cwd": ("workspace_roots", "cwd"),
        "prompt_id": ("generation_id",),
        "last_assistant_message": ("text", "last_assistant_message"),
        "tool_response": ("tool_output", "tool_response"),
        "error": ("error_message", "error"),
        "client_version": ("cursor_version",),
        # Its transcripts are no interface: what was said comes with the events.
        "transcript_path": (),
    },
    form=FLAT,
    # A prompt's answer can only stop it.
    context_events=("SessionStart",),
    empty_answers={"beforeSubmitPrompt": '{"continue": true}'},
    tells_user=False,
    sources=(
        ("cursor", ".cursor/hooks.json"),
        ("cursor", "~/.cursor/hooks.json"),
        (CLAUDE_CODE, ".claude/settings.json"),
        (CLAUDE_CODE, "~/.claude/settings.json"),
    ),
    signs=("cursor_version",),
    variables=("CURSOR_VERSION",),
    # Some versions drop what the hook of a session's start answers.
    rules_file=".cursor/rules/hyperloci.mdc",
)
