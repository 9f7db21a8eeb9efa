"""Sharing: memories that the people of a project have together, as files that Git carries."""
