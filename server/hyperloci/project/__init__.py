"""Project: which project a folder belongs to, and its Git repository."""
