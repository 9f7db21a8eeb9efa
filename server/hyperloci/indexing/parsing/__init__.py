"""Parsing: a process of its own that cuts files into chunks."""
