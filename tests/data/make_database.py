"""Write `schema-vN.db.gz`: a small database as the present program makes it, for the tests of later ones.

Run it once when a schema is released, and never again for that schema: python tests/data/make_database.py
"""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path

from hyperloci.model.edge import EdgeMember
from hyperloci.model.kinds import NodeType, Role
from hyperloci.model.node import NewNode
from hyperloci.model.position import Position
from hyperloci.store import Store
from hyperloci.store.migration import latest_version

NOW = 1_800_000_000_000


def main() -> None:
    """Write the file of the latest schema beside this program."""
    target = Path(__file__).with_name(f"schema-v{latest_version()}.db.gz")
    with tempfile.TemporaryDirectory() as folder:
        with Store.open(Path(folder) / "memory.db", clock=lambda: NOW) as store:
            _fill(store)
            copy = store.back_up(Path(folder) / "copy.db")
        target.write_bytes(gzip.compress(copy.read_bytes(), mtime=0))


def _fill(store: Store) -> None:
    with store.transaction():
        scope = store.scopes.ensure_scope("git:1234", now=NOW, name="rocket", root="/src/rocket")
        session = store.sessions.note_seen("session-1", scope, now=NOW)
        fact = store.nodes.create_node(
            NewNode(type=NodeType.FACT, content="The launch window opens on Tuesdays.", scope="git:1234"),
            now=NOW,
            session_key=session.key,
        )
        place = Position(path="docs/launch.md", line_start=3, line_end=9, section_path=("Launch", "Windows"))
        snippet = store.nodes.create_node(
            NewNode(type=NodeType.SNIPPET, content="Check the valves first.", scope="git:1234", position=place),
            now=NOW,
        )
        thing = store.nodes.create_node(NewNode(type=NodeType.ENTITY, subtype="tool", content="Valve"), now=NOW)
        store.entities.register_entity(thing.key, "Valve", now=NOW)
        store.entities.add_mention(snippet.key, thing.key, now=NOW)
        store.edges.create_edge(
            "supports", [EdgeMember(snippet.key, Role.SUBJECT), EdgeMember(fact.key, Role.OBJECT, 1)], now=NOW
        )
        store.nodes.delete_node(snippet.id, now=NOW, reason="the file is gone")


if __name__ == "__main__":
    main()
