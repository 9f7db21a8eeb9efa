"""Fingerprints: writing them whole, and finding the nearest ones.

A search scans sign bits held in memory (48 bytes a vector), ranks the best few thousand by the query's numbers against
two bits a dimension (96 bytes), and scores what is left exactly from the stored rows (`store.vectors.scan_codes`,
docs/benchmarks/embedding.md). A block of bits is loaded again only when its version moved.

It is one file, though long: what is written whole and what is scanned are the same columns, and one must not change
without the other.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey
from hyperloci.store.database.meta import Meta
from hyperloci.store.json_keys import encode_keys
from hyperloci.store.vectors import float16, int8
from hyperloci.store.vectors.bits import BoolArray, FloatArray
from hyperloci.store.vectors.block_sizes import BLOCK_ROWS, MAX_ATTEMPTS
from hyperloci.store.vectors.scan_codes import Codes, dot_products, words_per_code
from hyperloci.store.vectors.stored_vectors import (
    BIT_SPACE,
    CODE_BITS,
    FLOAT_SPACE,
    bytes_per_code,
    bytes_per_vector,
    dimensions_of,
    make_code,
    unpack_vectors,
)

FINE: Final = 256
"""Candidates scored from stored rows, 3 to 6 microseconds each: recall@10 1.0 at 10,000 and 100,000 memories with many
near twins and 0.998 at 600,000 (200: 0.997, 150: 0.988). By signs alone it took 600 of them for 0.983."""

EXACT_PER_WANTED: Final = 3
"""And so many for each that is wanted: of the 100 nearest of 5,000 random vectors, the worst there are, 0.947."""

EXACT_BELOW: Final = FINE
"""So few allowed vectors are scored exactly at once."""

_MODEL_IN_USE: Final = "model_in_use"
_MODEL_SINCE: Final = "model_in_use_since"

SCANNED_SPACES: Final = ("e1", "e7", "e9", "e10")
"""Spaces whose codes are held for scans: those that find memories on their own, where they are asked to. The others
score what these and the words found."""

COLUMNS: Final = ("e1", "e5_cause", "e5_effect", "e7", "e8_out", "e8_in", "e9", "e10", "e11", "e12")


class Fingerprints:
    """The fingerprints of one database."""

    def __init__(self, connection: sqlite3.Connection, *, vec_attached: bool) -> None:
        self._connection = connection
        self._meta = Meta(connection)
        self._vec = vec_attached
        self._codes: dict[str, Codes] = {}

    def use_model(self, model_id: str, dimensions: int, *, now: int) -> int:
        """Return the key of the model that fingerprints are made with from now on.

        When it is another than before, every node that has a fingerprint is queued again (D.13). Where only what
        follows a `+` in the id differs, E1 is the same and stays comparable meanwhile.
        """
        self._connection.execute(
            "INSERT OR IGNORE INTO models(id, dimensions, first_used) VALUES (?, ?, ?)", (model_id, dimensions, now)
        )
        key = self.find_model(model_id)
        assert key is not None
        before = self.get_model_in_use()
        if before != model_id:
            self._meta.set(_MODEL_IN_USE, model_id)
            self._meta.set(_MODEL_SINCE, str(now))
            self._connection.execute(
                "INSERT OR IGNORE INTO pending(node_key, queued_at)"
                " SELECT node_key, ? FROM fingerprints WHERE model_key <> ?",
                (now, key),
            )
            if before is not None and meaning_model_of(before) == meaning_model_of(model_id):
                self._copy_known_meaning(before, key)
        return key

    def _copy_known_meaning(self, before: str, key: int) -> None:
        """Take over what E1 saw, which is the same: search by meaning goes on while the rest is made anew."""
        others = [column for column in COLUMNS if column != FLOAT_SPACE]
        self._connection.execute(
            f"UPDATE fingerprints SET model_key = ?, {', '.join(f'{column} = NULL' for column in others)}"
            " WHERE model_key = (SELECT key FROM models WHERE id = ?)",
            (key, before),
        )
        self._connection.execute("DELETE FROM code_blocks WHERE space <> ?", (FLOAT_SPACE,))

    def get_model_in_use(self) -> str | None:
        """Return the id of the model that fingerprints are made with, None before the first."""
        return self._meta.get(_MODEL_IN_USE)

    def get_time_taken_over(self) -> int | None:
        """Return since when that model is in use (Unix ms), None if nobody noted it."""
        since = self._meta.get(_MODEL_SINCE)
        return None if since is None else int(since)

    def find_model(self, model_id: str) -> int | None:
        """Return the key of a model that has been used, or None."""
        row = self._connection.execute("SELECT key FROM models WHERE id = ?", (model_id,)).fetchone()
        return int(row[0]) if row else None

    def list_pending(self, limit: int, *, at_hand: int | None = None) -> list[NodeKey]:
        """Return the next nodes of the queue: fewest failures first, then by lane (migration 0012).

        Args:
            limit: how many at most.
            at_hand: the project whose nodes come before those of others in each lane, and its files before others'
                commits; before its files comes what people said anywhere.
        """
        said, untried, tried = "attempts = 0 AND p.lane = 0", "attempts = 0", f"attempts < {MAX_ATTEMPTS}"
        steps = ((said, at_hand), (said, None), (untried, at_hand)) if at_hand is not None else ()
        found: dict[NodeKey, None] = {}
        for condition, scope_key in (*steps, (tried, None)):
            if len(found) < limit:
                found |= dict.fromkeys(self._list_in_order(condition, scope_key, limit))
        return list(found)[:limit]

    def _list_in_order(self, condition: str, scope_key: int | None, limit: int) -> list[NodeKey]:
        """Return the first of the queue, or of a project's part of it, by an index: the rest is not looked at."""
        index, whose = ("order", "") if scope_key is None else ("scope", "p.scope_key = ?2 AND ")
        rows = self._connection.execute(
            f"SELECT p.node_key FROM pending p INDEXED BY idx_pending_{index}"
            f" CROSS JOIN nodes n ON n.key = p.node_key WHERE {whose}p.{condition} AND n.deleted_at IS NULL"
            " ORDER BY p.attempts, p.lane, p.turn, p.node_key LIMIT ?1",
            (limit,) if scope_key is None else (limit, scope_key),
        )
        return [NodeKey(row[0]) for row in rows]

    def count_pending(self, scopes: Sequence[str] | None = None) -> int:
        """Return how many living nodes wait for a fingerprint, of some projects or all; those given up don't count."""
        sql = (
            "SELECT count(*) FROM pending p JOIN nodes n ON n.key = p.node_key"
            " WHERE n.deleted_at IS NULL AND p.attempts < ?1 AND (?2 IS NULL OR n.scope_key IN"
            " (SELECT s.key FROM scopes s JOIN json_each(?2) j ON j.value = s.id))"
        )
        wanted = None if scopes is None else json.dumps(list(scopes))
        return int(self._connection.execute(sql, (MAX_ATTEMPTS, wanted)).fetchone()[0])

    def count_given_up(self) -> int:
        """Return how many nodes have failed so often that they get no fingerprint."""
        row = self._connection.execute("SELECT count(*) FROM pending WHERE attempts >= ?", (MAX_ATTEMPTS,)).fetchone()
        return int(row[0])

    def count_embedded(self, allowed: BoolArray, dimensions: int) -> int:
        """Return how many of the allowed nodes can be found by meaning: by codes in memory, no row is looked at.

        Args:
            allowed: bitmap over node keys.
            dimensions: of the query's vector in E1.
        """
        codes = self._refresh_codes(FLOAT_SPACE, dimensions)
        if codes is None:
            return 0
        if self._connection.execute("SELECT count(*) FROM models").fetchone()[0] > 1:
            # Codes don't say whose they are; what an older model saw is in the queue.
            allowed = allowed.copy()
            keys = [row[0] for row in self._connection.execute("SELECT node_key FROM pending")]
            allowed[[key for key in keys if key < len(allowed)]] = False
        return codes.count_allowed(allowed)

    def count_fingerprints(self, model_key: int | None = None) -> int:
        """Return how many fingerprints there are, of one model or of all."""
        row = self._connection.execute(
            "SELECT count(*) FROM fingerprints WHERE ?1 IS NULL OR model_key = ?1", (model_key,)
        ).fetchone()
        return int(row[0])

    def note_failures(self, keys: Iterable[int], error: str) -> None:
        """Note that the fingerprints of these nodes could not be made."""
        self._connection.executemany(
            "UPDATE pending SET attempts = attempts + 1, error = ? WHERE node_key = ?",
            [(error[:500], int(key)) for key in keys],
        )

    def put_fingerprint(self, key: NodeKey, model_key: int, spaces: Mapping[str, bytes], *, now: int) -> None:
        """Store the whole fingerprint of one memory, as `put_fingerprints` does."""
        self.put_fingerprints({key: spaces}, model_key, now=now)

    def put_fingerprints(self, made: Mapping[NodeKey, Mapping[str, bytes]], model_key: int, *, now: int) -> None:
        """Store whole fingerprints and take the nodes off the queue (E.01: all spaces or none).

        Args:
            made: by node, bytes by column of the fingerprints table; a space that is left out is absent.
            model_key: the model that made the dense spaces.
            now: the time, in milliseconds.
        """
        for spaces in made.values():
            _check_spaces(spaces)
        known = "SELECT node_key FROM fingerprints WHERE node_key IN (SELECT value FROM json_each(?))"
        replaced = {row[0] for row in self._connection.execute(known, (encode_keys(made),))}
        self._connection.executemany(
            f"INSERT OR REPLACE INTO fingerprints(node_key, model_key, made_at, {', '.join(COLUMNS)})"
            f" VALUES (?, ?, ?, {', '.join('?' * len(COLUMNS))})",
            [(key, model_key, now, *map(spaces.get, COLUMNS)) for key, spaces in made.items()],
        )
        codes: dict[tuple[str, int], dict[int, bytes]] = {}
        for key, spaces in made.items():
            block, slot = divmod(int(key), BLOCK_ROWS)
            for space in SCANNED_SPACES:
                if space in spaces or key in replaced:
                    code = make_code(space, spaces[space]) if space in spaces else b""
                    codes.setdefault((space, block), {})[slot] = code
        for (space, block), slots in codes.items():
            self._put_codes(space, block, slots)
        self._connection.executemany("DELETE FROM pending WHERE node_key = ?", [(key,) for key in made])

    def _put_codes(self, space: str, block: int, slots: Mapping[int, bytes]) -> None:
        """Write codes into a block; an empty one zeroes the bits of a memory that had the space and has no more."""
        # A random version, not the next one: the number of a transaction that was rolled back would come again.
        row = self._connection.execute(
            "UPDATE code_blocks SET version = random() WHERE space = ? AND block = ? RETURNING key, length(codes)",
            (space, block),
        ).fetchone()
        widths = {len(code) for code in slots.values() if code}
        if widths and (row is None or widths != {row[1] // BLOCK_ROWS}):
            self._write_block(space, block, max(widths))
        elif row is not None:
            width = row[1] // BLOCK_ROWS
            with self._connection.blobopen("code_blocks", "codes", int(row[0])) as blob:
                for slot, code in slots.items():
                    blob.seek(slot * width)
                    blob.write(code or bytes(width))

    def _write_block(self, space: str, block: int, width: int) -> None:
        """Make a block anew from the stored vectors whose codes are `width` bytes wide."""
        self._connection.execute(
            "INSERT INTO code_blocks(space, block, version, codes) VALUES (?, ?, random(), ?)"
            " ON CONFLICT(space, block) DO UPDATE SET codes = excluded.codes, version = excluded.version",
            (space, block, self._make_block(space, block, width)),
        )

    def _make_block(self, space: str, block: int, width: int) -> bytes:
        first = block * BLOCK_ROWS
        codes = bytearray(BLOCK_ROWS * width)
        for key, vector in self._connection.execute(
            f"SELECT node_key, {space} FROM fingerprints WHERE node_key >= ? AND node_key < ? AND {space} IS NOT NULL",
            (first, first + BLOCK_ROWS),
        ):
            code = make_code(space, vector)
            if len(code) == width:
                start = (key - first) * width
                codes[start : start + width] = code
        return bytes(codes)

    def count_wrong_blocks(self) -> int:
        """Return how many blocks of codes of any space miss a code of the latest model's vectors, or have one wrong."""
        return sum(self._count_wrong_blocks(space) for space in SCANNED_SPACES)

    def _count_wrong_blocks(self, space: str) -> int:
        stored = {
            row["block"]: row["codes"]
            for row in self._connection.execute("SELECT block, codes FROM code_blocks WHERE space = ?", (space,))
        }
        return sum(
            not _has_columns(stored.get(block, b""), self._make_block(space, block, width))
            for block, width in self._code_widths(space).items()
        )

    def rebuild_codes(self) -> None:
        """Make all blocks of codes anew from the vectors, as wide as those of the latest model in each."""
        self._connection.execute("DELETE FROM code_blocks")
        for space in SCANNED_SPACES:
            for block, width in self._code_widths(space).items():
                self._write_block(space, block, width)

    def _code_widths(self, space: str) -> dict[int, int]:
        """Return the width in bytes of the codes of each block: that of the vector that was made last."""
        rows = self._connection.execute(
            f"SELECT node_key / {BLOCK_ROWS} AS block, length({space}), max(made_at) FROM fingerprints"
            f" WHERE {space} IS NOT NULL GROUP BY block"
        )
        return {row[0]: bytes_per_code(space, dimensions_of(space, row[1])) for row in rows}

    def find_nearest(
        self, query: FloatArray, allowed: BoolArray, model_key: int, k: int, *, space: str = "e1", roughly: bool = False
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the node keys nearest to a unit vector and their cosines, best first.

        Args:
            query: shape (dimensions,), unit length; for E9 one sign a bit (`bits.unpack_signs`), of any length.
            allowed: bitmap over node keys: which may be returned.
            model_key: only vectors of this model are compared.
            k: how many at most.
            space: the space to search, one of `SCANNED_SPACES`.
            roughly: estimate cosines by codes alone; any model's vectors of this length may then be among the answer.
        """
        if not roughly and np.count_nonzero(allowed) <= EXACT_BELOW:
            return self.find_nearest_exactly(query, np.flatnonzero(allowed), model_key, k, space=space)
        codes = self._refresh_codes(space, len(query))
        if codes is None:
            return np.empty(0, np.int64), np.empty(0, np.float32)
        wanted = k if roughly else max(FINE, EXACT_PER_WANTED * k)
        keys, estimated = codes.find_candidates(query, allowed, wanted, hastily=roughly and space != FLOAT_SPACE)
        return (keys, estimated) if roughly else self.find_nearest_exactly(query, keys, model_key, k, space=space)

    def estimate_cosines(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, *, space: str = "e1"
    ) -> FloatArray:
        """Return the cosines of nodes' vectors with a unit vector by their codes alone; nan for one without a vector.

        Args:
            query: shape (dimensions,), unit length.
            keys: the nodes, ascending.
            model_key: only vectors of this model are compared.
            space: one of `SCANNED_SPACES`.
        """
        codes = self._refresh_codes(space, len(query))
        if codes is None:
            return np.full(len(keys), np.nan, np.float32)
        found = codes.estimate_cosines(query, keys)
        # Codes don't say whose they are. While a new model takes over there are two.
        if self._connection.execute("SELECT count(*) FROM models").fetchone()[0] > 1:
            rows = self._connection.execute(
                "SELECT f.node_key FROM json_each(?1) j JOIN fingerprints f ON f.node_key = j.value"
                " WHERE f.model_key <> ?2",
                (encode_keys(keys.tolist()), model_key),
            )
            found[np.searchsorted(keys, [row[0] for row in rows])] = np.nan
        return found

    def find_nearest_exactly(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, k: int, *, space: str = "e1"
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return the best `k` of `keys` by cosine, ties by key, from the stored rows."""
        _check_spaces([space])
        if not len(keys):
            return np.empty(0, np.int64), np.empty(0, np.float32)
        # In the order of their rows: neighbours share pages.
        found, scores = self._choose_comparison(space)(query, np.sort(keys), model_key, space)
        order = np.lexsort((found, -scores))[:k]
        return found[order], scores[order]

    def _choose_comparison(self, space: str) -> Callable[..., tuple[NDArray[np.int64], FloatArray]]:
        """sqlite-vec compares bytes where they lie; halves and bits, which it doesn't know, are unpacked by numpy."""
        return self._compare_by_vec if self._vec and space not in (FLOAT_SPACE, BIT_SPACE) else self._compare_by_numpy

    def _compare_by_vec(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, space: str
    ) -> tuple[NDArray[np.int64], FloatArray]:
        rows = self._connection.execute(
            f"SELECT f.node_key, coalesce(1 - vec_distance_cosine(vec_int8(f.{space}), vec_int8(?1)), 0)"
            " FROM json_each(?2) j JOIN fingerprints f ON f.node_key = j.value"
            f" WHERE f.model_key = ?3 AND length(f.{space}) = length(?1)",
            (int8.pack_int8(query), encode_keys(keys.tolist()), model_key),
        ).fetchall()
        return np.array([row[0] for row in rows], np.int64), np.array([row[1] for row in rows], np.float32)

    def _compare_by_numpy(
        self, query: FloatArray, keys: NDArray[np.int64], model_key: int, space: str
    ) -> tuple[NDArray[np.int64], FloatArray]:
        rows = self._connection.execute(
            f"SELECT f.node_key, f.{space} FROM json_each(?1) j JOIN fingerprints f ON f.node_key = j.value"
            f" WHERE f.model_key = ?2 AND length(f.{space}) = ?3",
            (encode_keys(keys.tolist()), model_key, bytes_per_vector(space, len(query))),
        ).fetchall()
        found = unpack_vectors(space, [row[1] for row in rows], len(query))
        scores = dot_products(found, query.astype(np.float32)) if rows else np.empty(0, np.float32)
        if space == BIT_SPACE:
            scores = np.asarray(scores / (np.linalg.norm(query) or 1.0), dtype=np.float32)
        return np.array([row[0] for row in rows], np.int64), scores

    def get_rows(
        self, keys: Iterable[int], columns: Sequence[str], *, model_key: int | None = None
    ) -> dict[NodeKey, tuple[bytes | None, ...]]:
        """Return the stored bytes of some spaces of some nodes, of one model or any; None where a space is absent."""
        _check_spaces(columns)
        found = self._connection.execute(
            f"SELECT f.node_key, {', '.join('f.' + column for column in columns)}"
            " FROM json_each(?1) j JOIN fingerprints f ON f.node_key = j.value WHERE ?2 IS NULL OR f.model_key = ?2",
            (encode_keys(keys), model_key),
        )
        return {row[0]: row[1:] for row in found}

    def compare_with(self, key: NodeKey, others: Sequence[NodeKey]) -> dict[NodeKey, float]:
        """Return the cosines in E1 of a node with others; those whose vector is absent or of another size are left out.

        Nodes of two models of one size are compared while a new model takes over: for that time it means little.
        """
        blobs = {node: row[0] for node, row in self.get_rows([key, *others], [FLOAT_SPACE]).items() if row[0]}
        mine = blobs.get(key)
        alike = [node for node in others if mine is not None and len(blobs.get(node) or b"") == len(mine)]
        if mine is None or not alike:
            return {}
        rows = float16.unpack_half([mine, *(blobs[node] for node in alike)])
        return dict(zip(alike, (rows[1:] @ rows[0]).tolist(), strict=True))

    def get_meanings(self, keys: Sequence[NodeKey]) -> dict[NodeKey, FloatArray]:
        """Return the vectors in E1 of the nodes that the model in use saw: shape (dimensions,), unit length."""
        model_id = self.get_model_in_use()
        model = None if model_id is None else self.find_model(model_id)
        if model is None or not keys:
            return {}
        blobs = {node: row[0] for node, row in self.get_rows(keys, [FLOAT_SPACE], model_key=model).items() if row[0]}
        return dict(zip(blobs, float16.unpack_half(list(blobs.values())), strict=True))

    def _refresh_codes(self, space: str, dimensions: int) -> Codes | None:
        words = words_per_code(dimensions)
        codes = self._codes.get(space)
        if codes is None or codes.words != words:
            codes = self._codes[space] = Codes(words, CODE_BITS.get(space, 1))
        codes.reload_changed(self._connection, space)
        return codes if codes.rows else None


def meaning_model_of(model_id: str) -> str:
    """Return the part of a model's id that names E1's model; what follows a `+` names the other spaces'."""
    return model_id.partition("+")[0]


def _has_columns(stored: bytes, wanted: bytes) -> bool:
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
