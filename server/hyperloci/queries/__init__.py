"""Queries: what callers ask of a memory, one module per question."""
