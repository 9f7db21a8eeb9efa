"""Having what is set aside tried again, without waiting for it to change."""

from __future__ import annotations

from hyperloci.ingest.writing import path_of
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store


def try_again(store: Store, scope_key: int) -> int:
    """Take back everything that is set aside in a scope, so that the next run tries it; return how many things."""
    with store.transaction():
        for subject in store.set_aside.subjects(scope_key, SetAsideKind.CHUNK):
            store.files.unsettle(scope_key, path_of(subject))
        store.history.miss(scope_key, store.set_aside.subjects(scope_key, SetAsideKind.COMMIT))
        store.links.queue(store.set_aside.nodes(scope_key, SetAsideKind.RELATIONS))
        return store.set_aside.clear_all(scope_key)
