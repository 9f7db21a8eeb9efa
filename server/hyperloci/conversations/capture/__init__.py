"""Capture: what hooks and transcripts tell, and what is injected into a session."""
