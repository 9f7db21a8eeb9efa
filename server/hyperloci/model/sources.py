"""Hit sources: where a memory came from, as callers see it."""

from __future__ import annotations

from hyperloci.model.author import Visibility, name_other
from hyperloci.model.node import Node
from hyperloci.model.position import Position
from hyperloci.model.search import HitSource


def make_hit_source(
    node: Node, position: Position | None, commit: str | None = None, *, asker: str | None = None
) -> HitSource:
    """Return where a node came from; `asker` is who is told so, where several have the memory in common."""
    place = position or Position()
    return HitSource(
        kind=node.origin,
        path=place.path,
        line_start=place.line_start,
        line_end=place.line_end,
        section_path=place.section_path,
        symbol=place.symbol,
        cells=_name_cells(node, place),
        commit=commit,
        session_id=node.session_id,
        seq=node.seq,
        author=name_other(node.author, node.origin, asker),
        agent=node.agent,
        shared=node.visibility is Visibility.SHARED,
    )


def _name_cells(node: Node, place: Position) -> str | None:
    """Return which cells of a notebook a snippet is from: its title ends with them."""
    if place.path is None or not place.path.lower().endswith(".ipynb"):
        return None
    last = node.title.rpartition(" > ")[2]
    return last if last.startswith("cell") else None
