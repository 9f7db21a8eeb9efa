"""Sharing commands: memories that the people of a project have together."""
