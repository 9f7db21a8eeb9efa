"""Reranking: the order of candidates of one kind by weights that were learned from questions and their answers."""
