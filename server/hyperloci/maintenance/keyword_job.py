"""Keyword job: indexes texts of older versions again, so that other forms of words that are not ASCII are found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hyperloci.jobs import MaintenanceContext

NEXT_KEY: Final = "keywords.next"
"""The first key that is not looked at yet; absent where all are."""

KEYWORD_BATCH: Final = 50
"""Memories of one transaction."""


def index_old_texts(context: MaintenanceContext) -> int:
    """Index the texts that older versions indexed, from where the last run stopped; return how many changed."""
    store = context.store
    waiting = store.meta.get(NEXT_KEY)
    if waiting is None:
        return 0
    done, first = 0, int(waiting)
    while keys := store.nodes.list_keys_from(first, KEYWORD_BATCH):
        with store.transaction():
            for key, node in sorted(store.nodes.get_by_keys(keys).items()):
                if not (node.title + node.content).isascii():
                    done += store.keywords.renew_text(key, title=node.title, body=node.content)
            first = keys[-1] + 1
            store.meta.set(NEXT_KEY, str(first))
        context.yield_to_others()
    with store.transaction():
        store.meta.drop(NEXT_KEY)
    return done
