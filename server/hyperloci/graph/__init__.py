"""How memories relate: relations, traversal, contradictions."""
