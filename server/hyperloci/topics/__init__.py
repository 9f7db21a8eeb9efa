"""Topics: clusters per space, agreed on across spaces (E.09). The parts with scikit-learn run in the embedder only."""
