"""Space scores: stored memories against a query, one space at a time (E.01, E.05)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from hyperloci.spaces import spelling, token_vectors
from hyperloci.spaces.query import QueryFingerprint
from hyperloci.spaces.space import SPACES, Space, SpaceKind
from hyperloci.store.vectors import float16, int8
from hyperloci.store.vectors.bits import FloatArray

Row = Sequence[bytes | None]

CAUSAL_WEIGHTS: Final[Mapping[str, float]] = MappingProxyType({"e5_cause": 1.2, "e5_effect": 0.8})
"""E.05: asked for effects, a memory's cause side counts more; asked for causes, its effect side counts less. The two
sides are never compared with each other."""

FLOAT_COLUMN: Final = "e1"
"""The only column of halves; the other dense ones are `int8`."""


def score_space(space: str, query: QueryFingerprint, rows: Sequence[Row]) -> FloatArray:
    """Return how well memories answer a query in one space: shape (len(rows),), 0..1, nan where absent.

    Absent is a memory to which the space does not apply, and every memory if the query has nothing to say in it (a
    question without direction in E5, without a name in E11).

    Args:
        space: a dense, binary or token space. E6 and E13 are scored by their inverted indexes, E2 and E3 by
            `spaces.temporal`, and E4 gives an order of turns (`timeline`).
        query: from `EmbedderClient.embed_query_spaces`.
        rows: per memory the stored bytes of the space's columns, in the order of `SPACES[space].columns`.

    Raises:
        ValueError: the space keeps no column.
    """
    seen = SPACES[space]
    if not seen.columns:
        raise ValueError(f"{space} is not scored from stored rows: see store.sparse and spaces.temporal.")
    if seen.kind is SpaceKind.BINARY:
        return _score_binary(query, rows)
    if seen.kind is SpaceKind.TOKEN:
        return _score_tokens(query.tokens, rows, *query.token_scale)
    return _score_dense(seen, query, rows)


def _score_dense(space: Space, query: QueryFingerprint, rows: Sequence[Row]) -> FloatArray:
    sides = [
        cosines_of_column(column, query.dense[column], [row[place] for row in rows])
        * np.float32(CAUSAL_WEIGHTS.get(column, 1.0))
        for place, column in enumerate(space.columns)
        if column in query.dense
    ]
    if not sides:
        return _absent_scores(len(rows))
    # A query that has both sides itself (`the disk was full, so the deploy failed`) wants a memory with both.
    stacked = np.stack(sides)
    known = ~np.isnan(stacked)
    sums = np.where(known, stacked, 0.0).sum(axis=0)
    means = np.where(known.any(axis=0), sums / len(sides), np.nan)
    return np.asarray(np.clip(means, 0.0, 1.0), dtype=np.float32)


def cosines_of_column(column: str, query: FloatArray, blobs: Sequence[bytes | None]) -> FloatArray:
    """Return the cosines of stored vectors of one column with a unit vector, nan where there is none as long."""
    width = len(query) * (float16.BYTES_PER_DIMENSION if column == FLOAT_COLUMN else 1)
    places = [place for place, blob in enumerate(blobs) if blob is not None and len(blob) == width]
    scores = _absent_scores(len(blobs))
    if places:
        kept = [blobs[place] or b"" for place in places]
        matrix = float16.unpack_half(kept) if column == FLOAT_COLUMN else int8.unpack_int8(kept, len(query))
        scores[places] = np.einsum("ij,j->i", matrix, query)
    return scores


def _score_binary(query: QueryFingerprint, rows: Sequence[Row]) -> FloatArray:
    scores = _absent_scores(len(rows))
    places = [
        place for place, row in enumerate(rows) if row[0] is not None and len(row[0]) == spelling.SIGNATURE_BITS // 8
    ]
    if query.bits is None or not places:
        return scores
    blobs = [rows[place][0] or b"" for place in places]
    votes = query.dense.get("e9")
    if votes is None:
        found = spelling.spelling_cosines(spelling.spelling_signs([query.bits])[0], blobs)
    else:
        found = spelling.spelling_cosines(votes, blobs) / np.float32(spelling.SIGN_COSINE)
    scores[places] = np.clip(found, 0.0, 1.0)
    return scores


def _score_tokens(query: FloatArray | None, rows: Sequence[Row], factor: float, offset: float) -> FloatArray:
    scores = _absent_scores(len(rows))
    places = [place for place, row in enumerate(rows) if row[0]]
    if query is not None and len(query) and places:
        found = token_vectors.score_max_sim(query, [rows[place][0] or b"" for place in places])
        scores[places] = np.clip(np.float32(factor) * found + np.float32(offset), 0.0, 1.0)
    return scores


def _absent_scores(count: int) -> FloatArray:
    return np.full(count, np.nan, np.float32)
