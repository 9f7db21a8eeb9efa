"""Vectors: fingerprints in several precisions, and nearest neighbours."""
