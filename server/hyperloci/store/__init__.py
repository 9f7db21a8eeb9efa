"""Store: everything kept in the database. The only place with SQL."""

from hyperloci.store.store import Store, decay_factor

__all__ = ["Store", "decay_factor"]
