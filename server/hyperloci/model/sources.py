"""Hit sources: where a memory came from, as callers see it."""

from __future__ import annotations

from hyperloci.model.author import Visibility, is_same_author
from hyperloci.model.kinds import Origin
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
        author=_find_other(node, asker),
        agent=node.agent,
        shared=node.visibility is Visibility.SHARED,
    )


def _find_other(node: Node, asker: str | None) -> str | None:
    """Return whose words a node is, if they are somebody else's."""
    is_other = node.origin is Origin.TEAMMATE or (asker is not None and not is_same_author(node.author, asker))
    return node.author if is_other else None


def _name_cells(node: Node, place: Position) -> str | None:
    """Return which cells of a notebook a snippet is from: its title ends with them."""
    if place.path is None or not place.path.lower().endswith(".ipynb"):
        return None
    last = node.title.rpartition(" > ")[2]
    return last if last.startswith("cell") else None
