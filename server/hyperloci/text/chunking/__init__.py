"""Chunking: Markdown, code and prose cut by structure (D.04 to D.06)."""
