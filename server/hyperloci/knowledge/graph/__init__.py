"""Graph walks: neighbourhood, paths, subgraphs, and anchors of facts in code (D.02)."""
