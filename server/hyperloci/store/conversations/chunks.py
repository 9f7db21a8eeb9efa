"""Pyramid chunks: chunks of a session's turns, which turn is in which chunk, and where the texts are."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hyperloci.model.kinds import NodeId, NodeKey
from hyperloci.model.node import Node
from hyperloci.model.pyramid import ArchivePlace, ChunkStage, Digest, PyramidChunk
from hyperloci.model.pyramid_levels import PyramidLevel
from hyperloci.model.turn import Speaker, Turn, TurnKind
from hyperloci.store.archive.compressed_turns import pack_turns, unpack_turns
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.memories.node_rows import SELECT_NODE, node_from_row
from hyperloci.store.memories.withheld import NOT_WITHHELD
from hyperloci.system.values import dataclass

EXCERPT_CHARS: Final = 160
"""What a packed turn keeps in its node: what is left of it when its archive is deleted. A shorter one stays whole."""

_SELECT_CHUNK: Final = "SELECT c.*, t.id AS session_id FROM chunks c JOIN sessions t ON t.key = c.session_key"
_IS_TURN: Final = "n.type = 'experience' AND n.subtype IN ('episode', 'action') AND n.seq IS NOT NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class PyramidProgress:
    """How far a session's pyramid has come: the first sequence number that no chunk of a level covers, and what waits.

    Attributes:
        session_key: the session.
        next_seq: of the session.
        ended_at: when it ended, None while it goes on.
        last_seen_at: when it was last heard of.
        micro, mini, macro: where the next chunk of the level begins.
        hot: micro-chunks not yet demoted.
        unfrozen: warm micro-chunks that lie under a macro-chunk.
        unsummarised: chunks that should have a summary and have none, or one of turns that were forgotten or withheld
            since.
    """

    session_key: int
    next_seq: int
    ended_at: int | None
    last_seen_at: int
    micro: int
    mini: int
    macro: int
    hot: int
    unfrozen: int
    unsummarised: int


_STALE: Final = """
SELECT u.key, u.session_key FROM chunks u WHERE u.node_key IS NULL AND u.stage <> 'hot' AND EXISTS (
    SELECT 1 FROM nodes l WHERE l.session_key = u.session_key AND l.seq BETWEEN u.first_seq AND u.last_seq
    AND l.deleted_at IS NULL AND l.key NOT IN (SELECT node_key FROM withheld))
UNION SELECT u.key, u.session_key FROM nodes f INDEXED BY idx_nodes_deleted CROSS JOIN chunks u
    ON u.session_key = f.session_key AND f.seq BETWEEN u.first_seq AND u.last_seq
WHERE f.deleted_at IS NOT NULL AND u.stage <> 'hot' AND u.summarised_at < f.deleted_at
UNION SELECT u.key, u.session_key FROM withheld w CROSS JOIN nodes f ON f.key = w.node_key CROSS JOIN chunks u
    ON u.session_key = f.session_key AND f.seq BETWEEN u.first_seq AND u.last_seq
WHERE u.node_key IS NOT NULL AND u.summarised_at < w.since
"""
"""Chunks without a summary, or with one of turns that were forgotten or withheld since. All are few, and found by an
index: this is asked every minute or so."""

_PROGRESS: Final = f"""
WITH stale AS ({_STALE}),
cut AS (
    SELECT session_key, max(CASE WHEN level = 'micro' THEN last_seq + 1 END) AS micro,
        max(CASE WHEN level = 'mini' THEN last_seq + 1 END) AS mini,
        max(CASE WHEN level = 'macro' THEN last_seq + 1 END) AS macro,
        sum(level = 'micro' AND stage = 'hot') AS hot
    FROM chunks WHERE ?1 IS NULL OR session_key = ?1 GROUP BY session_key)
SELECT t.key, t.next_seq, t.ended_at, t.last_seen_at, coalesce(c.micro, 0) AS micro, coalesce(c.mini, 0) AS mini,
    coalesce(c.macro, 0) AS macro, coalesce(c.hot, 0) AS hot,
    (SELECT count(*) FROM chunks w WHERE w.session_key = t.key AND w.level = 'micro' AND w.stage = 'warm'
        AND w.last_seq < c.macro) AS unfrozen,
    (SELECT count(*) FROM stale s WHERE s.session_key = t.key) AS unsummarised
