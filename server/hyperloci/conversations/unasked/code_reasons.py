"""Code reasons: what hangs on the code that a prompt names: commits that changed it and say why, memories tied to it.

None of it needs to share a word with the prompt beside the name.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from typing import Final

from hyperloci.conversations.unasked.prompt_terms import PhraseIndex, analyse_terms, read_table
from hyperloci.knowledge.graph.anchors import find_named_places
from hyperloci.knowledge.names.written_names import find_paths
from hyperloci.model.kinds import NodeKey
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.memories.traversal import INWARD
from hyperloci.system.values import dataclass
from hyperloci.text.commit_text import message_of

MAX_PLACES: Final = 6
"""Symbols and files of one prompt that are followed: one that names more is a list."""

MAX_FILES_OF_NAME: Final = 2
"""Files that a name may mean: `utils.py` in ten folders means none of them."""

SURE_CHANGE: Final = 0.6
"""Confidence of a change from which on it is worth telling unasked: below are those of one of several namesakes."""

LAST_LINE: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class CodeReasons:
    """What hangs on named code.

    Attributes:
        commits: those that changed it and tell a reason, the most telling first.
        anchored: keys of memories that are tied to it.
    """

    commits: tuple[Node, ...] = ()
    anchored: frozenset[NodeKey] = frozenset()


def find_code_reasons(store: Store, scope_key: int, scope: str, prompt: str, terms: Collection[str]) -> CodeReasons:
    """Follow the names of code in a prompt.

    Args:
        store: the open store.
        scope_key, scope: the project, by its key and its id.
        prompt: what was asked.
        terms: its content words: of several commits, one that shares them comes first.
    """
    places = list(_find_places(store, scope_key, prompt))[:MAX_PLACES]
    anchored = {key for path, symbol in places for key in store.positions.list_anchored(scope_key, path, symbol)}
    snippets = {key for path, symbol in places for key in _list_snippets(store, scope_key, path, symbol)}
    steps = store.traversal.find_steps(sorted(snippets), label="changed", direction=INWARD, scopes=(scope,))
    sure = {step.target for step in steps if step.confidence >= SURE_CHANGE}
    commits = store.nodes.get_by_keys(sure - store.withheld.select_withheld(sure)).values()
    telling = [commit for commit in commits if _may_be_told(commit) and tells_reason(commit.content)]
    return CodeReasons(
        tuple(sorted(telling, key=lambda commit: _rank_commit(commit, terms))), frozenset(map(NodeKey, anchored))
    )


def tells_reason(message: str) -> bool:
    """Return whether a commit's message says why, and not only what."""
    return bool(_reason_words().labels_in(analyse_terms(message_of(message))))


def _find_places(store: Store, scope_key: int, prompt: str) -> Iterator[tuple[str, str | None]]:
    """Yield the symbols and files that are named: a file only where no symbol of it is."""
    symbols = list(dict.fromkeys(find_named_places(store, prompt, scope_key)))
    yield from symbols
    for name in find_paths(prompt):
        paths = store.files.find_paths(scope_key, name, MAX_FILES_OF_NAME + 1)
        if len(paths) <= MAX_FILES_OF_NAME:
            yield from ((path, None) for path in paths if path not in {place for place, _ in symbols})


def _list_snippets(store: Store, scope_key: int, path: str, symbol: str | None) -> list[NodeKey]:
    if symbol is None:
        return store.files.find_nodes_at_lines(scope_key, path, 1, LAST_LINE)
    return store.positions.list_snippets(scope_key, path, symbol)


def _may_be_told(commit: Node) -> bool:
    return commit.holds and not commit.metadata.get("flags")


def _rank_commit(commit: Node, terms: Collection[str]) -> tuple[int, int]:
    """Return its place: what shares the request's words first, then the newest."""
    return -len(set(analyse_terms(commit.content)).intersection(terms)), -commit.event_time


@functools.cache
def _reason_words() -> PhraseIndex:
    return PhraseIndex.of((word, word) for word in read_table("reasons")["words"])
