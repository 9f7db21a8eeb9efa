"""Memories by the beginning of their id, as people type it and lists show it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.model.node import Node
from hyperloci.store import Store

MIN_PREFIX: Final = 4
"""Characters of an id that stand for it where no other id begins so; fewer are a slip of the finger."""

_LIKE_AN_ID: Final = re.compile(r"[0-9a-f]{8}|[0-9a-f]{8}-[0-9a-f-]{0,27}|[a-f]*+\d[0-9a-f]*+")
"""A short word that is no id (`deadbeef` is a name too) costs one look-up."""


def by_id(store: Store, said: str, argument: str, scopes: Sequence[str] = ()) -> Node:
    """Return the memory with an id, forgotten or not, or the only one (of some scopes) whose id begins so.

    A whole id is nothing that anyone comes by who was not shown it; the beginning of one is a short word.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    exact = store.nodes.get_node(said)
    if exact is not None:
        return exact
    ids = store.nodes.ids_like(said, scopes=scopes) if len(said) >= MIN_PREFIX else []
    if len(ids) > 1:
        raise BadRequestError(f"{argument}={said!r} could be {', '.join(ids)}: give more of the id.")
    node = store.nodes.get_node(ids[0]) if ids else None
    if node is None:
        raise NotFoundError(f"{argument}={said!r:.80} is no memory.")
    return node


def may_be_id(text: str) -> bool:
    """Say whether a text looks like an id or the beginning of one."""
    return len(text) >= MIN_PREFIX and _LIKE_AN_ID.fullmatch(text) is not None
