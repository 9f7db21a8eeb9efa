"""The restricted REPL."""
