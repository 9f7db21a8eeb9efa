"""Natural language: one reader for each thing a sentence may hold. A language is a file of words in `data/`."""
