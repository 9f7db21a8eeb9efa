"""Text as people write it: what a passage says, in which language, and how it divides."""
