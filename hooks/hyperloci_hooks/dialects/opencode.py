"""OpenCode: our own plugin sends our own fields, and puts the context where OpenCode takes it."""

from __future__ import annotations

from hyperloci_hooks.dialects.dialect import Dialect

DIALECT = Dialect(
    name="opencode",
    title="OpenCode",
    version="1.18.33",
    events={
        "SessionStart": "SessionStart",
        "UserPromptSubmit": "UserPromptSubmit",
        "PostToolUse": "PostToolUse",
        "PreCompact": "PreCompact",
        "Stop": "Stop",
        "SessionEnd": "SessionEnd",
    },
    sources=(
        ("opencode", ".opencode/plugins/hyperloci.js"),
        ("opencode", "~/.config/opencode/plugins/hyperloci.js"),
    ),
)
