"""Consolidation: facts made of sessions that are over (B.16, B.17)."""
