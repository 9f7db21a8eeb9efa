"""Team store: the shared truth in PostgreSQL, and what of it this machine has."""
