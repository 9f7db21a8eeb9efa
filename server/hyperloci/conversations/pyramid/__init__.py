"""Pyramid: a conversation kept whole, compressed step by step, expanded on demand (RFC-013)."""
