"""Nodes: creating, reading, changing, forgetting (SPEC-02.20 to .24)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

from hyperloci.model.author import AGENT_ORIGINS, Signature, Visibility
from hyperloci.model.kinds import NodeId, NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import ONE_OCCASION_MS, NewNode, Node, SearchCandidate
from hyperloci.store.archive import compressed_turns
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.keywords.keyword_index import KeywordIndex
from hyperloci.store.memories.decay import has_faded
from hyperloci.store.memories.evolution_log import EvolutionLog
from hyperloci.store.memories.facets import FacetRows
from hyperloci.store.memories.node_rows import SELECT_NODE, check_changes, encode_metadata, hash_content, node_from_row
from hyperloci.store.memories.positions import Positions
from hyperloci.store.memories.scopes import Scopes
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.random_ids import make_random_id

DECAY_RATE: Final = 0.1
"""How fast a fact fades unless it, or the settings (`decay_rate_default`), say otherwise (B.20)."""

_SELECT_CANDIDATE: Final = (
    f"SELECT n.key, n.type, n.subtype, {compressed_turns.WHOLE_TEXT}, n.origin, t.id, n.seq, n.event_time,"
    f" n.metadata, n.title FROM nodes n LEFT JOIN sessions t ON t.key = n.session_key{compressed_turns.JOIN_PACKED}"
)
"""Columns in the order of `Candidate`'s fields."""


class NodeSource(NamedTuple):
    """What kind of thing a memory is, in which file and symbol it stands, from which line on, and its length stored."""

    subtype: str | None
    path: str | None
    symbol: str | None
    chars: int
    line: int | None = None


