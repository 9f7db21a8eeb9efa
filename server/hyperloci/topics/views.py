"""Space views: matrices to cluster, one per space, with one unit row per memory.

Dense spaces come from the stored fingerprints. E6 is TF-IDF over the index terms; E13 the same after every term has
lent weight to those that stand in the same company; both are reduced by latent semantic analysis (Deerwester 1990).
Temporal spaces have no view: when two things were said does not make them one topic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.model.kinds import NodeKey
from hyperloci.spaces.token_vectors import TOKEN_BITS
from hyperloci.store.keywords.analysis import stop_terms
from hyperloci.store.vectors import float16
from hyperloci.store.vectors.bits import BoolArray, FloatArray
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.store import Store


DENSE_COMPONENTS: Final = 48
"""Principal components kept of a dense space: past 50, MiniLM's carry noise to a clustering (NMI moves by 0.01)."""

LATENT_COMPONENTS: Final = 100
"""Components of the sparse spaces, as in the baseline they are compared with."""

TERM_COMPONENTS: Final = 50
MAX_LENDING_TERMS: Final = 8
LENT_WEIGHT: Final = 0.5
MIN_TERM_COSINE: Final = 0.5
"""E13: a term lends half its weight, by similarity, to at most eight terms with a cosine of 0.5 in the terms' space."""

MAX_TERM_SHARE: Final = 0.4
"""A term in more of the memories than this tells no topic from another."""

MIN_SEEN_SHARE: Final = 0.05
"""A space that covers a smaller share of the memories is left out."""

SEED: Final = 0
"""Of the randomised decompositions: the same memories give the same topics."""

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "e1": ("e1",),
    "e5": ("e5_cause", "e5_effect"),
    "e7": ("e7",),
    "e8": ("e8_out", "e8_in"),
    "e9": ("e9",),
    "e10": ("e10",),
    "e11": ("e11",),
    "e12": ("e12",),
}
"""Stored columns by space; a space with two columns shows both of its sides, side by side."""


@dataclass(frozen=True, slots=True)
class SpaceView:
    """One space's matrix: one unit row per memory (zeros where the space is absent), and which rows are present."""

    space: str
    matrix: FloatArray
    present: BoolArray


def read_views(store: Store, keys: Sequence[NodeKey]) -> list[SpaceView]:
    """Return the views of every space that sees enough of these memories."""
    found = build_dense_views(
        store.vectors.get_rows(keys, [column for group in COLUMNS.values() for column in group]), keys
    )
    words = store.topics.get_keywords(keys)
    found += build_sparse_views([words.get(key, "") for key in keys])
    return [view for view in found if view.present.mean() >= MIN_SEEN_SHARE and view.present.sum() > 2]


def build_dense_views(rows: Mapping[NodeKey, Sequence[bytes | None]], keys: Sequence[NodeKey]) -> list[SpaceView]:
    """Return the views of the stored spaces; `rows` holds the bytes of all `COLUMNS`, in order."""
    names = [column for group in COLUMNS.values() for column in group]
    views = []
    for space, group in COLUMNS.items():
        sides = [
            _decode_rows([row[names.index(column)] if (row := rows.get(key)) else None for key in keys], column)
            for column in group
        ]
        matrix = np.hstack(sides)
        present = rows_present(matrix)
        if present.sum() > 2:
            views.append(SpaceView(space, reduce_to_components(matrix, present, DENSE_COMPONENTS), present))
    return views


def _decode_rows(blobs: Sequence[bytes | None], column: str) -> FloatArray:
    """Turn stored bytes into rows; those of another width than most (another model's) count as absent."""
    if column == "e12":
        blobs = [_mean_of_spans(blob) if blob else None for blob in blobs]
    widths = [len(blob) for blob in blobs if blob]
    if not widths:
        return np.zeros((len(blobs), 1), np.float32)
    width = max(set(widths), key=widths.count)
    kept = [index for index, blob in enumerate(blobs) if blob and len(blob) == width]
    flat = b"".join(blob for index in kept if (blob := blobs[index]))
    values = _unpack_numbers(flat, column).reshape(len(kept), -1)
    matrix = np.zeros((len(blobs), values.shape[1]), np.float32)
    matrix[kept] = normalise_rows(values)
    return matrix


