"""Installation: Hyperloci's entries in the configuration of clients."""
