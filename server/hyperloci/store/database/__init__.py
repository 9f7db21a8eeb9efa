"""Database file: its connection, and what belongs to the file as a whole rather than to a table."""
