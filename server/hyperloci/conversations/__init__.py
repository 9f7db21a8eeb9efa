"""Conversations: capture, consolidation into facts, and the pyramid of chunks."""
