"""Ids of memories, relations, sessions and topics: found whole or by their first characters, as lists show them.

One rule for all of them: any beginning of at least four characters that no other id has. Where words may stand as well,
a beginning shorter than lists show is an id only if no word or number is written so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from hyperloci.errors import BadRequestError, NotFoundError

if TYPE_CHECKING:
    from hyperloci.model.edge import Hyperedge
    from hyperloci.model.node import Node
    from hyperloci.model.topic import Topic
    from hyperloci.store.conversations.sessions import Sessions, StoredSession
    from hyperloci.store.memories.edges import Edges
    from hyperloci.store.memories.nodes import Nodes
    from hyperloci.store.memories.topics import Topics

MIN_PREFIX: Final = 4
"""Characters of an id that stand for it where no other id begins so."""

SHORT_ID: Final = 8
"""Characters of an id that lists show: unique in practice, and every command takes them."""

_UUID_CHARS: Final = 36
_UUID_HYPHENS: Final = 4

_Identified = TypeVar("_Identified")


def shorten_id(id: str) -> str:
    """Return as much of an id as lists show: the beginning of our own, the whole of one that another program made."""
    return id[:SHORT_ID] if len(id) == _UUID_CHARS and id.count("-") == _UUID_HYPHENS else id


def find_node(nodes: Nodes, said: str, argument: str = "id", *, scopes: Sequence[str] = ()) -> Node | None:
    """Return the memory that a text names by its id or the beginning of one, forgotten or not; None for other words.

    A whole id is known only to those who were shown it; its first characters are looked up only within the given
    scopes, if any.

    Raises:
        BadRequestError: several ids begin so; the message names the argument and the ids.
    """
    if len(said) < SHORT_ID and not _is_no_word(said):
        return nodes.get_node(said)
    return _find(said, argument, nodes.get_node, functools.partial(nodes.ids_like, scopes=scopes))


def resolve_node(nodes: Nodes, said: str, argument: str = "id", *, scopes: Sequence[str] = ()) -> Node:
    """Return the memory with an id, forgotten or not, or the only one of some scopes whose id begins so.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    node = _find(said, argument, nodes.get_node, functools.partial(nodes.ids_like, scopes=scopes))
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


def resolve_session(sessions: Sessions, said: str, argument: str = "session_id", *, scope: str = "") -> StoredSession:
    """Return the session with an id, or the only one (of a project) whose id begins so.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    session = _find(said, argument, sessions.get_session, functools.partial(sessions.ids_like, scope=scope))
    if session is None:
        raise _not_found("session", said, argument, "`hyperloci sessions` lists them")
    return session


def resolve_topic(topics: Topics, said: str, argument: str = "id", *, scopes: Sequence[str] = ()) -> Topic:
    """Return the topic with an id, or the only one (of some scopes) whose id begins so.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    topic = _find(said, argument, topics.get_topic, functools.partial(topics.ids_like, scopes=scopes))
    if topic is None:
        raise _not_found("topic", said, argument, "list_topics (`hyperloci topics`) lists them")
    return topic


def _is_no_word(text: str) -> bool:
    """Tell the beginning of an id from a port or a year that somebody asks about (`8443`), and from a word (`cafe`)."""
    is_hexadecimal = set(text) <= {*"0123456789abcdef-"}
    return is_hexadecimal and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


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
