"""Retry: try again what is set aside, without waiting for it to change."""

from __future__ import annotations

from hyperloci.indexing.file_writer import path_of
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store


def retry_set_aside(store: Store, scope_key: int) -> int:
    """Take back everything that is set aside in a scope, so that the next run tries it; return how many things."""
    with store.transaction():
        for subject in store.set_aside.list_subjects(scope_key, SetAsideKind.CHUNK):
            store.files.clear_stat(scope_key, path_of(subject))
        store.history.mark_missing(scope_key, store.set_aside.list_subjects(scope_key, SetAsideKind.COMMIT))
        store.relation_queue.queue_snippets(store.set_aside.get_subjects_of_nodes(scope_key, SetAsideKind.RELATIONS))
        return store.set_aside.clear_all(scope_key)
