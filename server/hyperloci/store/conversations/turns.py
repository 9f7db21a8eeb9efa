"""Turns of a session, as their capture needs them: order, duplicates, and what to keep."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from typing import Final

from hyperloci.model.kinds import NodeId, NodeKey
from hyperloci.model.node import Node
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.memories.node_rows import SELECT_NODE, hash_content, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass

_SELECT_SAME_TEXT: Final = (
    "SELECT n.key, n.session_key, n.event_time, json_extract(n.metadata, '$.role') AS role,"
    " json_extract(n.metadata, '$.uuid') AS uuid, json_extract(n.metadata, '$.ref') AS ref"
    " FROM nodes n INDEXED BY idx_nodes_content WHERE n.content_hash = ? AND n.scope_key = ? AND n.type = 'experience'"
    " AND n.subtype IN ('episode', 'action') ORDER BY n.key"
)

_SELECT_PROMPTS_BESIDE: Final = """
SELECT a.key, b.key FROM json_each(?) j CROSS JOIN nodes a ON a.key = j.value
CROSS JOIN nodes b ON b.session_key = a.session_key AND b.seq IN (
    (SELECT max(p.seq) FROM nodes p WHERE p.session_key = a.session_key AND p.seq < a.seq AND p.subtype = 'episode'),
    (SELECT min(p.seq) FROM nodes p WHERE p.session_key = a.session_key AND p.seq > a.seq AND p.subtype = 'episode'))
WHERE b.subtype = 'episode' AND b.origin = 'user_prompt' AND b.deleted_at IS NULL ORDER BY a.key, b.seq
"""

_SELECT_NEXT_PROMPTS: Final = """
SELECT a.key, b.key FROM json_each(?) j CROSS JOIN nodes a ON a.key = j.value
CROSS JOIN nodes b ON b.session_key = a.session_key AND b.seq = (
    SELECT min(p.seq) FROM nodes p WHERE p.session_key = a.session_key AND p.seq > a.seq
    AND p.subtype = 'episode' AND p.origin = 'user_prompt')
WHERE b.subtype = 'episode' AND b.deleted_at IS NULL ORDER BY a.key
"""

_SELECT_OPEN_PROMPTS: Final = """
SELECT a.key FROM json_each(?) j CROSS JOIN nodes a ON a.key = j.value
CROSS JOIN sessions s ON s.key = a.session_key AND s.ended_at IS NULL
WHERE a.subtype = 'episode' AND a.origin = 'user_prompt' AND NOT EXISTS (
    SELECT 1 FROM nodes p WHERE p.session_key = a.session_key AND p.seq > a.seq AND p.subtype = 'episode')
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SameTurn:
    """A stored turn with the same text.

    Attributes:
        key, session_key: the node, and its session.
        role: who said it.
        uuid: its id in the transcript, once it was met there.
        ref: the id of the hook's record of it, once there was one.
        event_time: when it was said.
    """

    key: NodeKey
    session_key: int | None
    role: str | None
    uuid: str | None
    ref: str | None
    event_time: int


