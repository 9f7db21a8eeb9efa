"""Ids of memories and relations: found whole or by their first characters, as lists show them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.model.edge import Hyperedge
from hyperloci.model.node import Node
from hyperloci.store.memories.edges import Edges
from hyperloci.store.memories.nodes import Nodes

MIN_PREFIX: Final = 8
"""Characters of an id that stand for it where no other id begins so: as many as lists show. With fewer, the port or the
year that somebody asks about (`8443`) would name a memory."""

_Identified = TypeVar("_Identified", Node, Hyperedge)


def find_node(nodes: Nodes, said: str, argument: str = "id", *, scopes: Sequence[str] = ()) -> Node | None:
    """Return the memory with an id, forgotten or not, or the only one whose id begins so; None if there is none.

    A whole id is known only to those who were shown it. The first characters of one may be a word, so they are
    looked up only within the given scopes, if any.

    Raises:
        BadRequestError: several ids begin so; the message names the argument and the ids.
    """
    return _find(said, argument, nodes.get_node, functools.partial(nodes.ids_like, scopes=scopes))


def resolve_node(nodes: Nodes, said: str, argument: str = "id", *, scopes: Sequence[str] = ()) -> Node:
    """Return the memory that `find_node` finds.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    node = find_node(nodes, said, argument, scopes=scopes)
    if node is None:
        raise _not_found("memory", said, argument, "search_memory (`hyperloci query`) gives ids")
    return node


def resolve_edge(edges: Edges, said: str, argument: str = "id", *, scopes: Sequence[str] = ()) -> Hyperedge:
    """Return the relation with an id, or the only one (of memories of some scopes) whose id begins so.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    edge = _find(said, argument, edges.get_edge, functools.partial(edges.ids_like, scopes=scopes))
    if edge is None:
        raise _not_found("relation", said, argument, "`hyperloci graph` shows their ids")
    return edge


def _find(
    said: str,
    argument: str,
    get: Callable[[str], _Identified | None],
    ids_like: Callable[[str], Sequence[str]],
) -> _Identified | None:
    found = get(said)
    if found is not None or len(said) < MIN_PREFIX:
        return found
    ids = ids_like(said)
    if len(ids) > 1:
        raise BadRequestError(
            f"{argument}={said!r} matches several ids: {', '.join(ids)}. Give more characters of the id."
        )
    return get(ids[0]) if ids else None


def _not_found(noun: str, said: str, argument: str, hint: str) -> NotFoundError:
    short = f"give at least {MIN_PREFIX} characters of an id; " if len(said) < MIN_PREFIX else ""
    return NotFoundError(f"{argument}={said!r:.80}: no {noun} has this id; {short}{hint}.")
