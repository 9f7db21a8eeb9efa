"""Which folder a project's files were last indexed from.

All worktrees of a repository are one project, whose table of files shows one tree at a time: the one that was indexed
last. What stands in another tree only is forgotten then, and comes back with its ids and vectors when that one is
indexed again. A session in another tree is told whose files it is shown.
"""

from __future__ import annotations

from typing import Final

from hyperloci.store.paths import as_text
from hyperloci.store.stats import get_meta, set_meta
from hyperloci.store.store import Store

_NAME: Final = "indexed_from."
"""In the table of named values, before the scope's id."""


def note_tree(store: Store, scope: str, root: str) -> None:
    """Note that a project's files are those of the folder `root`; nothing is written where that is known."""
    if indexed_from(store, scope) != as_text(root):
        with store.transaction():
            set_meta(store.connection, _NAME + scope, as_text(root))


def indexed_from(store: Store, scope: str) -> str | None:
    """Return the folder whose files a project's are, None where none were indexed."""
    return get_meta(store.connection, _NAME + scope)


def other_tree(store: Store, scope: str, root: str) -> str | None:
    """Return the folder whose files a project's are, if that is another one than `root`."""
    known = indexed_from(store, scope)
    return known if known not in (None, as_text(root)) else None