def _mean_of_spans(blob: bytes) -> bytes:
    """Return the mean of a text's spans: MaxSim compares them one by one, but clusters need a vector a memory."""
    signs = np.unpackbits(np.frombuffer(blob, np.uint8).reshape(-1, TOKEN_BITS // 8), axis=1)
    mean: FloatArray = (signs.astype(np.float32) * 2 - 1).mean(axis=0, dtype=np.float32)
    return mean.tobytes()


def _unpack_numbers(flat: bytes, column: str) -> FloatArray:
    if column == "e1":
        return float16.unpack_half([flat])
    if column == "e12":
        return np.frombuffer(flat, np.float32)
    if column == "e9":
        return np.unpackbits(np.frombuffer(flat, np.uint8)).astype(np.float32) * 2 - 1
    return np.frombuffer(flat, np.int8).astype(np.float32)


def build_sparse_views(texts: Sequence[str]) -> list[SpaceView]:
    """Return the views of E6 and E13 of analysed texts; none where no two share a word."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfVectorizer

    if len(texts) < 3:
        return []
    vectorizer = TfidfVectorizer(
        analyzer=_content_terms, sublinear_tf=True, min_df=2, max_df=MAX_TERM_SHARE, dtype=np.float32
    )
    try:
        counts = vectorizer.fit_transform(texts)
    except ValueError:
        # No term stands in two memories and not in most.
        return []
    exact, components = _reduce_latent(counts)
    expanded, _ = _reduce_latent(sparse.csr_matrix(counts @ _lending_matrix(components)))
    return [SpaceView(name, matrix, rows_present(matrix)) for name, matrix in (("e6", exact), ("e13", expanded))]


def _content_terms(text: str) -> list[str]:
    return [term for term in text.split() if term not in stop_terms()]


def _reduce_latent(counts: Any) -> tuple[FloatArray, FloatArray]:
    """Return documents and terms in the space of the strongest components."""
    from sklearn.decomposition import TruncatedSVD

    wanted = min(LATENT_COMPONENTS, min(counts.shape) - 1)
    if wanted < 1:
        return normalise_rows(counts.toarray()), np.eye(counts.shape[1], dtype=np.float32)
    svd = TruncatedSVD(wanted, random_state=SEED)
    documents = svd.fit_transform(counts)
    return normalise_rows(documents), normalise_rows((svd.components_.T * svd.singular_values_)[:, :TERM_COMPONENTS])


def _lending_matrix(of_terms: FloatArray) -> Any:
    """Return the matrix that lends each term's weight to terms of the same company."""
    from scipy import sparse

    from hyperloci.topics.neighbours import find_nearest

    size = len(of_terms)
    count = min(MAX_LENDING_TERMS, size - 1)
    if count < 1:
        return sparse.identity(size, format="csr", dtype=np.float32)
    indexes, cosines = find_nearest(of_terms, count)
    lent = np.where(cosines > MIN_TERM_COSINE, cosines * LENT_WEIGHT, 0).astype(np.float32)
    rows = np.repeat(np.arange(size), count)
    matrix = sparse.csr_matrix((lent.ravel(), (rows, indexes.ravel())), shape=(size, size))
    return matrix + sparse.identity(size, format="csr", dtype=np.float32)


def reduce_to_components(matrix: FloatArray, present: BoolArray, dimensions: int) -> FloatArray:
    """Return unit rows of the strongest principal components of the present rows; absent rows are zeros."""
    from sklearn.decomposition import PCA

    rows = matrix[present]
    wanted = min(dimensions, rows.shape[1], len(rows) - 1)
    answer = np.zeros((len(matrix), wanted), np.float32)
    answer[present] = normalise_rows(PCA(wanted, random_state=SEED, svd_solver="auto").fit_transform(rows))
    return answer


def normalise_rows(rows: NDArray[Any]) -> FloatArray:
    """Return rows of length one; rows of zeros stay as they are."""
    values = np.asarray(rows, np.float32)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    return np.asarray(values / np.where(norms > 0, norms, 1), np.float32)


def rows_present(matrix: FloatArray) -> BoolArray:
    """Return which rows hold anything."""
    return np.asarray(matrix.any(axis=1), np.bool_)
