"""Embedder process: it owns torch and the device."""
