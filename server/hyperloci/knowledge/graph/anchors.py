"""Anchors: tie a fact about code to the symbols it names, and mark it outdated when they change.

The present text of a symbol is read back from the indexed snippets that hold it, so that no file is opened. An edit
elsewhere in the file changes nothing, nor do blank lines and trailing spaces; a symbol that is moved, with its file or
without, keeps its anchors, and a renamed one has them under its new name (`renames`). A changed, renamed or vanished
symbol flags the fact as outdated and never deletes it; confirming the fact anchors it anew. A fact whose text is
changed is tied to what it names then.

A fact may be older than the index. `anchor_pending` ties such facts once their symbols are there; what counts as
unchanged is then the text at that time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.graph.renames import hash_body, hash_symbol, make_anchor
from hyperloci.knowledge.names.written_names import (
    find_code_names,
    find_paths,
    is_path_of_file,
    is_reexported_as,
    is_suffix_of_symbol,
)
from hyperloci.model.chunk import TextChunk
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.memories.positions import StoredAnchor
from hyperloci.store.projects.set_aside import note_failure_of

MAX_ANCHORS: Final = 8
"""Symbols a fact is tied to: one that names more is about the code as a whole."""

PENDING_FACTS: Final = 5_000
"""Facts without an anchor that are looked at after indexing, newest first."""


def anchor_fact(store: Store, node: Node, scope_key: int) -> int:
    """Tie a fact to the symbols it names, where a name means exactly one; return how many.

    Earlier anchors are made anew, so that a fact confirmed after a change is no longer outdated; to a symbol that it
    doesn't name, as that was renamed, it stays tied. Runs in the transaction that stores or confirms the fact.

    Args:
        store: the open store.
        node: the fact; snippets are never anchored, they are the code.
        scope_key: the project whose code is meant; also for a global fact that was stored from it.
    """
    if node.type is NodeType.SNIPPET:
        return 0
    known = store.positions.list_anchors([node.key])
    store.positions.drop_anchors(node.key)
    places: dict[int, list[tuple[str, str]]] = {}
    for anchor in known:
        places.setdefault(anchor.scope_key, []).append((anchor.path, anchor.symbol))
    places.setdefault(scope_key, []).extend(_choose_anchor_places(store, node.content, scope_key))
    return sum(_put_anchors(store, node.key, found, scope) for scope, found in places.items())


def renew_anchors(store: Store, fact: Node, scope_key: int) -> None:
    """Tie a fact whose text was changed to the symbols that it names now; of a project's code, to no others.

    A tie that stays is as it was: who words a fact anew may not have looked at the code, so that what happened to the
    symbol is told yet. Runs in the transaction that changes the fact.

    Args:
        store: the open store.
        fact: the fact as it is now.
        scope_key: the project whose code is meant; ties to that of others stay.
    """
    meant = dict(_read_names(store, fact.content, scope_key))
    known = store.positions.list_anchors([fact.key])
    for anchor in known:
        if anchor.scope_key != scope_key:
            continue
        names_former = anchor.former_symbol is not None and any(
            _may_name(name, anchor.former_path or anchor.path, anchor.former_symbol) for name in meant
        )
        if not names_former and not _still_means(store, meant, anchor):
            store.positions.drop_anchor(anchor)
        elif not names_former and anchor.former_symbol is not None:
            # It says the new name, so that there is nothing to tell of the old.
            store.positions.put_anchor(replace(anchor, former_path=None, former_symbol=None))
    tied = {(anchor.path, anchor.symbol) for anchor in known}
    named = [place for place in dict.fromkeys(meant.values()) if place is not None]
    _put_anchors(store, fact.key, [place for place in named[:MAX_ANCHORS] if place not in tied], scope_key)


def _still_means(store: Store, meant: Mapping[str, tuple[str, str] | None], anchor: StoredAnchor) -> bool:
    """Tell whether a text names the symbol of an anchor; what is gone, or has namesakes, may be meant yet."""
    place = (anchor.path, anchor.symbol)
    found = [symbol for name, symbol in meant.items() if _may_name(name, *place)]
    if None in found or place in found:
        return True
    return bool(found) and store.positions.get_symbol_text(anchor.scope_key, *place) is None


def _may_name(name: str, path: str, symbol: str) -> bool:
    return is_suffix_of_symbol(name, path, symbol) or is_reexported_as(name, path, symbol)


def anchor_pending(store: Store, scope_key: int, *, now: int) -> int:
    """Tie a project's facts that have no anchor yet to code that was indexed after them; return how many were tied.

    Runs after an indexing run that added symbols. Facts that name no symbol are looked at again each time (20
    microseconds each); a fact that fails is set aside.
    """
    places: dict[NodeKey, list[tuple[str, str]]] = {}
    failed: dict[NodeKey, str] = {}
    known = store.set_aside.get_standing(scope_key, SetAsideKind.MEMORY)
    for key, content in store.positions.list_unanchored(scope_key, PENDING_FACTS):
        if f"anchors {key}" in known:
            continue
        with note_failure_of(failed, key):
            places[key] = _choose_anchor_places(store, content, scope_key)
    with store.transaction():
        for key, reason in failed.items():
            store.set_aside.add_failure(scope_key, SetAsideKind.MEMORY, f"anchors {key}", reason, now=now, node=key)
        return sum(1 for key, found in places.items() if _put_anchors(store, key, found, scope_key))


def keep_anchors(store: Store, scope_key: int, path: str, chunks: Sequence[TextChunk]) -> None:
    """Let a newer version cut an unchanged file otherwise without telling that its symbols changed.

    Runs in the transaction that begins to store the chunks.

    Args:
        store: the open store.
        scope_key: the file's project.
        path: the file.
        chunks: what it is cut into now.
    """
    anchors = store.positions.list_anchors_at(scope_key, path)
    before = "".join(piece.content for piece in store.files.list_pieces(scope_key, path)) if anchors else ""
    if before.split() != "".join(chunk.text for chunk in chunks).split():
        return
    for anchor in anchors:
        old = store.positions.get_symbol_text(scope_key, path, anchor.symbol)
        own = (chunk.text for chunk in chunks if f"{chunk.position.symbol}.".startswith(f"{anchor.symbol}."))
        if (new := "\n".join(own)) and old is not None and hash_symbol(old) == anchor.symbol_hash:
            body = hash_body(new, anchor.symbol)
            store.positions.put_anchor(replace(anchor, symbol_hash=hash_symbol(new), body_hash=body))


def describe_code_changes(store: Store, keys: Iterable[int]) -> dict[NodeKey, str]:
    """Return, of those nodes whose anchored code changed since they were stored, what changed, in words."""
    found: dict[NodeKey, list[str]] = {}
    for anchor in store.positions.list_anchors(keys):
        change = _describe_change(store, anchor)
        if change:
            found.setdefault(anchor.node_key, []).append(change)
    return {key: "; ".join(words) for key, words in found.items()}


def _choose_anchor_places(store: Store, text: str, scope_key: int) -> list[tuple[str, str]]:
    return list(dict.fromkeys(find_named_places(store, text, scope_key)))[:MAX_ANCHORS]


def _put_anchors(store: Store, key: NodeKey, places: Sequence[tuple[str, str]], scope_key: int) -> int:
    texts = {place: store.positions.get_symbol_text(scope_key, *place) for place in places}
    for place, text in texts.items():
        if text is not None:
            store.positions.put_anchor(make_anchor(key, scope_key, place, text))
    return sum(text is not None for text in texts.values())


def find_named_places(store: Store, text: str, scope_key: int) -> Iterable[tuple[str, str]]:
    """Yield the (path, symbol) of each name of code in a text that means exactly one symbol of a project."""
    return (place for _, place in _read_names(store, text, scope_key) if place is not None)


def _read_names(store: Store, text: str, scope_key: int) -> Iterator[tuple[str, tuple[str, str] | None]]:
    """Yield each name of code in a text, and the (path, symbol) that it means in a project if that is exactly one."""
    names = find_code_names(text)
    if not names:
        return
    from hyperloci.knowledge.names.resolver import match_symbols

    found, paths = match_symbols(store, (scope_key,), names), find_paths(text)
    for name in names:
        meant = [(thing.path, thing.symbol) for thing in found[name]]
        if len(meant) > 1:
            meant = [place for place in meant if any(is_path_of_file(place[0], path) for path in paths)] or meant
        if len(meant) > 1:
            meant = [place for place in meant if place[1] == name]
        yield name, meant[0] if len(meant) == 1 else None


def _describe_change(store: Store, anchor: StoredAnchor) -> str | None:
    """Return what happened to an anchored symbol, or None if nothing did."""
    happened = [f"was renamed to `{anchor.symbol}` in {anchor.path}"] if anchor.former_symbol is not None else []
    text = store.positions.get_symbol_text(anchor.scope_key, anchor.path, anchor.symbol)
    if text is not None and hash_symbol(text) != anchor.symbol_hash:
        happened.append("changed since this was stored")
    elif text is None and not _find_moved_place(
        store, anchor, store.positions.symbols_named(anchor.scope_key, [anchor.symbol])
    ):
        happened.append("was removed since this was stored")
    name = f"`{anchor.former_symbol or anchor.symbol}` in {anchor.former_path or anchor.path}"
    return f"{name} {' and '.join(happened)}" if happened else None


def _find_moved_place(store: Store, anchor: StoredAnchor, places: Sequence[tuple[str, str]]) -> bool:
    texts = (store.positions.get_symbol_text(anchor.scope_key, *place) for place in places if place[1] == anchor.symbol)
    return any(text is not None and hash_symbol(text) == anchor.symbol_hash for text in texts)
