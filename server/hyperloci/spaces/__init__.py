"""Spaces: thirteen ways to compare texts, behind one protocol."""
