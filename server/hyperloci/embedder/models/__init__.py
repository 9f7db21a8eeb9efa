"""Models: the encoders that the embedder process runs."""
