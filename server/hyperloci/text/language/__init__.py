"""What the program knows of natural languages: sentences, fenced code and tables of words."""
