"""Replacement: whether a new statement takes an older one's place, and what is read of both to tell it."""
