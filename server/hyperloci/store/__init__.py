"""How the memory keeps: the only place with SQL."""

from hyperloci.store.store import Store, decay_factor

__all__ = ["Store", "decay_factor"]
