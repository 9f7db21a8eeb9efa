"""Cross-encoder: reads two texts together. One says how likely the older no longer holds, given the newer; another
how likely a sentence is worth keeping, given what was said before it.

Each is the bundled model with weights of its own: what they differ by comes along as matrices of low rank
(`bench train_cross_encoder`, `bench train_statement_reader`; LoRA, Hu et al. 2021, made afterwards by singular values).
Words, positions and the tokenizer are the bundled model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from tokenizers import Tokenizer

from hyperloci.embedder.batching import plan_batches
from hyperloci.embedder.models.bert import ForwardPass
from hyperloci.embedder.models.bundled import BATCH_TOKENS, find_model_folder, read_tokenizer, verify_weights
from hyperloci.embedder.models.forward_numpy import NumpyForward, apply_gelu
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import torch

    from hyperloci.embedder.models.device import ComputeDevice

REPLACEMENT_ADAPTER: Final = Path(__file__).parent / "data" / "replacement_reader.safetensors"
STATEMENT_ADAPTER: Final = Path(__file__).parent / "data" / "statement_reader.safetensors"
LEFT: Final = ".left"
RIGHT: Final = ".right"
"""Suffixes of the two matrices whose product a weight differs by."""

HEAD_WIDTH: Final = 128
MAX_TOKENS: Final = 128
"""Of both texts together; the longer one is cut first."""

Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Adapter:
    """What the weights of the layers differ by from the bundled model's, and those behind the last layer.

    `changes` has the whole difference of a weight under its name, or under its name with `LEFT` and `RIGHT` the two
    matrices whose product it is; `head` the weights of the two layers that make one number of the states.
    """

    changes: Mapping[str, Array]
    head: Mapping[str, Array]

    @classmethod
    def from_file(cls, path: Path) -> Adapter:
        """Read one that was stored in half precision."""
        stored = {name: value.astype(np.float32) for name, value in load_file(path).items()}
        head = {name: value for name, value in stored.items() if name.startswith(("first.", "last."))}
        return cls({name: value for name, value in stored.items() if name not in head}, head)

    def change(self, name: str, weight: Array) -> Array:
        """Return a weight of the bundled model as it is with this adapter."""
        if name in self.changes:
            return weight + self.changes[name]
        if f"{name}{LEFT}" in self.changes:
            return weight + self.changes[f"{name}{LEFT}"] @ self.changes[f"{name}{RIGHT}"]
        return weight


class CrossEncoder:
    """The adapted model over a forward pass."""

    def __init__(self, forward: ForwardPass, head: Mapping[str, Array], tokenizer: Tokenizer) -> None:
        self._forward = forward
        self._head = head
        self._tokenizer = tokenizer

    def score_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return for each pair of texts the probability that it was trained for, 0..1."""
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


def load_cross_encoder(adapter: Path, place: ComputeDevice | None = None) -> CrossEncoder:
    """Load the bundled model with the adapter's changes.

    Args:
        adapter: what the weights differ by.
        place: a device of torch, and the type that numbers have on it; None is numpy, which needs no torch.

    Raises:
        ConfigurationError: the bundled model is not installed, or another one.
    """
    folder = find_model_folder()
    weights, adapted = verify_weights(folder), Adapter.from_file(adapter)
    return CrossEncoder(_load_forward(weights, adapted, place), adapted.head, read_tokenizer(folder, MAX_TOKENS))


def _load_forward(weights: Path, adapter: Adapter, place: ComputeDevice | None) -> ForwardPass:
    if place is None:
        return NumpyForward(weights, adapter.change)
    import torch

    from hyperloci.embedder.models.forward_torch import TorchForward

    def change(name: str, weight: torch.Tensor) -> torch.Tensor:
        return torch.from_numpy(adapter.change(name, weight.numpy()))

    return TorchForward(weights, place.device, place.dtype, change)