class TurnRows:
    """The episodes and actions of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_same_text(self, scope_key: int, text: str) -> list[SameTurn]:
        """Return the turns of a scope with this very text, oldest first; forgotten ones too, so that they stay so."""
        return [
            SameTurn(
                key=NodeKey(row["key"]),
                session_key=row["session_key"],
                role=row["role"],
                uuid=row["uuid"],
                ref=row["ref"],
                event_time=row["event_time"],
            )
            for row in self._connection.execute(_SELECT_SAME_TEXT, (hash_content(text), scope_key))
        ]

    def has_place(self, session_key: int, place: str) -> bool:
        """Tell whether a turn of a session was stored under a place."""
        row = self._connection.execute(
            "SELECT 1 FROM nodes WHERE session_key = ? AND place = ? LIMIT 1", (session_key, place)
        ).fetchone()
        return row is not None

    def find_places(self, session_key: int, places: Iterable[str]) -> frozenset[str]:
        """Return those of some places under which a turn of a session was stored, in one look at its turns."""
        rows = self._connection.execute(
            "SELECT place FROM nodes WHERE session_key = ? AND place IN (SELECT value FROM json_each(?))",
            (session_key, json.dumps(list(places))),
        )
        return frozenset(row[0] for row in rows)

    def get_last(self, session_key: int, role: str | None = None) -> Node | None:
        """Return the last episode of a session (of one speaker: that is not withheld), or None."""
        return next(iter(self._list_outermost(session_key, role, "DESC", 1)), None)

    def list_first(self, session_key: int, role: str | None, limit: int) -> list[Node]:
        """Return the first episodes of a session in order (of one speaker: those that are not withheld)."""
        return self._list_outermost(session_key, role, "ASC", limit)

    def find_first_action(self, session_key: int) -> int | None:
        """Return the number of the first turn of a session that is something done, None where nothing was."""
        row = self._connection.execute(
            "SELECT min(seq) FROM nodes WHERE session_key = ? AND subtype = 'action' AND deleted_at IS NULL",
            (session_key,),
        ).fetchone()
        return None if row[0] is None else int(row[0])

    def _list_outermost(self, session_key: int, role: str | None, order: str, limit: int) -> list[Node]:
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ?1 AND n.subtype = 'episode' AND n.deleted_at IS NULL"
            f" AND (?2 IS NULL OR (json_extract(n.metadata, '$.role') = ?2 AND {NOT_WITHHELD}))"
            f" ORDER BY n.seq {order} LIMIT ?3",
            (session_key, role, limit),
        )
        return [node_from_row(row) for row in rows]

    def list_prompts_beside(self, keys: Iterable[NodeKey]) -> list[tuple[NodeKey, NodeKey]]:
        """Return turns with what the user said right before and right after each of them in its session."""
        rows = self._connection.execute(_SELECT_PROMPTS_BESIDE, (encode_keys(keys),))
        return [(NodeKey(row[0]), NodeKey(row[1])) for row in rows]

    def list_next_prompts(self, keys: Iterable[NodeKey]) -> list[tuple[NodeKey, NodeKey]]:
        """Return turns with what the user said next in the session of each, where there was more to say."""
        rows = self._connection.execute(_SELECT_NEXT_PROMPTS, (encode_keys(keys),))
        return [(NodeKey(row[0]), NodeKey(row[1])) for row in rows]

    def select_open_prompts(self, keys: Iterable[NodeKey]) -> frozenset[NodeKey]:
        """Return those of some turns that are the last prompt of a session that goes on, and are not answered yet."""
        rows = self._connection.execute(_SELECT_OPEN_PROMPTS, (encode_keys(keys),))
        return frozenset(NodeKey(row[0]) for row in rows)

    def set_ids(self, key: NodeKey, *, uuid: str | None = None, ref: str | None = None) -> None:
        """Note the id by which a stored turn is known in the transcript, or to the hooks."""
        known = {name: value for name, value in (("uuid", uuid), ("ref", ref)) if value is not None}
        self._connection.execute(
            "UPDATE nodes SET metadata = json_patch(metadata, ?) WHERE key = ?", (json.dumps(known), key)
        )

    def add_spoken_times(self, key: NodeKey, times: Iterable[tuple[int, int, str]]) -> None:
        """Store since, until and words of the days that a turn speaks of, as `text.language` finds them."""
        self._connection.executemany(
            "INSERT OR IGNORE INTO spoken_times(node_key, since, until, phrase) VALUES (?, ?, ?, ?)",
            [(key, *time) for time in times],
        )

    def get_spoken_times(self, keys: Iterable[int]) -> dict[NodeKey, list[tuple[int, int, str]]]:
        """Return since, until and words of the days that turns speak of, those of each in order."""
        found: dict[NodeKey, list[tuple[int, int, str]]] = {}
        for row in self._connection.execute(
            "SELECT node_key, since, until, phrase FROM spoken_times"
            " WHERE node_key IN (SELECT value FROM json_each(?)) ORDER BY node_key, since, until, phrase",
            (encode_keys(keys),),
        ):
            found.setdefault(NodeKey(row[0]), []).append((row[1], row[2], row[3]))
        return found

    def list_worth_keeping(self, session_key: int) -> list[NodeId]:
        """Return what a session leaves in tier `task` that was recalled or extracted (requirements, F).

        Confirmed memories have already left that tier.
        """
        rows = self._connection.execute(
            "SELECT id FROM nodes INDEXED BY idx_nodes_session"
            " WHERE session_key = ? AND tier = 'task' AND deleted_at IS NULL"
            " AND (access_count > 0 OR origin = 'extraction') ORDER BY key",
            (session_key,),
        )
        return [NodeId(row[0]) for row in rows]

    def move_to_session(self, node_ids: list[NodeId], *, now: int) -> None:
        """Move nodes to tier `session`; the caller logs it."""
        self._connection.execute(
            "UPDATE nodes SET tier = 'session', updated_at = ? WHERE id IN (SELECT value FROM json_each(?))",
            (now, json.dumps(node_ids)),
        )
