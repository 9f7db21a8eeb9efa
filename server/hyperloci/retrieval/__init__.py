"""Retrieval: intent, candidates, scores, fusion, explanation, context."""
