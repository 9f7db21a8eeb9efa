"""The day that a deadline names, and the last one of what holds for a time."""