class Nodes:
    """The nodes of one database. Every write expects to run inside a transaction.

    Attributes:
        signature: who writes: every new node that names no author or agent has this one's.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        scopes: Scopes,
        keywords: KeywordIndex,
        positions: Positions,
        log: EvolutionLog,
        decay_rate: float = DECAY_RATE,
    ) -> None:
        self._connection = connection
        self._decay_rate = decay_rate
        self._scopes = scopes
        self._keywords = keywords
        self._positions = positions
        self._log = log
        self.signature = Signature()

    def create_node(self, new: NewNode, *, now: int, place: str = "", session_key: int | None = None) -> Node:
        """Store a memory as `add_row` does, and return it as it is stored."""
        node = self.get_by_key(self.add_row(new, now=now, place=place, session_key=session_key))
        assert node is not None
        return node

    def add_row(self, new: NewNode, *, now: int, place: str = "", session_key: int | None = None) -> NodeKey:
        """Store a memory with its keywords and position, queue it for its fingerprint, and return its key.

        Args:
            new: what to store.
            now: the time, in milliseconds.
            place: what makes equal contents different memories (a path, a turn's number).
            session_key: the session it belongs to.

        Raises:
            BadRequestError: metadata that isn't JSON, or a decay rate below 0.
        """
        rate = self._decay_rate_of(new)
        check_changes({"decay_rate": rate})
        cursor = self._connection.execute(
            """
            INSERT INTO nodes(id, type, subtype, title, content, tier, confidence, decay_rate, provenance, origin,
                scope_key, session_key, seq, place, content_hash, event_time, created_at, updated_at, last_accessed,
                valid_from, metadata, author, agent, visibility)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            (
                new.id or make_random_id(),
                new.type,
                new.subtype,
                new.title,
                new.content,
                new.tier,
                new.confidence,
                rate,
                new.provenance,
                new.origin,
                self._scopes.ensure_scope(new.scope, now=now),
                session_key,
                new.seq,
                place,
                hash_content(new.content),
                now if new.event_time is None else new.event_time,
                now,
                now,
                now,
                now if new.valid_from is None else new.valid_from,
                encode_metadata(new.metadata),
                new.author or self.signature.author_of(new.type, new.origin),
                new.agent or self._agent_of(new, session_key),
                new.visibility,
            ),
        )
        key = NodeKey(int(cursor.lastrowid or 0))
        if new.position is not None:
            self._positions.put_position(key, new.position)
        self._keywords.add_text(key, title=new.title, body=new.content, extra=new.extra_terms)
        self.queue_for_fingerprint([key], now=now)
        return key

    def _agent_of(self, new: NewNode, session_key: int | None) -> str | None:
        """Return through which assistant a memory comes: its session's, or the one that tells it."""
        if session_key is None or new.origin not in AGENT_ORIGINS:
            return self.signature.agent_of(new.type, new.origin)
        row = self._connection.execute("SELECT client FROM sessions WHERE key = ?", (session_key,)).fetchone()
        return None if row is None else row[0]

    def _decay_rate_of(self, new: NewNode) -> float:
        """Return a node's decay rate: what happened and what files say doesn't fade, what was concluded does (B.11)."""
        usual = self._decay_rate if new.type is NodeType.FACT else 0.0
        return usual if new.decay_rate is None else new.decay_rate

    def get_node(self, node_id: str) -> Node | None:
        """Return a node by its id, forgotten ones too, or None (SPEC-02.21)."""
        row = self._connection.execute(f"{SELECT_NODE} WHERE n.id = ?", (node_id,)).fetchone()
        return node_from_row(row) if row else None

    def get_by_key(self, key: int) -> Node | None:
        """Return a node by its integer key, or None."""
        row = self._connection.execute(f"{SELECT_NODE} WHERE n.key = ?", (key,)).fetchone()
        return node_from_row(row) if row else None

    def get_by_keys(self, keys: Iterable[int]) -> dict[NodeKey, Node]:
        """Return the nodes that exist among `keys`."""
        cursor = self._connection.cursor()
        # Rows by name cost half as much again to make, and `node_from_row` reads by place.
        cursor.row_factory = None
        rows = cursor.execute(f"{SELECT_NODE} WHERE n.key IN (SELECT value FROM json_each(?))", (encode_keys(keys),))
        return {row[0]: node_from_row(row) for row in rows}

    def get_candidates(self, keys: Iterable[int]) -> dict[NodeKey, SearchCandidate]:
        """Return the fields that ranking needs of the existing nodes; takes a third of the time of `get_by_keys`."""
        cursor = self._connection.cursor()
        cursor.row_factory = None
        wanted = (encode_keys(keys),)
        rows = cursor.execute(f"{_SELECT_CANDIDATE} WHERE n.key IN (SELECT value FROM json_each(?))", wanted)
        return {
            row[0]: SearchCandidate._make((*row[:8], {} if row[8] == "{}" else json.loads(row[8]), row[9]))
            for row in rows
        }

    def get_sources(self, keys: Iterable[int]) -> dict[NodeKey, NodeSource]:
        """Return what kind of thing each of the existing nodes is, and where it stands."""
        cursor = self._connection.cursor()
        cursor.row_factory = None
        rows = cursor.execute(
            "SELECT n.key, n.subtype, p.path, p.symbol, length(n.content), p.line_start FROM json_each(?) j"
            " CROSS JOIN nodes n ON n.key = j.value LEFT JOIN positions p ON p.node_key = n.key",
            (encode_keys(keys),),
        )
        return {key: NodeSource(*source) for key, *source in rows}

    def find_explicit(self, keys: Iterable[int]) -> set[NodeKey]:
        """Return which of `keys` were remembered on purpose."""
        # One text is faster to transfer than a row a key: half of a memory may have been remembered on purpose.
        found = self._connection.execute(
            "SELECT json_group_array(n.key) FROM json_each(?) j CROSS JOIN nodes n INDEXED BY idx_nodes_told"
            # In the very words of the index, or it could not be used.
            f" ON n.key = j.value AND n.origin = '{Origin.TOOL}' AND n.type <> '{NodeType.ENTITY}'",
            (encode_keys(keys),),
        ).fetchone()[0]
        return set(json.loads(found))

    def list_keys_from(self, first: int, limit: int) -> list[NodeKey]:
        """Return the next keys of nodes, forgotten ones too, in their order."""
        rows = self._connection.execute("SELECT key FROM nodes WHERE key >= ? ORDER BY key LIMIT ?", (first, limit))
        return [NodeKey(row[0]) for row in rows]

    def ids_like(self, prefix: str, limit: int = 5, *, scopes: Sequence[str] = ()) -> list[NodeId]:
        """Return ids that start with `prefix`, for messages and abbreviations; within scopes if any are given."""
        if not prefix:
            return []
        rows = self._connection.execute(
            "SELECT id FROM nodes WHERE id >= ?1 AND id < ?2 AND (?4 = '[]' OR scope_key IN"
            " (SELECT key FROM scopes WHERE id IN (SELECT value FROM json_each(?4)))) ORDER BY id LIMIT ?3",
            (prefix, prefix + "\U0010ffff", limit, json.dumps(list(scopes))),
        )
        return [NodeId(row[0]) for row in rows]

    def find_duplicate(
        self, content: str, scope: str, place: str = "", *, besides: Origin | None = None
    ) -> Node | None:
        """Return the living node with the same content in the same scope and place (E.03), not of origin `besides`."""
        scope_key = self._scopes.find_key(scope)
        row = self._connection.execute(
            f"{SELECT_NODE} WHERE n.content_hash = ? AND n.scope_key = ? AND n.place = ?"
            " AND n.deleted_at IS NULL AND n.valid_until IS NULL AND n.origin IS NOT ? ORDER BY n.key LIMIT 1",
            (hash_content(content), scope_key, place, besides),
        ).fetchone()
        return node_from_row(row) if row else None

    def find_told_before(self, scope: str, *, now: int) -> str:
        """Return the fact that was told last in a scope, if that is not long ago and it still holds; else ''."""
        row = self._connection.execute(
            f"SELECT CASE WHEN n.deleted_at IS NULL AND n.valid_until IS NULL AND {NOT_WITHHELD} THEN n.content END"
            " FROM nodes n WHERE n.scope_key = ? AND n.type = 'fact' AND n.origin = 'tool' AND n.created_at >= ?"
            " ORDER BY n.key DESC LIMIT 1",
            (self._scopes.find_key(scope), now - ONE_OCCASION_MS),
        ).fetchone()
        return (row[0] or "") if row else ""

    def drop_told_before(self, node: Node) -> None:
        """Take a memory's words out of what helps find the facts that were told soon after it."""
        rows = self._connection.execute(
            # A fact may have become a decision since.
            "SELECT key, title, content FROM nodes WHERE scope_key = ? AND type IN ('fact', 'decision')"
            " AND origin = 'tool' AND created_at BETWEEN ? AND ? AND key > ?",
            (self._scopes.find_key(node.scope), node.created_at, node.created_at + ONE_OCCASION_MS, node.key),
        ).fetchall()
        for row in rows:
            self._keywords.put_text(row["key"], title=row["title"], body=row["content"], extra="")

    def find_forgotten(self, content: str, scope: str, *, besides: Origin | None = None) -> Node | None:
        """Return the node with this content that was forgotten last in a scope, not of origin `besides`; or None."""
        row = self._connection.execute(
            f"{SELECT_NODE} WHERE n.content_hash = ? AND n.scope_key = ? AND n.deleted_at IS NOT NULL"
            " AND n.origin IS NOT ? ORDER BY n.deleted_at DESC, n.key DESC LIMIT 1",
            (hash_content(content), self._scopes.find_key(scope), besides),
        ).fetchone()
        return node_from_row(row) if row else None

    def has_ended(self, content: str, scope: str, origin: Origin) -> bool:
        """Tell whether a node of an origin with this content in a scope has ended and was not forgotten."""
        row = self._connection.execute(
            "SELECT 1 FROM nodes WHERE content_hash = ? AND scope_key = ? AND place = '' AND origin = ?"
            " AND deleted_at IS NULL AND valid_until IS NOT NULL LIMIT 1",
            (hash_content(content), self._scopes.find_key(scope), origin),
        ).fetchone()
        return row is not None

    def count_repetition(self, key: NodeKey, *, now: int, said_at: int | None = None) -> None:
        """Note that the same content was stored once more.

        Args:
            key: the memory.
            now: the time.
            said_at: when it was said again, from when on it fades anew; None where nobody said it.
        """
        self._connection.execute(
            "UPDATE nodes SET seen_count = seen_count + 1, updated_at = ?1,"
            " last_accessed = max(last_accessed, min(?1, ifnull(?2, 0))) WHERE key = ?3",
            (now, said_at, key),
        )

    def set_visibility(self, key: NodeKey, visibility: Visibility, *, now: int) -> None:
        """Say who may have a memory from now on."""
        self._connection.execute(
            "UPDATE nodes SET visibility = ?, updated_at = ? WHERE key = ?", (visibility, now, int(key))
        )

    def update_node(self, node_id: str, *, now: int, reason: str | None = None, **changes: Any) -> bool:
        """Change a node's fields and return whether it exists; a new tier is logged (SPEC-02.22, .19).

        Raises:
            BadRequestError: a field that may not be changed, or a value that it can't have.
        """
        check_changes(changes)
        node = self.get_node(node_id)
        if node is None:
            return False
        if changes:
            self._write_changes(node, changes, now)
        if changes.get("tier", node.tier) != node.tier:
            self._log.add_entry(
                "tier", [node.id], now=now, from_tier=node.tier, to_tier=Tier(changes["tier"]), reasoning=reason
            )
        return True

    def _write_changes(self, node: Node, changes: dict[str, Any], now: int) -> None:
        if "content" in changes or "title" in changes:
            title, content = changes.get("title", node.title), changes.setdefault("content", node.content)
            changes["content_hash"] = hash_content(content)
            self._connection.execute("UPDATE chunk_turns SET packed = 0 WHERE node_key = ?", (node.key,))
            self._keywords.put_text(node.key, title=title, body=content, extra=changes.pop("extra_terms", None))
            self.queue_for_fingerprint([node.key], now=now)
        if "metadata" in changes:
            changes["metadata"] = encode_metadata(changes["metadata"])
        assignments = ", ".join(f"{name} = ?" for name in changes)
        self._connection.execute(
            f"UPDATE nodes SET {assignments}, updated_at = ? WHERE key = ?", (*changes.values(), now, node.key)
        )

    def delete_node(self, node_id: str, *, now: int, reason: str | None = None) -> bool:
        """Forget a node softly: tier `archive`, out of every search, restorable for 30 days (SPEC-02.23, E.16)."""
        node = self.get_node(node_id)
        if node is None or (node.deleted_at is not None and not has_faded(self._log, node.id)):
            return False
        self._connection.execute(
            "UPDATE nodes SET deleted_at = ?, updated_at = ?, tier = 'archive',"
            " metadata = json_set(metadata, '$.tier_before', coalesce(json_extract(metadata, '$.tier_before'), tier))"
            " WHERE key = ?",
            (now, now, node.key),
        )
        if node.origin == Origin.TOOL:
            self.drop_told_before(node)
        self._log.add_entry("forget", [node.id], now=now, from_tier=node.tier, to_tier=Tier.ARCHIVE, reasoning=reason)
        return True

    def restore_node(self, node_id: str, *, now: int, reason: str | None = None) -> bool:
        """Bring a forgotten node back as it was; False if it is not forgotten or its 30 days are over.

        It counts as accessed now; otherwise a faded memory would fade again at once.
        """
        node = self.get_node(node_id)
        if node is None or not node.is_restorable(now):
            return False
        tier = Tier(node.metadata.get("tier_before", Tier.LONGTERM))
        self._connection.execute(
            "UPDATE nodes SET deleted_at = NULL, updated_at = ?1, last_accessed = max(last_accessed, ?1), tier = ?2,"
            " metadata = json_remove(metadata, '$.tier_before') WHERE key = ?3",
            (now, tier, node.key),
        )
        FacetRows(self._connection).reopen_disputes(node)
        self._log.add_entry("restore", [node.id], now=now, from_tier=Tier.ARCHIVE, to_tier=tier, reasoning=reason)
        return True

    def query_nodes(
        self,
        type: str | None = None,
        tier: str | None = None,
        min_confidence: float | None = None,
        limit: int = 100,
        *,
        subtypes: Sequence[str] = (),
        scopes: Sequence[str] = (),
    ) -> list[Node]:
        """Return living nodes that match every filter given and are not withheld, newest first (SPEC-02.24)."""
        conditions = ["n.deleted_at IS NULL", "n.valid_until IS NULL", NOT_WITHHELD]
        values: list[Any] = []
        for condition, value in (("n.type = ?", type), ("n.tier = ?", tier), ("n.confidence >= ?", min_confidence)):
            if value is not None:
                conditions.append(condition)
                values.append(value)
        # Without a type, of which there are few, no index leads to a subtype.
        types = tuple(NodeType) if subtypes and type is None else ()
        for column, wanted in (("n.type", types), ("n.subtype", subtypes), ("s.id", scopes)):
            if wanted:
                conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
                values.append(json.dumps(list(wanted)))
        # Keys first: else whatever matches is read with its text, and sorted, for the few that are kept.
        keys = f"SELECT n.key FROM nodes n JOIN scopes s ON s.key = n.scope_key WHERE {' AND '.join(conditions)}"
        newest = "ORDER BY n.created_at DESC, n.key DESC"
        statement = f"{SELECT_NODE} WHERE n.key IN ({keys} {newest} LIMIT ?) {newest}"
        return [node_from_row(row) for row in self._connection.execute(statement, (*values, limit))]

    def reinforce_nodes(self, keys: Sequence[int], *, now: int) -> None:
        """Note that a caller recalled these nodes (B.12): counted, dated, and a little surer.

        Recalling undoes the fading: the confidence is that of the last access again, and gains
        `0.05 * ln(1 + access_count / 20)`. It is capped at 1; what was extracted, at the trust in its sources.
        """
        self._connection.executemany(
            """
            UPDATE nodes SET
                confidence = min(max(confidence, coalesce(json_extract(metadata, '$.trust'), 1.0)),
                    confidence + 0.05 * ln1p((access_count + 1) / 20.0)),
                access_count = access_count + 1,
                last_accessed = max(last_accessed, ?1)
            WHERE key = ?2
            """,
            [(now, int(key)) for key in keys],
        )

    def queue_for_fingerprint(self, keys: Iterable[int], *, now: int) -> None:
        """Put nodes into the durable queue of those without a fingerprint (B.03)."""
        self._connection.executemany(
            "INSERT INTO pending(node_key, queued_at) VALUES (?, ?)"
            " ON CONFLICT(node_key) DO UPDATE SET queued_at = excluded.queued_at, attempts = 0, error = NULL",
            [(int(key), now) for key in keys],
        )
