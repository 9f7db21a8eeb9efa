"""Memories: nodes, hyperedges and what hangs on them."""
