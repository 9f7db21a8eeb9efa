"""Dialects: how each assistant names its hook events and their fields, and what it takes for an answer.

One module per client holds its table and nothing else; a hook loads the one table that it needs.
"""
