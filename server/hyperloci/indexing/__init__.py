"""Indexing: files and commits as memories, kept up to date."""
