"""How the memory fills: chunkers, cleaning, redaction, indexing, watchers."""
