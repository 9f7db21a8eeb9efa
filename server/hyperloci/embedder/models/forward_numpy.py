"""Forward pass of the bundled model in numpy: questions are embedded where torch is not loaded, or not yet.

Half of the weights is the table of words. It stays in its file, and the rows of a text's words are read from there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

from hyperloci.embedder.models.bert import (
    HEAD_WIDTH,
    HEADS,
    HIDDEN,
    LAYER_NORM_EPSILON,
    WORDS,
    AffineWeights,
    BertWeights,
    LayerWeights,
    read_bert,
    share_words,
)

Array = NDArray[np.float32]

_ERF: Final = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
_ERF_SCALE: Final = 0.3275911
"""Abramowitz and Stegun 7.1.26: wrong by 1.5e-7 at most, the resolution of the float32 it is computed in."""


class NumpyForward:
    """all-MiniLM-L6-v2 on numpy's BLAS. Satisfies `ForwardPass`."""

    def __init__(self, weights: Path, change: Callable[[str, Array], Array] = lambda _, weight: weight) -> None:
        """Load the weights.

        Args:
            weights: the model's file.
            change: makes another model of it, weight by weight, each with its name; the table of words stays.
        """
        tensors = safe_open(weights, framework="np")

        def get(name: str) -> Array:
            return change(name, tensors.get_tensor(name))  # type: ignore[no-untyped-call]

        self._bert: BertWeights[Array] = read_bert(get, np.concatenate)
        self._words = share_words(weights, "numpy", lambda: _open_words(weights))
        self._positions = self._bert.positions + self._bert.token_types[0]

    def __call__(self, token_ids: Sequence[Sequence[int]]) -> Array:
        """Return the last hidden states of all tokens, text after text: `(tokens, HIDDEN)`."""
        lengths = [len(ids) for ids in token_ids]
        words = np.concatenate([self._words.rows[token : token + 1] for ids in token_ids for token in ids])
        positions = np.concatenate([self._positions[:length] for length in lengths])
        states = _apply_layer_norm(words + positions, self._bert.embedding_norm)
        bounds = np.cumsum([0, *lengths])
        for layer in self._bert.layers:
            states = _apply_layer(layer, states, bounds)
        return states


def _open_words(weights: Path) -> Any:
    return safe_open(weights, framework="np").get_slice(WORDS)  # type: ignore[no-untyped-call]


def _apply_layer(layer: LayerWeights[Array], states: Array, bounds: NDArray[np.int64]) -> Array:
    qkv = _apply_linear(states, layer.qkv)
    context = np.concatenate([_compute_attention(qkv[start:end]) for start, end in pairwise(bounds)])
    states = _apply_layer_norm(_apply_linear(context, layer.attention_out) + states, layer.attention_norm)
    return _apply_layer_norm(
        _apply_linear(apply_gelu(_apply_linear(states, layer.up)), layer.down) + states, layer.output_norm
    )


def _compute_attention(qkv: Array) -> Array:
    length = len(qkv)
    query, key, value = qkv.reshape(length, 3, HEADS, HEAD_WIDTH).transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1) * np.float32(HEAD_WIDTH**-0.5)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    context: Array = (scores @ value).transpose(1, 0, 2).reshape(length, HIDDEN)
    return context


def _apply_linear(states: Array, layer: AffineWeights[Array]) -> Array:
    return states @ layer.weight.T + layer.bias


def _apply_layer_norm(states: Array, norm: AffineWeights[Array]) -> Array:
    centred = states - states.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    normed: Array = centred / np.sqrt(variance + np.float32(LAYER_NORM_EPSILON)) * norm.weight + norm.bias
    return normed


def apply_gelu(states: Array) -> Array:
    """Return the Gaussian error linear unit of each number."""
    scaled = np.abs(states) * np.float32(0.5**0.5)
    step = 1 / (1 + np.float32(_ERF_SCALE) * scaled)
    series = np.zeros_like(step)
    for factor in reversed(_ERF):
        series = (series + np.float32(factor)) * step
    error = 1 - series * np.exp(-np.square(scaled))
    activated: Array = states * (1 + np.copysign(error, states)) * np.float32(0.5)
    return activated
