"""Team: memories that their authors share, kept alike on all members' machines through one PostgreSQL database."""
