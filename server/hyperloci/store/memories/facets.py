"""Facets of memories: those that rules found, and those set by hand (D.07)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import fields
from operator import attrgetter
from typing import Any, Final

from hyperloci.model.facets import ConfidenceLevel, Diataxis, Facets, Persona, SourceType, Verification
from hyperloci.model.kinds import NodeKey, NodeType
from hyperloci.model.node import Node
from hyperloci.store.json_keys import encode_keys

TAGS: Final = "domain_tags"
COLUMNS: Final = tuple(field.name for field in fields(Facets) if field.name != TAGS)
_VALUES: Final = attrgetter(*COLUMNS)
_INSERT: Final = f"INSERT OR IGNORE INTO facets(node_key, {', '.join(COLUMNS)}) VALUES (?{', ?' * len(COLUMNS)})"

_RIVALS: Final = (
    "membership a CROSS JOIN hyperedges h ON h.key = a.hyperedge_key AND h.label = 'contradicts'"
    " CROSS JOIN membership b ON b.hyperedge_key = a.hyperedge_key AND b.node_key <> a.node_key"
    " CROSS JOIN nodes n ON n.key = b.node_key"
)
"""What contradicts a memory `a.node_key`, as `n`; from the memory on, however many contradictions there are."""

_HOLDS: Final = "n.deleted_at IS NULL AND n.valid_until IS NULL"
_NOT_BY_HAND: Final = "NOT EXISTS (SELECT 1 FROM json_each(facets.by_hand) WHERE value = 'verification')"


class FacetRows:
    """The facets of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def add_facets(self, node: NodeKey, facets: Facets) -> None:
        """Store the facets of a memory that has none; one that has keeps its own."""
        added = self._connection.execute(_INSERT, (node, *_VALUES(facets)))
        if added.rowcount and facets.domain_tags:
            self._add_tags(node, facets.domain_tags)

    def put_facets(self, node: NodeKey, facets: Facets) -> None:
        """Store what rules found anew; what was set by hand stays."""
        fixed = self.get_fields_by_hand(node)
        if fixed is None:
            self.add_facets(node, facets)
            return
        self._change_columns(node, {name: getattr(facets, name) for name in (*COLUMNS, TAGS) if name not in fixed})

    def set_by_hand(self, node: NodeKey, values: Mapping[str, Any]) -> None:
        """Set some facets, and keep rules from changing them again."""
        self.add_facets(node, Facets())
        self._change_columns(node, values)
        fixed = sorted({*(self.get_fields_by_hand(node) or ()), *values})
        self._connection.execute("UPDATE facets SET by_hand = ? WHERE node_key = ?", (json.dumps(fixed), node))

    def set_verification(self, node: NodeKey, verification: Verification) -> None:
        """Note what became of a memory: confirmed, disputed, outdated."""
        self.add_facets(node, Facets())
        self._change_columns(node, {"verification": verification})

    def replace_verification(self, node: NodeKey, old: Verification, new: Verification) -> None:
        """Note what became of a memory, where it was noted as something else until now."""
        self._connection.execute(
            "UPDATE facets SET verification = ? WHERE node_key = ? AND verification = ?", (new, node, old)
        )

    def settle_disputes(self, key: NodeKey) -> None:
        """Let what contradicts a memory that ends or goes be disputed no longer, unless something else disputes it.

        What somebody called disputed by hand stays so.
        """
        self._connection.execute(
            f"UPDATE facets SET verification = ?2 WHERE verification = ?3 AND {_NOT_BY_HAND}"
            f" AND node_key IN (SELECT n.key FROM {_RIVALS} WHERE a.node_key = ?1 AND {_HOLDS}) AND NOT EXISTS"
            f" (SELECT 1 FROM {_RIVALS} WHERE a.node_key = facets.node_key AND b.node_key <> ?1 AND {_HOLDS})",
            (key, Verification.UNVERIFIED, Verification.DISPUTED),
        )

    def reopen_disputes(self, node: Node) -> None:
        """Have a memory that is back, and what was found to contradict it, be disputed where both hold.

        What somebody verified or set by hand stays. A relation that was made by hand, or that a file tells of, marked
        nobody before either.
        """
        if node.type is NodeType.SNIPPET:
            return
        found = self._connection.execute(
            f"SELECT n.key, h.automatic FROM {_RIVALS} WHERE a.node_key = ? AND {_HOLDS}", (node.key,)
        ).fetchall()
        rivals = [key for key, automatic in found if automatic]
        if found and not rivals:
            return
        before, now = Verification.UNVERIFIED, Verification.DISPUTED
        if not found:
            before, now = now, before
        self._connection.execute(
            "UPDATE facets SET verification = ?3 WHERE verification = ?4"
            f" AND node_key IN (SELECT value FROM json_each(?2)) AND {_NOT_BY_HAND}"
            f" AND EXISTS (SELECT 1 FROM nodes n WHERE n.key = ?1 AND {_HOLDS})",
            (node.key, encode_keys([node.key, *rivals]), now, before),
        )

    def get_fields_by_hand(self, node: NodeKey) -> tuple[str, ...] | None:
        """Return which facets of a memory were set by hand; None if it has no facets."""
        row = self._connection.execute("SELECT by_hand FROM facets WHERE node_key = ?", (node,)).fetchone()
        return None if row is None else tuple(json.loads(row[0]))

    def get_facets(self, nodes: Iterable[int]) -> dict[NodeKey, Facets]:
        """Return the facets of those memories that have any."""
        keys = encode_keys(nodes)
        tags: dict[int, list[str]] = {}
        for node, tag in self._connection.execute(
            "SELECT node_key, tag FROM domain_tags WHERE node_key IN (SELECT value FROM json_each(?)) ORDER BY tag",
            (keys,),
        ):
            tags.setdefault(node, []).append(tag)
        rows = self._connection.execute(
            "SELECT * FROM facets WHERE node_key IN (SELECT value FROM json_each(?))", (keys,)
        )
        return {NodeKey(row["node_key"]): _facets_from_row(row, tuple(tags.get(row["node_key"], ()))) for row in rows}

    def list_unknown_tags(self, tags: Iterable[str]) -> list[str]:
        """Return those tags that no memory has."""
        rows = self._connection.execute(
            "SELECT j.value FROM json_each(?) j WHERE NOT EXISTS (SELECT 1 FROM domain_tags g WHERE g.tag = j.value)",
            (json.dumps([tag.lower() for tag in tags]),),
        )
        return [row[0] for row in rows]

    def list_tags(self) -> list[str]:
        """Return every tag that a memory has."""
        return [row[0] for row in self._connection.execute("SELECT DISTINCT tag FROM domain_tags ORDER BY tag")]

    def _change_columns(self, node: NodeKey, values: Mapping[str, Any]) -> None:
        columns = {name: value for name, value in values.items() if name != TAGS}
        if columns:
            assignments = ", ".join(f"{name} = ?" for name in columns)
            self._connection.execute(f"UPDATE facets SET {assignments} WHERE node_key = ?", (*columns.values(), node))
        if TAGS in values:
            self._connection.execute("DELETE FROM domain_tags WHERE node_key = ?", (node,))
            self._add_tags(node, values[TAGS])

    def _add_tags(self, node: NodeKey, tags: Iterable[str]) -> None:
        self._connection.executemany(
            "INSERT OR IGNORE INTO domain_tags(tag, node_key) VALUES (?, ?)", [(tag, node) for tag in tags]
        )


def _facets_from_row(row: sqlite3.Row, tags: tuple[str, ...]) -> Facets:
    return Facets(
        diataxis=_enum_member(Diataxis, row["diataxis"]),
        persona=_enum_member(Persona, row["persona"]),
        verification=_enum_member(Verification, row["verification"]) or Verification.UNVERIFIED,
        confidence_level=_enum_member(ConfidenceLevel, row["confidence_level"]),
        section_type=row["section_type"],
        source_type=_enum_member(SourceType, row["source_type"]),
        authority=row["authority"],
        time_sensitive=bool(row["time_sensitive"]),
        domain_tags=tags,
    )


def _enum_member(kind: Any, value: str | None) -> Any:
    """Return a value of a closed set; None for what another program wrote there."""
    return kind(value) if value in set(kind) else None
