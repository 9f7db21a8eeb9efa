"""Anchors: a fact about code is tied to the symbols it names, and says so when they change.

The present text of a symbol is read back from the indexed snippets that hold it, so that no file is opened. An edit
elsewhere in the file changes nothing; a changed or vanished symbol flags the fact as outdated, and never deletes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.nodes import content_hash
from hyperloci.store.positions import Anchor

MAX_NAMES: Final = 50
"""Names looked up a fact: a pasted file is not a fact about each of its symbols."""

_NAME: Final = re.compile(
    r"`(?P<quoted>[A-Za-z_][\w.]*)(?:\(\))?`"
    r"|(?P<dotted>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)"
    r"|(?P<called>[A-Za-z_]\w*)\(\)"
    r"|(?P<snake>[A-Za-z]\w*_\w+)"
    r"|(?P<camel>[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*)"
)
"""Words that look like code: in backticks, dotted, called, or in snake_case or camelCase."""


def names_in(text: str) -> list[str]:
    """Return the code-like names in a text, in order, each once."""
    found = (match.group(match.lastgroup or 0) for match in _NAME.finditer(text))
    return list(dict.fromkeys(found))[:MAX_NAMES]


def anchor_fact(store: Store, node: Node, scope_key: int) -> int:
    """Tie a stored fact to the symbols it names, where a name means exactly one place; return how many.

    Runs in the transaction that stores the fact.
    """
    if node.type is NodeType.SNIPPET:
        return 0
    anchored = 0
    for name in names_in(node.content):
        places = store.positions.symbols_named(scope_key, [name, *_tails(name)])
        exact = [place for place in places if place[1] == name] or places
        if len(exact) == 1:
            path, symbol = exact[0]
            text = store.positions.symbol_text(scope_key, path, symbol)
            if text is not None:
                store.positions.put_anchor(Anchor(node.key, scope_key, path, symbol, content_hash(text)))
                anchored += 1
    return anchored


def _tails(name: str) -> Iterable[str]:
    """Yield the shorter forms of a dotted name: `package.Client.fetch` is stored as `Client.fetch`."""
    parts = name.split(".")
    return (".".join(parts[start:]) for start in range(1, len(parts) - 1))


def outdated(store: Store, keys: Iterable[int]) -> dict[NodeKey, str]:
    """Return, of those nodes whose anchored code changed since they were stored, what changed, in words."""
    found: dict[NodeKey, list[str]] = {}
    for anchor in store.positions.anchors(keys):
        text = store.positions.symbol_text(anchor.scope_key, anchor.path, anchor.symbol)
        if text is None:
            found.setdefault(anchor.node_key, []).append(f"`{anchor.symbol}` is no longer in {anchor.path}")
        elif content_hash(text) != anchor.symbol_hash:
            found.setdefault(anchor.node_key, []).append(f"`{anchor.symbol}` in {anchor.path} has changed since")
    return {key: "; ".join(words) for key, words in found.items()}
