"""A small project that is indexed, and the relations that rules find in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hyperloci.config import Settings
from hyperloci.indexing.indexer import Indexer
from hyperloci.project.identity import IdentityBasis, Project
from hyperloci.store import Store
from tests.support import FakeClock

Edge = tuple[str, str, str]
"""Label, source and target, each as `path:symbol`."""


class Linked:
    """A project of a few files, indexed; tells the edges between its snippets."""

    def __init__(self, store: Store, settings: Settings, root: Path, clock: FakeClock) -> None:
        root.mkdir(exist_ok=True)
        self.store, self.root, self.clock = store, root, clock
        self.project = Project(id="p", name="p", root=root, basis=IdentityBasis.PATH, place_id="", place=root)
        self.settings, self.indexer = settings, Indexer(store, settings, self.project, clock)

    def index(self, files: Mapping[str, str | None]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                path.unlink()
            else:
                path.write_text(text, encoding="utf-8")
        self.clock.advance(10_000)
        self.indexer.index_tree()

    def edges(self, *labels: str) -> set[Edge]:
        """Return the edges between living snippets, those of the labels given."""
        rows = self.store.connection.execute(
            """
            SELECT h.label, ps.path, ps.symbol, po.path, po.symbol FROM hyperedges h
            JOIN membership s ON s.hyperedge_key = h.key AND s.position = 0
            JOIN positions ps ON ps.node_key = s.node_key
            JOIN membership o ON o.hyperedge_key = h.key AND o.position = 1
            JOIN positions po ON po.node_key = o.node_key
            JOIN nodes ns ON ns.key = s.node_key AND ns.deleted_at IS NULL
            JOIN nodes no ON no.key = o.node_key AND no.deleted_at IS NULL WHERE h.label <> 'contains'
            """
        )
        found = {(row[0], f"{row[1]}:{row[2] or ''}", f"{row[3]}:{row[4] or ''}") for row in rows}
        return {edge for edge in found if not labels or edge[0] in labels}
