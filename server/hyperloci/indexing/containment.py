"""Containment: what contains what in a file, as hyperedges: a class its methods, a section its subsections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from hyperloci.model.kinds import NodeKey
from hyperloci.model.position import Position
from hyperloci.store import Store

LABEL: Final = "contains"

Address = tuple[str, ...]
"""The parts of a symbol or the headings of a section, outermost first."""


def rebuild_contains(store: Store, file_key: int, *, now: int, is_new: bool = False) -> None:
    """Make the `contains` edges of a file anew from where its snippets stand; confirmed ones are kept.

    The snippets of a new file have none that would have to go first.
    """
    chunks = store.files.list_chunks([file_key]).get(file_key, [])
    places = store.positions.get_positions(chunk.node_key for chunk in chunks)
    ordered = [(chunk.node_key, address_of(places[chunk.node_key])) for chunk in chunks if chunk.node_key in places]
    for chunk in () if is_new else chunks:
        store.edges.delete_automatic(chunk.node_key, (LABEL,))
    for holder, held in find_held_chunks(ordered).items():
        store.edges.link_nodes(LABEL, holder, held, now=now, automatic=True)


def address_of(position: Position) -> Address:
    """Return where a snippet stands inside its file; empty for plain text."""
    return tuple(position.symbol.split(".")) if position.symbol else position.section_path


def find_held_chunks(chunks: Iterable[tuple[NodeKey, Address]]) -> Mapping[NodeKey, list[NodeKey]]:
    """Return what each chunk holds, in order: of every address the first chunk, under its nearest ancestor.

    A long section or function has several chunks with one address; the first, with the heading, stands for all.
    """
    first: dict[Address, NodeKey] = {}
    for key, address in chunks:
        if address:
            first.setdefault(address, key)
    held: dict[NodeKey, list[NodeKey]] = {}
    for address, key in first.items():
        above = (first.get(address[:depth]) for depth in range(len(address) - 1, 0, -1))
        holder = next((found for found in above if found is not None), None)
        if holder is not None:
            held.setdefault(holder, []).append(key)
    return held
