"""BERT weights: read by their names on disk, for any array library."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary

from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

WORDS: Final = "embeddings.word_embeddings.weight"
"""The name of the table with a row for each word piece."""

LAYERS: Final = 6
HEADS: Final = 12
HIDDEN: Final = 384
HEAD_WIDTH: Final = HIDDEN // HEADS
LAYER_NORM_EPSILON: Final = 1e-12
"""All five numbers as in the `config.json` of all-MiniLM-L6-v2, whose weights are pinned by their hash."""


@dataclass(frozen=True, slots=True)
class AffineWeights(Generic[T]):
    """Weight and bias of a linear layer or of a layer norm."""

    weight: T
    bias: T


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerWeights(Generic[T]):
    """One transformer layer; queries, keys and values are joined into one linear layer."""

    qkv: AffineWeights[T]
    attention_out: AffineWeights[T]
    attention_norm: AffineWeights[T]
    up: AffineWeights[T]
    down: AffineWeights[T]
    output_norm: AffineWeights[T]


@dataclass(frozen=True, slots=True, kw_only=True)
class BertWeights(Generic[T]):
    """All weights but the table of words, of which a forward pass may want a few rows only (`WORDS`).

    The one token type in use is left for the forward pass to fold into `positions`.
    """

    positions: T
    token_types: T
    embedding_norm: AffineWeights[T]
    layers: tuple[LayerWeights[T], ...]


class WordTable(Generic[T]):
    """The table of words, one for all models made of a file: they differ in their layers, never in it."""

    def __init__(self, rows: T) -> None:
        self.rows = rows


_word_tables: WeakValueDictionary[tuple[Path, str], WordTable[Any]] = WeakValueDictionary()
_word_tables_lock = threading.Lock()


def share_words(weights: Path, place: str, read: Callable[[], T]) -> WordTable[T]:
    """Return the table of words of a file, read unless a model at this place holds it; the last one lets it go.

    Args:
        weights: the model's file.
        place: the array library, and the device where it has several.
        read: reads the table to that place, through a view of the file of its own: one that layers were read through
            would keep their pages too.
    """
    with _word_tables_lock:
        table = _word_tables.get((weights, place))
        if table is None:
            table = _word_tables[weights, place] = WordTable(read())
        return table


class ForwardPass(Protocol):
    """A forward pass over a batch of token ids, longest text first."""

    def __call__(self, token_ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        """Return the last hidden states of all tokens, text after text without padding: `(tokens, HIDDEN)`."""
        ...


def read_bert(get: Callable[[str], T], join: Callable[[list[T]], T]) -> BertWeights[T]:
    """Collect the weights through `get(name)`; `join` concatenates along the first axis."""

    def pair(name: str) -> AffineWeights[T]:
        return AffineWeights(get(f"{name}.weight"), get(f"{name}.bias"))

    def layer(prefix: str) -> LayerWeights[T]:
        attention = [pair(f"{prefix}.attention.self.{name}") for name in ("query", "key", "value")]
        return LayerWeights(
            qkv=AffineWeights(join([part.weight for part in attention]), join([part.bias for part in attention])),
            attention_out=pair(f"{prefix}.attention.output.dense"),
            attention_norm=pair(f"{prefix}.attention.output.LayerNorm"),
            up=pair(f"{prefix}.intermediate.dense"),
            down=pair(f"{prefix}.output.dense"),
            output_norm=pair(f"{prefix}.output.LayerNorm"),
        )

    return BertWeights(
        positions=get("embeddings.position_embeddings.weight"),
        token_types=get("embeddings.token_type_embeddings.weight"),
        embedding_norm=pair("embeddings.LayerNorm"),
        layers=tuple(layer(f"encoder.layer.{number}") for number in range(LAYERS)),
    )
