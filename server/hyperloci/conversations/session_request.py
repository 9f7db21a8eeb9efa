"""Session request: what a session was for: the first thing that the user said about a subject."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hyperloci.model.node import Node
from hyperloci.model.turn import Speaker
from hyperloci.retrieval.relevance import sort_terms
from hyperloci.store import Store

FIRST_PROMPTS: Final = 20
"""Prompts among which the request is looked for: people greet first, and have the tests run."""

READ_CHARS: Final = 1_000
"""Of a turn: what it is about stands at its beginning."""


def find_request(store: Store, session_key: int) -> Node | None:
    """Return the prompt that tells what a session was for, None where nothing was asked; none that is suspicious."""
    prompts = store.turns.list_first(session_key, Speaker.USER, FIRST_PROMPTS)
    return find_telling(node for node in prompts if not node.metadata.get("flags"))


def find_telling(turns: Iterable[Node]) -> Node | None:
    """Return the first of some turns that has a subject; failing that, the first."""
    first = None
    for turn in turns:
        if sort_terms(turn.content[:READ_CHARS], _is_never_rare).subject:
            return turn
        first = first or turn
    return first


def _is_never_rare(term: str) -> float:
    return 0.0
