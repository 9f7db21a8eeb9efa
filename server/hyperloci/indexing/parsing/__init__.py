"""Parsing: cuts files into chunks in a separate process."""
