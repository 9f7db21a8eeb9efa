"""Watching: file and Git events that start an index run."""
