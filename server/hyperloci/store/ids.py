"""Ids of memories, relations, sessions and topics: found whole or by their first characters, as lists show them.

One rule for all of them: any beginning of at least four characters that no other id has. Where words may stand as well,
a beginning shorter than lists show is an id only if no word or number is written so.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.system.values import dataclass

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
    return _find(node_ids(nodes, scopes=scopes), said, argument)


@dataclass(frozen=True, slots=True)
class IdRegister(Generic[_Identified]):
    """Where ids of one kind are looked up.

    Attributes:
        noun: what has these ids, for people.
        hint: where people find them.
        argument: what the argument that takes them is called as a rule.
        get: returns what has an id, or None.
        ids_like: returns the ids with a beginning, of the scopes that may be looked at.
    """

    noun: str
    hint: str
    argument: str
    get: Callable[[str], _Identified | None]
    ids_like: Callable[[str], Sequence[str]]


def node_ids(nodes: Nodes, *, scopes: Sequence[str] = ()) -> IdRegister[Node]:
    """Return the ids of memories, forgotten or not; beginnings only of those in some scopes, if any are given."""
    like = functools.partial(nodes.ids_like, scopes=scopes)
    return IdRegister("memory", "search_memory (`hyperloci query`) gives ids", "id", nodes.get_node, like)


def edge_ids(edges: Edges, *, scopes: Sequence[str] = ()) -> IdRegister[Hyperedge]:
    """Return the ids of relations; beginnings only of those between memories of some scopes, if any are given."""
    like = functools.partial(edges.ids_like, scopes=scopes)
    return IdRegister("relation", "`hyperloci graph` shows their ids", "id", edges.get_edge, like)


def session_ids(sessions: Sessions, *, scope: str = "") -> IdRegister[StoredSession]:
    """Return the ids of sessions; beginnings only of those of a project, if one is given."""
    like = functools.partial(sessions.ids_like, scope=scope)
    return IdRegister("session", "`hyperloci sessions` lists them", "session_id", sessions.get_session, like)


def topic_ids(topics: Topics, *, scopes: Sequence[str] = ()) -> IdRegister[Topic]:
    """Return the ids of topics; beginnings only of those of some scopes, if any are given."""
    like = functools.partial(topics.ids_like, scopes=scopes)
    return IdRegister("topic", "list_topics (`hyperloci topics`) lists them", "id", topics.get_topic, like)


def resolve_id(register: IdRegister[_Identified], said: str, argument: str | None = None) -> _Identified:
    """Return what has an id, or the only one whose id begins so; `argument` is what an error calls the id.

    Raises:
        BadRequestError: several ids begin so.
        NotFoundError: none does.
    """
    named = argument or register.argument
    found = _find(register, said, named)
    if found is None:
        short = f"give at least {MIN_PREFIX} characters of an id; " if len(said) < MIN_PREFIX else ""
        raise NotFoundError(f"{named}={said!r:.80}: no {register.noun} has this id; {short}{register.hint}.")
    return found


def _is_no_word(text: str) -> bool:
    """Tell the beginning of an id from a port or a year that somebody asks about (`8443`), and from a word (`cafe`)."""
    is_hexadecimal = set(text) <= {*"0123456789abcdef-"}
    return is_hexadecimal and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _find(register: IdRegister[_Identified], said: str, argument: str) -> _Identified | None:
    found = register.get(said)
    if found is not None or len(said) < MIN_PREFIX:
        return found
    ids = register.ids_like(said)
    if len(ids) > 1:
        raise BadRequestError(
            f"{argument}={said!r} matches several ids: {', '.join(ids)}. Give more characters of the id."
        )
    return register.get(ids[0]) if ids else None
