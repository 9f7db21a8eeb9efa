"""How long each hook may hold its session up."""

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
"""By event; one that isn't here is answered at once, with nothing. About five times what the contract allows in the
median: a busy machine should be slow rather than forgetful."""

GRACE_SECONDS = {"SessionStart": 1.5, "UserPromptSubmit": 1.5}
"""How much longer a hook that may bring context waits for a server that has taken its event: where that takes so long,
the machine is busy, and what the session would go without is worth more than the wait."""

UNKNOWN_SECONDS = 0.5
"""For an event that isn't heard: its input is read, so that Claude Code doesn't write into a closed pipe."""

PATIENCE_SECONDS = 2.5
"""How much longer a hook waits for the word that what it was told is safe. Even so no event takes longer than the five
seconds that its host gives; what is not safe by then is left to a process of its own."""
