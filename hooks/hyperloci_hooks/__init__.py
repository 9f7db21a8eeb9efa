"""Claude Code hooks: one short process per event; a failure never stops the session."""
