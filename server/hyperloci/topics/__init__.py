"""Topics: clusters on which several spaces agree (E.09). Modules that use scikit-learn run only in the embedder."""
