"""A conversation as a pyramid of chunks: kept whole, compressed step by step, expanded on demand (RFC-013)."""
