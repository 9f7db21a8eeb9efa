"""How the memory sees: the embedding spaces behind one protocol."""
