"""Sharing commands: memories that several people, or several machines, have together."""
