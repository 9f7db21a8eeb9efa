"""Commits: the history of a Git repository as memories."""
