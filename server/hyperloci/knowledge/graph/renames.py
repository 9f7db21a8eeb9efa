"""Renames: an anchor follows its symbol to another file, and to another name where the code differs in nothing else.

Code is known by the hash of its text without its own name, so that a moved, renamed function is found among the symbols
that a run of indexing brought by one look each. Of several with one body, or of a body of few words, none is meant.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.store import Store
from hyperloci.store.memories.positions import StoredAnchor

MIN_BODY_WORDS: Final = 4
"""Other words that a symbol's text must have: `def open_it(): pass` may be anything's."""

_WORD: Final = re.compile(r"\w+")

_Place = tuple[str, str]
"""Path and symbol."""


def hash_symbol(text: str) -> bytes:
    """Return the SHA-256 of a symbol's text without blank lines and trailing spaces."""
    lines = (line.rstrip() for line in text.splitlines())
    return hashlib.sha256("\n".join(line for line in lines if line).encode("utf-8", "surrogatepass")).digest()


def hash_body(text: str, symbol: str) -> bytes | None:
    """Return the same from the line on that names the symbol, without its name; None where too little is left.

    What stands above it in a snippet (includes, imports) is the file's, which may be another too.
    """
    name = symbol.rpartition(".")[2]
    first = next((match.start() for match in _WORD.finditer(text) if match[0] == name), 0)
    own = text[text.rfind("\n", 0, first) + 1 :]
    if len(set(_WORD.findall(own)) - {name}) < MIN_BODY_WORDS:
        return None
    return hash_symbol(_WORD.sub(lambda match: "" if match[0] == name else match[0], own))


def make_anchor(anchored: int, scope_key: int, place: _Place, text: str) -> StoredAnchor:
    """Return the anchor of a memory to a symbol as it is now.

    Args:
        anchored: the memory's key.
        scope_key: whose code.
        place: the symbol's path and name.
        text: its text.
    """
    return StoredAnchor(
        node_key=NodeKey(anchored),
        scope_key=scope_key,
        path=place[0],
        symbol=place[1],
        symbol_hash=hash_symbol(text),
        body_hash=hash_body(text, place[1]),
    )


def follow_renames(store: Store, scope_key: int, appeared: Mapping[str, Mapping[str, str | None]]) -> int:
    """Tie memories whose symbol is gone to what it is now; return how many ties follow.

    Runs in a transaction, after an indexing run.

    Args:
        store: the open store.
        scope_key: the project.
        appeared: the symbols that the run brought, by path, with the path that each had if it came from another.
    """
    lost = store.positions.list_lost_anchors(scope_key)
    if not lost:
        return 0
    came = {(old, symbol): path for path, symbols in appeared.items() for symbol, old in symbols.items() if old}
    places: dict[bytes, list[tuple[_Place, str]]] = defaultdict(list)
    for path, symbols in appeared.items():
        for symbol, text in _list_texts(store, scope_key, path, symbols):
            if (body := hash_body(text, symbol)) is not None:
                places[body].append(((path, symbol), text))
    followed = 0
    for anchor in lost:
        if (came_to := came.get((anchor.path, anchor.symbol))) is not None:
            followed += _retie(store, anchor, replace(anchor, path=came_to))
        elif anchor.body_hash in places:
            followed += _follow(store, anchor, places[anchor.body_hash])
    return followed


def _list_texts(store: Store, scope_key: int, path: str, symbols: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield some symbols of a file with their texts, as `get_symbol_text` joins them."""
    found: dict[str, list[str]] = defaultdict(list)
    for piece in store.files.list_pieces(scope_key, path):
        parts = (piece.symbol or "").split(".")
        for end in range(1, len(parts) + 1):
            if (holder := ".".join(parts[:end])) in symbols:
                found[holder].append(piece.content)
    yield from ((symbol, "\n".join(texts)) for symbol, texts in found.items())


def _follow(store: Store, anchor: StoredAnchor, places: list[tuple[_Place, str]]) -> bool:
    """Tie a memory to where its symbol went, if that is sure; a symbol that only moved needs nothing."""
    if len(places) > 1 or any(place[1] == anchor.symbol for place, _ in places):
        return False
    (place, text), former = places[0], (anchor.former_path or anchor.path, anchor.former_symbol or anchor.symbol)
    is_back = place == former
    renamed = replace(
        make_anchor(anchor.node_key, anchor.scope_key, place, text),
        former_path=None if is_back else former[0],
        former_symbol=None if is_back else former[1],
    )
    if not _retie(store, anchor, renamed):
        return False
    store.keywords.add_extra(anchor.node_key, place[1])
    return True


def _retie(store: Store, old: StoredAnchor, new: StoredAnchor) -> bool:
    """Put one tie of a memory in another's place, unless it has one to the same symbol."""
    if (new.path, new.symbol) in {(tie.path, tie.symbol) for tie in store.positions.list_anchors([old.node_key])}:
        return False
    store.positions.drop_anchor(old)
    store.positions.put_anchor(new)
    return True
