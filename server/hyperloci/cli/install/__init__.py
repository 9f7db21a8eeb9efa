"""Installation: Hyperloci's entries in Claude Code's configuration."""
