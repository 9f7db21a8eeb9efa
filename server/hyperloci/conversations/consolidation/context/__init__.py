"""What a statement is about: the words around it that say so, where it doesn't say it itself."""
