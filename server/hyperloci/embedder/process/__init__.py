"""The embedder process: it owns torch and the device."""
