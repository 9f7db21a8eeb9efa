"""How the memory keeps: the only place with SQL."""
