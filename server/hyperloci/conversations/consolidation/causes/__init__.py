"""Causes: chains of symptom, cause and fix among the turns of a session, and the links that tell them (B.18)."""
