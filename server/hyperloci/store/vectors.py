"""Fingerprints: writing them whole, and finding the nearest ones.

A search scans sign bits held in memory (48 bytes a vector), ranks the best few thousand by the query's floats against
those bits, and scores what is left exactly from the stored float rows: recall@10 0.99 at a million vectors in 6 ms
on one core (docs/benchmarks.md). A block of bits is loaded again only when its version moved.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey
from hyperloci.store.codes import BLOCK_ROWS, WORD_BITS, BoolArray, Codes, FloatArray, dot, sign_code, words_of
from hyperloci.store.stats import MAX_ATTEMPTS, get_meta, set_meta

FINE: Final = 300
"""Candidates scored from float rows."""

FEW: Final = 2 * BLOCK_ROWS
FINE_OF_FEW: Final = 1_000
"""Of so few, more are scored: a millisecond, for recall@10 0.994 at 5,000 random vectors (0.937 with FINE)."""

EXACT_BELOW: Final = 1_500
"""So few allowed vectors are scored exactly at once: cheaper than a scan."""

_MODEL_IN_USE: Final = "model_in_use"

FLOAT_BYTES: Final = 4
"""E1 is stored as float32."""

COLUMNS: Final = ("e1", "e5_cause", "e5_effect", "e7", "e8_out", "e8_in", "e9", "e10", "e11", "e12")


class Vectors:
    """The fingerprints of one database."""

    def __init__(self, connection: sqlite3.Connection, *, vec_attached: bool) -> None:
        self._connection = connection
        self._vec = vec_attached
        self._codes: dict[str, Codes] = {}

    def use_model(self, model_id: str, dimensions: int, *, now: int) -> int:
        """Return the key of the model that fingerprints are made with from now on.

        When it is another than before, every node that has a fingerprint is queued again (D.13).
        """
        self._connection.execute(
            "INSERT OR IGNORE INTO models(id, dimensions, first_used) VALUES (?, ?, ?)", (model_id, dimensions, now)
        )
        key = self.find_model(model_id)
        assert key is not None
        if get_meta(self._connection, _MODEL_IN_USE) != model_id:
            set_meta(self._connection, _MODEL_IN_USE, model_id)
            self._connection.execute(
                "INSERT OR IGNORE INTO pending(node_key, queued_at)"
                " SELECT node_key, ? FROM fingerprints WHERE model_key <> ?",
                (now, key),
            )
        return key

    def find_model(self, model_id: str) -> int | None:
        """Return the key of a model that has been used, or None."""
        row = self._connection.execute("SELECT key FROM models WHERE id = ?", (model_id,)).fetchone()
        return int(row[0]) if row else None

    def take_pending(self, limit: int) -> list[NodeKey]:
        """Return the next nodes of the queue: fewest failures first, newest first among those."""
        rows = self._connection.execute(
            "SELECT p.node_key FROM pending p JOIN nodes n ON n.key = p.node_key"
            " WHERE n.deleted_at IS NULL AND p.attempts < ? ORDER BY p.attempts, p.node_key DESC LIMIT ?",
            (MAX_ATTEMPTS, limit),
        )
        return [NodeKey(row[0]) for row in rows]

    def pending_count(self) -> int:
        """Return how many living nodes wait for a fingerprint; those given up are not counted."""
        row = self._connection.execute(
            "SELECT count(*) FROM pending p JOIN nodes n ON n.key = p.node_key"
            " WHERE n.deleted_at IS NULL AND p.attempts < ?",
            (MAX_ATTEMPTS,),
        ).fetchone()
        return int(row[0])

    def count(self, model_key: int | None = None) -> int:
        """Return how many fingerprints there are, of one model or of all."""
        row = self._connection.execute(
            "SELECT count(*) FROM fingerprints WHERE ?1 IS NULL OR model_key = ?1", (model_key,)
        ).fetchone()
        return int(row[0])

    def fail(self, keys: Iterable[int], error: str) -> None:
        """Note that the fingerprints of these nodes could not be made."""
        self._connection.executemany(
            "UPDATE pending SET attempts = attempts + 1, error = ? WHERE node_key = ?",
            [(error[:500], int(key)) for key in keys],
        )

    def put(self, key: NodeKey, model_key: int, spaces: Mapping[str, bytes], *, now: int) -> None:
        """Store a whole fingerprint and take the node off the queue (E.01: all spaces or none).

        Args:
            key: the node.
            model_key: the model that made the dense spaces.
            spaces: bytes by column of the fingerprints table; a space that is left out is absent.
            now: the time, in milliseconds.
        """
        _check_spaces(spaces)
        self._connection.execute(
            f"INSERT OR REPLACE INTO fingerprints(node_key, model_key, made_at, {', '.join(COLUMNS)})"
            f" VALUES (?, ?, ?, {', '.join('?' * len(COLUMNS))})",
            (key, model_key, now, *(spaces.get(column) for column in COLUMNS)),
        )
        if "e1" in spaces:
            self._put_code("e1", key, sign_code(np.frombuffer(spaces["e1"], np.float32)))
        self._connection.execute("DELETE FROM pending WHERE node_key = ?", (key,))

    def _put_code(self, space: str, key: NodeKey, code: bytes) -> None:
        block, slot = divmod(int(key), BLOCK_ROWS)
        # A random version, not the next one: the number of a transaction that was rolled back would come again.
        row = self._connection.execute(
            "UPDATE code_blocks SET version = random() WHERE space = ? AND block = ? RETURNING key, length(codes)",
            (space, block),
        ).fetchone()
        if row is None or row[1] != BLOCK_ROWS * len(code):
            self._write_block(space, block, len(code))
            return
        with self._connection.blobopen("code_blocks", "codes", int(row[0])) as blob:
            blob.seek(slot * len(code))
            blob.write(code)

    def _write_block(self, space: str, block: int, width: int) -> None:
        """Make a block anew from the stored vectors whose codes are `width` bytes wide."""
        self._connection.execute(
            "INSERT INTO code_blocks(space, block, version, codes) VALUES (?, ?, random(), ?)"
            " ON CONFLICT(space, block) DO UPDATE SET codes = excluded.codes, version = excluded.version",
            (space, block, self._codes_of_block(space, block, width)),
        )

    def _codes_of_block(self, space: str, block: int, width: int) -> bytes:
        first = block * BLOCK_ROWS
        codes = bytearray(BLOCK_ROWS * width)
        for key, vector in self._connection.execute(
            f"SELECT node_key, {space} FROM fingerprints WHERE node_key >= ? AND node_key < ? AND {space} IS NOT NULL",
            (first, first + BLOCK_ROWS),
        ):
            code = sign_code(np.frombuffer(vector, np.float32))
            if len(code) == width:
                start = (key - first) * width
                codes[start : start + width] = code
        return bytes(codes)

    def wrong_blocks(self) -> int:
        """Return how many blocks of codes miss a code of the latest model's vectors, or have one wrong."""
        stored = {
            row["block"]: row["codes"]
            for row in self._connection.execute("SELECT block, codes FROM code_blocks WHERE space = 'e1'")
        }
        return sum(
            not _covers(stored.get(block, b""), self._codes_of_block("e1", block, width))
            for block, width in self._widths().items()
        )

    def rebuild_codes(self) -> None:
        """Make all blocks of codes anew from the vectors, as wide as those of the latest model in each."""
        self._connection.execute("DELETE FROM code_blocks")
        for block, width in self._widths().items():
            self._write_block("e1", block, width)

    def _widths(self) -> dict[int, int]:
        """Return the width in bytes of the codes of each block: that of the vector that was made last."""
        rows = self._connection.execute(
            f"SELECT node_key / {BLOCK_ROWS} AS block, length(e1), max(made_at) FROM fingerprints"
            " WHERE e1 IS NOT NULL GROUP BY block"
        )
        return {row[0]: words_of(row[1] // FLOAT_BYTES) * WORD_BITS // 8 for row in rows}

    def nearest(
        self, query: FloatArray, allowed: BoolArray, model_key: int, k: int, *, space: str = "e1"
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the node keys nearest to a unit vector and their cosines, best first.

        Args:
            query: shape (dimensions,), unit length.
            allowed: bitmap over node keys: which may be returned.
            model_key: only vectors of this model are compared.
            k: how many at most.
            space: the space to search, one with codes.
        """
        candidates = np.flatnonzero(allowed)
        if len(candidates) > EXACT_BELOW:
            codes = self._codes_of(space, len(query))
            if codes is None:
                return np.empty(0, np.int64), np.empty(0, np.float32)
            fine = FINE_OF_FEW if codes.rows <= FEW else FINE
            candidates = codes.candidates(query, allowed, max(fine, k))
        return self.exact(query, candidates, model_key, k, space=space)

    def exact(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, k: int, *, space: str = "e1"
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the best `k` of `keys` by cosine, ties by key, from the stored rows."""
        _check_spaces([space])
        if not len(keys):
            return np.empty(0, np.int64), np.empty(0, np.float32)
        found, scores = (self._exact_by_vec if self._vec else self._exact_by_numpy)(query, keys, model_key, space)
        order = np.lexsort((found, -scores))[:k]
        return found[order], scores[order]

    def _exact_by_vec(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, space: str
    ) -> tuple[NDArray[np.int64], FloatArray]:
        rows = self._connection.execute(
            f"SELECT f.node_key, coalesce(1 - vec_distance_cosine(f.{space}, ?1), 0) FROM json_each(?2) j"
            f" JOIN fingerprints f ON f.node_key = j.value WHERE f.model_key = ?3 AND length(f.{space}) = length(?1)",
            (query.astype(np.float32).tobytes(), json.dumps(keys.tolist()), model_key),
        ).fetchall()
        return np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.float32)

    def _exact_by_numpy(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, space: str
    ) -> tuple[NDArray[np.int64], FloatArray]:
        rows = self._connection.execute(
            f"SELECT f.node_key, f.{space} FROM json_each(?1) j JOIN fingerprints f ON f.node_key = j.value"
            f" WHERE f.model_key = ?2 AND length(f.{space}) = ?3",
            (json.dumps(keys.tolist()), model_key, FLOAT_BYTES * len(query)),
        ).fetchall()
        matrix = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), -1)
        scores = dot(matrix, query.astype(np.float32)) if rows else np.empty(0, np.float32)
        return np.array([row[0] for row in rows], np.int64), scores

    def rows(self, keys: Iterable[int], columns: Sequence[str]) -> dict[NodeKey, tuple[bytes | None, ...]]:
        """Return the stored bytes of some spaces of some nodes; None where a space is absent."""
        _check_spaces(columns)
        found = self._connection.execute(
            f"SELECT f.node_key, {', '.join('f.' + column for column in columns)}"
            " FROM json_each(?) j JOIN fingerprints f ON f.node_key = j.value",
            (json.dumps([int(key) for key in keys]),),
        )
        return {NodeKey(row[0]): tuple(row)[1:] for row in found}

    def _codes_of(self, space: str, dimensions: int) -> Codes | None:
        words = words_of(dimensions)
        codes = self._codes.get(space)
        if codes is None or codes.words != words:
            codes = self._codes[space] = Codes(words)
        codes.refresh(self._connection, space)
        return codes if codes.rows else None


def _covers(stored: bytes, wanted: bytes) -> bool:
    """Tell whether a block has every code that is wanted; codes of vectors that are gone do no harm."""
    if len(stored) != len(wanted):
        return False
    have, want = (np.frombuffer(codes, np.uint64).reshape(BLOCK_ROWS, -1) for codes in (stored, wanted))
    present = want.any(axis=1)
    return bool((have[present] == want[present]).all())


def _check_spaces(names: Iterable[str]) -> None:
    # Names become part of the SQL.
    unknown = sorted(set(names) - set(COLUMNS))
    if unknown:
        raise ValueError(f"unknown spaces {unknown}: use {', '.join(COLUMNS)}")