FROM sessions t LEFT JOIN cut c ON c.session_key = t.key
WHERE t.next_seq > 0 AND (?1 IS NULL OR t.key = ?1) ORDER BY t.key
"""


class Chunks:
    """The chunks of one database. Every write expects to run inside a transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find_unfinished(self, session_key: int | None = None) -> list[PyramidProgress]:
        """Return how far the pyramids have come, of one session or of all that have turns."""
        return [
            PyramidProgress(
                session_key=row["key"],
                next_seq=row["next_seq"],
                ended_at=row["ended_at"],
                last_seen_at=row["last_seen_at"],
                micro=row["micro"],
                mini=row["mini"],
                macro=row["macro"],
                hot=row["hot"],
                unfrozen=row["unfrozen"],
                unsummarised=row["unsummarised"],
            )
            for row in self._connection.execute(_PROGRESS, (session_key,))
        ]

    def get_chunk(self, chunk_id: str) -> PyramidChunk | None:
        """Return a chunk by its id, or None."""
        row = self._connection.execute(f"{_SELECT_CHUNK} WHERE c.id = ?", (chunk_id,)).fetchone()
        return _chunk_from_row(row) if row else None

    def get_by_keys(self, keys: Iterable[int]) -> list[PyramidChunk]:
        """Return chunks by their keys."""
        return self._select_chunks("c.key IN (SELECT value FROM json_each(?))", (json.dumps(list(keys)),))

    def list_of_session(self, session_key: int, level: PyramidLevel | None = None) -> list[PyramidChunk]:
        """Return a session's chunks in their order, of one level or of all."""
        return self._select_chunks("c.session_key = ?1 AND (?2 IS NULL OR c.level = ?2)", (session_key, level))

    def find_covering(self, session_key: int, seq: int) -> list[PyramidChunk]:
        """Return the chunks that a turn stands in."""
        return self._select_chunks("c.session_key = ?1 AND ?2 BETWEEN c.first_seq AND c.last_seq", (session_key, seq))

    def _select_chunks(self, condition: str, values: Sequence[object]) -> list[PyramidChunk]:
        rows = self._connection.execute(
            f"{_SELECT_CHUNK} WHERE {condition} ORDER BY c.session_key, c.first_seq", values
        )
        return [_chunk_from_row(row) for row in rows]

    def list_turns(self, session_key: int, first: int, last: int, *, forgotten: bool = True) -> list[Node]:
        """Return the turns of a session with sequence numbers `first` to `last`, as they were said, in order.

        `forgotten`: those too that were forgotten, or that no session is to be shown.
        """
        rows = self._connection.execute(
            f"{SELECT_NODE} WHERE n.session_key = ?1 AND n.seq BETWEEN ?2 AND ?3 AND {_IS_TURN}"
            f" AND (?4 OR (n.deleted_at IS NULL AND {NOT_WITHHELD})) ORDER BY n.seq",
            (session_key, first, last, forgotten),
        )
        return [node_from_row(row) for row in rows]

    def list_sequence_numbers(self, session_key: int, first: int, last: int) -> list[int]:
        """Return the sequence numbers of the turns that there are from `first` to `last`."""
        rows = self._connection.execute(
            f"SELECT n.seq FROM nodes n WHERE n.session_key = ? AND n.seq BETWEEN ? AND ? AND {_IS_TURN} ORDER BY"
            f" n.seq",
            (session_key, first, last),
        )
        return [row[0] for row in rows]

    def count_tokens_of(self, keys: Iterable[int]) -> dict[NodeKey, int]:
        """Return the tokens of those turns that stand in a micro-chunk."""
        rows = self._connection.execute(
            "SELECT node_key, tokens FROM chunk_turns WHERE node_key IN (SELECT value FROM json_each(?))",
            (encode_keys(keys),),
        )
        return {NodeKey(row[0]): row[1] for row in rows}

    def get_paths(self, keys: Iterable[int]) -> dict[NodeKey, str]:
        """Return the files that actions changed."""
        rows = self._connection.execute(
            "SELECT node_key, path FROM positions WHERE path IS NOT NULL"
            " AND node_key IN (SELECT value FROM json_each(?))",
            (encode_keys(keys),),
        )
        return {NodeKey(row[0]): row[1] for row in rows}

    def create_chunk(
        self, level: PyramidLevel, session_key: int, turns: Sequence[Node], tokens: Sequence[int], *, now: int
    ) -> int:
        """Store a chunk over turns of a session and return its key; the turns of a micro-chunk are noted in it."""
        cursor = self._connection.execute(
            "INSERT INTO chunks(id, session_key, level, stage, first_seq, last_seq, turns, tokens, started_at,"
            " ended_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                str(uuid.uuid4()),
                session_key,
                level,
                ChunkStage.HOT,
                turns[0].seq,
                turns[-1].seq,
                len(turns),
                sum(tokens),
                min(turn.event_time for turn in turns),
                max(turn.event_time for turn in turns),
                now,
            ),
        )
        key = int(cursor.lastrowid or 0)
        if level is PyramidLevel.MICRO:
            self._connection.executemany(
                "INSERT INTO chunk_turns(node_key, chunk_key, place, tokens) VALUES (?, ?, ?, ?)",
                [(turn.key, key, place, count) for place, (turn, count) in enumerate(zip(turns, tokens, strict=True))],
            )
        return key

    def set_summary_node(self, chunk: PyramidChunk, node: Node) -> None:
        """Make a node the chunk's summary, and the chunk's id the node's."""
        self._connection.execute("UPDATE nodes SET id = ? WHERE key = ?", (chunk.id, node.key))
        self._connection.execute("UPDATE chunks SET node_key = ? WHERE key = ?", (node.key, chunk.key))

    def set_digest(self, chunk: PyramidChunk, digest: Digest, *, now: int) -> None:
        """Store what was extracted from a chunk."""
        self._connection.execute(
            "UPDATE chunks SET key_facts = ?, themes = ?, summarised_at = ? WHERE key = ?",
            (_to_json(digest.key_facts), _to_json(digest.themes), now, chunk.key),
        )

    def set_stage(self, chunk: PyramidChunk, stage: ChunkStage) -> None:
        """Note that a chunk that holds no texts itself has moved."""
        self._connection.execute("UPDATE chunks SET stage = ? WHERE key = ?", (stage, chunk.key))

    def pack_turns(self, chunk: PyramidChunk, turns: Sequence[Node], paths: Mapping[NodeKey, str]) -> None:
        """Move the texts of a micro-chunk's turns into its CTF; their nodes keep the beginning (hot to warm)."""
        self._connection.execute(
            "UPDATE chunks SET stage = 'warm', ctf = ?, turns = ? WHERE key = ?",
            (pack_turns([turn_from_node(turn, paths.get(turn.key)) for turn in turns]), len(turns), chunk.key),
        )
        self._connection.executemany(
            "UPDATE chunk_turns SET place = ?, packed = ? WHERE node_key = ?",
            [(place, len(turn.content) > EXCERPT_CHARS, turn.key) for place, turn in enumerate(turns)],
        )
        self._connection.executemany(
            "UPDATE nodes SET content = ? WHERE key = ?",
            [(cut_excerpt(turn.content), turn.key) for turn in turns if len(turn.content) > EXCERPT_CHARS],
        )

    def unpack_turns(self, chunk: PyramidChunk) -> Sequence[Turn] | None:
        """Return what a warm chunk's CTF holds, None for a chunk that isn't warm.

        Raises:
            BadRequestError, ValueError: it is damaged.
        """
        row = self._connection.execute("SELECT ctf FROM chunks WHERE key = ?", (chunk.key,)).fetchone()
        return None if row is None or row[0] is None else unpack_turns(row[0])

    def move_to_archive(self, chunk: PyramidChunk, place: ArchivePlace) -> None:
        """Note that a micro-chunk's turns are in the archive, and drop its CTF (warm to cold)."""
        self._connection.execute(
            "UPDATE chunks SET stage = 'cold', ctf = NULL, archive_day = ?, archive_offset = ?, archive_length = ?"
            " WHERE key = ?",
            (place.day, place.offset, place.length, chunk.key),
        )

    def get_archive_end(self, day: str) -> int:
        """Return where the last chunk in a day's archive ends, 0 if there is none."""
        row = self._connection.execute(
            "SELECT coalesce(max(archive_offset + archive_length), 0) FROM chunks WHERE archive_day = ?", (day,)
        ).fetchone()
        return int(row[0])

    def expire_archives(self, day: str) -> int:
        """Give up what is archived under a day and before; return how many chunks lost their texts.

        Their turns are from then on what their nodes kept of them.
        """
        self._connection.execute(
            "UPDATE chunk_turns SET packed = 0 WHERE chunk_key IN (SELECT key FROM chunks WHERE archive_day <= ?)",
            (day,),
        )
        return self._connection.execute(
            "UPDATE chunks SET archive_day = NULL, archive_offset = NULL, archive_length = NULL WHERE archive_day <= ?",
            (day,),
        ).rowcount

    def list_archived_days(self) -> list[str]:
        """Return the days under which chunks are archived, oldest first."""
        rows = self._connection.execute(
            "SELECT DISTINCT archive_day FROM chunks WHERE archive_day IS NOT NULL ORDER BY 1"
        )
        return [str(row[0]) for row in rows]

    def list_archived_until(self, day: str) -> list[PyramidChunk]:
        """Return the chunks that are archived under a day or one before it."""
        return self._select_chunks("c.archive_day <= ?", (day,))

    def find_stale(self, session_key: int) -> list[PyramidChunk]:
        """Return the chunks that should have a summary and have none, or one of turns that no session is to be shown.

        The small ones come first: the larger ones are made of them.
        """
        found = self._select_chunks(f"c.session_key = ? AND c.key IN (SELECT key FROM ({_STALE}))", (session_key,))
        return sorted(found, key=lambda chunk: list(PyramidLevel).index(chunk.level))

    def get_scope_id(self, session_key: int) -> str:
        """Return the id of a session's scope."""
        row = self._connection.execute(
            "SELECT s.id FROM sessions t JOIN scopes s ON s.key = t.scope_key WHERE t.key = ?", (session_key,)
        ).fetchone()
        return str(row[0])

    def get_turn_places(self, chunk: PyramidChunk) -> dict[NodeKey, int]:
        """Return the place of each turn of a micro-chunk."""
        rows = self._connection.execute("SELECT node_key, place FROM chunk_turns WHERE chunk_key = ?", (chunk.key,))
        return {NodeKey(row[0]): row[1] for row in rows}

    def get_content_hashes(self, chunk: PyramidChunk) -> dict[NodeKey, bytes]:
        """Return the SHA-256 of each turn of a chunk, as it was when it was stored."""
        rows = self._connection.execute(
            f"SELECT n.key, n.content_hash FROM nodes n WHERE n.session_key = ? AND n.seq BETWEEN ? AND ? AND"
            f" {_IS_TURN}",
            (chunk.session_key, chunk.first_seq, chunk.last_seq),
        )
        return {NodeKey(row[0]): bytes(row[1]) for row in rows}

    def find_place(self, node_key: NodeKey) -> tuple[PyramidChunk, int] | None:
        """Return the micro-chunk a turn stands in and its place there, or None."""
        row = self._connection.execute(
            "SELECT chunk_key, place FROM chunk_turns WHERE node_key = ?", (node_key,)
        ).fetchone()
        return None if row is None else (self.get_by_keys([row[0]])[0], row[1])

    def blank_turn(self, node_key: NodeKey) -> None:
        """Take a turn's text out of its warm chunk; the others keep their places. The archive is the caller's."""
        found = self.find_place(node_key)
        turns = None if found is None else self.unpack_turns(found[0])
        if found is None or turns is None:
            return
        gone = Turn(uuid="", role=Speaker.USER, text="", timestamp_ms=None)
        kept = [gone if place == found[1] else turn for place, turn in enumerate(turns)]
        self._connection.execute("UPDATE chunks SET ctf = ? WHERE key = ?", (pack_turns(kept), found[0].key))

    def count_by_stage(self) -> dict[str, dict[str, int]]:
        """Return by level and stage how many chunks there are, of how many turns and tokens, and their bytes here."""
        rows = self._connection.execute(
            "SELECT level || '_' || stage AS name, count(*) AS chunks, sum(turns) AS turns, sum(tokens) AS tokens,"
            " sum(coalesce(length(ctf), 0)) AS bytes FROM chunks GROUP BY level, stage ORDER BY level, stage"
        )
        return {row["name"]: {key: row[key] for key in ("chunks", "turns", "tokens", "bytes")} for row in rows}


