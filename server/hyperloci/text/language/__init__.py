"""Natural language: readers of sentences, dates and names. A language is a file of words in `data/`."""
