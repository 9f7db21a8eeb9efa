"""Capture: turns from hooks and transcripts, and the context injected into a session."""
