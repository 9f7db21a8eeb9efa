"""Sanitizing: every text passes through here before it is stored."""
