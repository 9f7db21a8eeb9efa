"""Cross-encoder: reads an older and a newer text together, and says how likely the older one no longer holds.

It is the bundled model with weights of its own: what they differ by comes along as matrices of low rank
(`bench train_cross_encoder`; LoRA, Hu et al. 2021, made afterwards by singular values). Words, positions and the
tokenizer are the bundled model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from hyperloci.embedder.batching import plan_batches
from hyperloci.embedder.models.bert import ForwardPass
from hyperloci.embedder.models.bundled import BATCH_TOKENS, find_model_folder, read_tokenizer, verify_weights
from hyperloci.embedder.models.forward_numpy import NumpyForward, apply_gelu

ADAPTER_FILE: Final = Path(__file__).parent / "data" / "cross_encoder.safetensors"
LEFT: Final = ".left"
RIGHT: Final = ".right"
"""Suffixes of the two matrices whose product a weight differs by."""

HEAD_WIDTH: Final = 128
MAX_TOKENS: Final = 128
"""Of both texts together; the longer one is cut first."""

Array = NDArray[np.float32]


class CrossEncoder:
    """The adapted model over a forward pass."""

    def __init__(self, forward: ForwardPass, head: dict[str, Array], tokenizer: Tokenizer) -> None:
        self._forward = forward
        self._head = head
        self._tokenizer = tokenizer

    def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return for each pair (older, newer) the probability that the older one no longer holds, 0..1."""
        clean = [tuple(text.encode("utf-8", "replace").decode("utf-8") for text in pair) for pair in pairs]
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(clean)]
        odds = np.empty(len(tokens), dtype=np.float32)
        for batch in plan_batches([len(ids) for ids in tokens], BATCH_TOKENS):
            states = self._forward([tokens[index] for index in batch])
            starts = np.cumsum([0, *(len(tokens[index]) for index in batch)])
            means = np.add.reduceat(states, starts[:-1], axis=0) / np.diff(starts)[:, None].astype(np.float32)
            inner = np.concatenate([states[starts[:-1]], means], axis=1) @ self._head["first.weight"].T
            last = apply_gelu(inner + self._head["first.bias"]) @ self._head["last.weight"].T
            odds[batch] = (last + self._head["last.bias"])[:, 0]
        return [float(probability) for probability in 1 / (1 + np.exp(-odds.astype(np.float64)))]


def load_cross_encoder(adapter: Path = ADAPTER_FILE) -> CrossEncoder:
    """Load the bundled model with the adapter's changes.

    Raises:
        ConfigurationError: the bundled model is not installed, or another one.
    """
    folder = find_model_folder()
    changes = {name: value.astype(np.float32) for name, value in load_file(adapter).items()}

    def change(name: str, weight: Array) -> Array:
        if name in changes:
            return weight + changes[name]
        if f"{name}{LEFT}" in changes:
            return weight + changes[f"{name}{LEFT}"] @ changes[f"{name}{RIGHT}"]
        return weight

    head = {name: value for name, value in changes.items() if name.startswith(("first.", "last."))}
    return CrossEncoder(NumpyForward(verify_weights(folder), change), head, read_tokenizer(folder, MAX_TOKENS))