def turn_from_node(node: Node, path: str | None = None) -> Turn:
    """Return the turn that a node keeps."""
    return Turn(
        uuid=str(node.metadata.get("uuid") or ""),
        role=Speaker(node.metadata.get("role", Speaker.USER)),
        text=node.content,
        timestamp_ms=node.event_time,
        kind=TurnKind.ACTION if node.subtype == "action" else TurnKind.TEXT,
        path=path,
    )


def cut_excerpt(text: str) -> str:
    """Return the beginning of a text, cut between words where there are any."""
    head = text[:EXCERPT_CHARS]
    cut = head.rsplit(None, 1)[0] if len(head.split()) > 1 else head
    return f"{cut.rstrip()} [...]"


def _to_json(values: Iterable[str]) -> str:
    return json.dumps(list(values), ensure_ascii=False)


def _chunk_from_row(row: sqlite3.Row) -> PyramidChunk:
    day = row["archive_day"]
    return PyramidChunk(
        key=row["key"],
        id=NodeId(row["id"]),
        session_key=row["session_key"],
        session_id=row["session_id"],
        level=PyramidLevel(row["level"]),
        stage=ChunkStage(row["stage"]),
        first_seq=row["first_seq"],
        last_seq=row["last_seq"],
        turns=row["turns"],
        tokens=row["tokens"],
        started_at=row["started_at"],
        ended_at=row["ended_at"],
        node_key=None if row["node_key"] is None else NodeKey(row["node_key"]),
        summarised_at=row["summarised_at"],
        key_facts=tuple(json.loads(row["key_facts"])),
        themes=tuple(json.loads(row["themes"])),
        archive=None if day is None else ArchivePlace(day, row["archive_offset"], row["archive_length"]),
    )
