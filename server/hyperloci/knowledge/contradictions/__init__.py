"""Contradictions: which statements exclude each other, by rules (D.10)."""
