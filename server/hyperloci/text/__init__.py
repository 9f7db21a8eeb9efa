"""Text before it is stored or compared: its language."""
