"""What share of a GPU's arithmetic the models use: tokens a second, against a product of two large matrices.

A pass over a token takes two operations for each weight of the linear layers, and four times width and length of the
text for each layer's attention (Kaplan et al. 2020, table 1, without embeddings).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from bench.fingerprints import own_chunks
from hyperloci.embedder.models.bundled import BundledEncoder, read_tokenizer
from hyperloci.embedder.models.bundled import find_model_folder as find_bundled
from hyperloci.embedder.models.device import choose_device
from hyperloci.embedder.models.forward_torch import TorchForward
from hyperloci.spaces.views import make_views

TEXTS = 1_024
SIDE = 8_192
"""Of the matrices whose product is the ceiling: large enough to keep the whole chip busy."""

Encode = Callable[[Sequence[str]], Any]


@dataclass(frozen=True, slots=True)
class SizedModel:
    """A model and what a pass takes.

    Attributes:
        name: of the row.
        encode: makes vectors of texts.
        weights: of the linear layers.
        layers, width: of its attention.
        max_tokens: that it reads of a text.
    """

    name: str
    encode: Encode
    weights: int
    layers: int
    width: int
    max_tokens: int


def measure_ceiling(device: str, dtype: torch.dtype) -> float:
    """Return the operations a second of a product of two large matrices of random numbers."""
    left, right = (torch.randn(SIDE, SIDE, device=device, dtype=dtype) for _ in range(2))
    for _ in range(3):
        left @ right
    _wait_for(device)
    started = time.perf_counter()
    for _ in range(10):
        left @ right
    _wait_for(device)
    return 10 * 2 * SIDE**3 / (time.perf_counter() - started)


def measure_share(model: SizedModel, ceiling: float) -> dict[str, Any]:
    """Return what a model makes of real chunks of this repository, and its share of the ceiling."""
    texts = [make_views(sight).text for sight in own_chunks(TEXTS)]
    lengths = np.array([len(read.ids) for read in read_tokenizer(find_bundled()).encode_batch_fast(texts)])
    lengths = np.minimum(lengths, model.max_tokens)
    operations = float((2 * model.weights * lengths + 4 * model.layers * model.width * lengths**2).sum())
    model.encode(texts)
    started = time.perf_counter()
    model.encode(texts)
    seconds = time.perf_counter() - started
    return {
        "model": model.name,
        "texts_a_second": round(len(texts) / seconds, 1),
        "tokens_a_second": round(float(lengths.sum()) / seconds),
        "tflops": round(operations / seconds / 1e12, 2),
        "share": round(operations / seconds / ceiling, 4),
    }


def size_of_bundled(device: str) -> list[SizedModel]:
    """Return the bundled model, whole and its forward pass alone."""
    from hyperloci.embedder.models.bert import HIDDEN, LAYERS
    from hyperloci.embedder.models.bundled import MAX_TOKENS, verify_weights
    from hyperloci.embedder.models.loader import BULK_TOKENS_GPU

    place = choose_device(device)
    tokenizer = read_tokenizer(find_bundled())
    forward = TorchForward(verify_weights(find_bundled()), place.device, place.dtype)
    encoder = BundledEncoder(forward, tokenizer, batch_tokens=BULK_TOKENS_GPU)
    weights = LAYERS * 12 * HIDDEN**2
    known: dict[int, list[list[int]]] = {}

    def forward_alone(texts: Sequence[str]) -> None:
        """Send the texts through the model, split into tokens before: sorted, in batches of the same size."""
        if id(texts) not in known:
            known[id(texts)] = sorted((read.ids for read in tokenizer.encode_batch_fast(list(texts))), key=len)[::-1]
        batch: list[list[int]] = []
        for ids in known[id(texts)]:
            batch.append(ids)
            if sum(map(len, batch)) > BULK_TOKENS_GPU - MAX_TOKENS:
                forward(batch)
                batch = []
        if batch:
            forward(batch)

    sizes = (weights, LAYERS, HIDDEN, MAX_TOKENS)
    return [
        SizedModel("bundled, forward pass alone", forward_alone, *sizes),
        SizedModel("bundled", encoder.encode, *sizes),
    ]


def size_of_sentence_model(name: str, folder: str, device: str) -> SizedModel:
    """Return a model of a folder, loaded as a profile's."""
    from hyperloci.embedder.models.sentence_transformer import load_sentence_encoder

    encoder = load_sentence_encoder(folder, choose_device(device))
    inner: Any = encoder._model[0].auto_model
    weights = sum(part.numel() for name, part in inner.named_parameters() if "embed" not in name)
    config = inner.config
    return SizedModel(
        name, encoder.encode, weights, config.num_hidden_layers, config.hidden_size, min(encoder.max_tokens, 512)
    )


def _wait_for(device: str) -> None:
    if device.startswith("cuda"):
        torch.cuda.synchronize()
