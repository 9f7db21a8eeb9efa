"""Secrets: formats, contexts and checks by which a text is redacted."""
