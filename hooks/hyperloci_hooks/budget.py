"""Time budget: how long each hook may delay its session."""

from __future__ import annotations

SECONDS = {
    "SessionStart": 1.5,
    "UserPromptSubmit": 1.0,
    "PostToolUse": 0.6,
    "PostToolUseFailure": 0.6,
    "PreCompact": 2.0,
    "Stop": 2.0,
    # Claude Code gives all SessionEnd hooks together 1.5 s.
    "SessionEnd": 1.0,
}
"""By event; any other event gets an empty answer at once. About five times the median that is allowed, so that a busy
machine is slow but loses nothing."""

GRACE_SECONDS = {"SessionStart": 1.5, "UserPromptSubmit": 1.5}
"""How much longer a hook that may return context waits, for a server that has taken its event or, where none runs, for
its own process: the machine is busy then, and the context is worth the wait."""

MARGIN_SECONDS = 0.25
"""How much earlier the process that works for a hook gives its last answer than the hook stops waiting."""

UNKNOWN_SECONDS = 0.5
"""For an event that is not handled: its input is read, so that Claude Code does not write to a closed pipe."""

PATIENCE_SECONDS = 2.5
"""How much longer a hook waits until its record is stored. Even so, no event takes longer than the five seconds that
Claude Code allows; a separate process stores the record if it takes longer."""
