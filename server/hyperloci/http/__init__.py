"""HTTP: the same tools for clients without a local process, for who has a token."""
