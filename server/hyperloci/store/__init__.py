"""Store: everything kept in the database. The only place with SQL."""

from hyperloci.store.store import Store

__all__ = ["Store"]
