"""Claude Code hooks: one short process an event, fail-open."""
