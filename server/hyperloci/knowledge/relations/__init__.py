"""Relations that code and documents state: imports, calls, links, mentions (D.03)."""
