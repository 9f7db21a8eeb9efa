"""Unasked: which memories decide what a prompt asks for, though nobody asked the memory."""
