"""Codex CLI: Claude Code's shape, with answers that allow no field more."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import Dialect

DIALECT = Dialect(
    name="codex",
    title="Codex CLI",
    version="0.169.0",
    events={
        "SessionStart": "SessionStart",
        "UserPromptSubmit": "UserPromptSubmit",
        "PostToolUse": "PostToolUse",
        "PreCompact": "PreCompact",
        "Stop": "Stop",
        "SessionEnd": "SessionEnd",
    },
    fields={"prompt_id": ("turn_id",)},
    # It comes to the model as a message after the prompt, which it would take for its task.
    preface="Background, not a task:\n",
    sources=(("codex", "~/.codex/hooks.json"), ("codex", ".codex/hooks.json")),
)
