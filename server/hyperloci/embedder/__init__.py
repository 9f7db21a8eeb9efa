"""Embedder: the process that owns the models and the device, and its client."""
