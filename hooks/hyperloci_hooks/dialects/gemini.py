"""Gemini CLI: Claude Code's shape under other names of events."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import Dialect

DIALECT = Dialect(
    name="gemini",
    title="Gemini CLI",
    version="0.61.0",
    # No AfterTool: it names no call, and the transcript, read after each turn, does.
    events={
        "SessionStart": "SessionStart",
        "BeforeAgent": "UserPromptSubmit",
        "PreCompress": "PreCompact",
        "AfterAgent": "Stop",
        "SessionEnd": "SessionEnd",
    },
    fields={"last_assistant_message": ("prompt_response",)},
    sources=(("gemini", ".gemini/settings.json"), ("gemini", "~/.gemini/settings.json")),
    variables=("GEMINI_SESSION_ID",),
)
