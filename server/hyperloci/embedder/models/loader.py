"""Loader of E1's model: the bundled one in two stages, one by name, or an endpoint's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hyperloci.embedder.models.packaged_models import load_packaged_encoder
from hyperloci.embedder.packaged.catalogue import list_packaged_models
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.spaces.profile import BUNDLED, ModelChoice

BULK_TOKENS_CPU: Final = 512
"""A tenth of a second on two slow cores, the longest that a query waits; larger batches are 6 % faster at most."""

BULK_TOKENS_GPU: Final = 16_384
"""A GPU starves on small batches, and is done with one of this size in a few milliseconds."""


def load_foundation_stages(choice: ModelChoice, device: str, models_dir: Path) -> Iterator[EncoderStage]:
    """Bring up E1's model in forms that answer ever faster.

    Raises:
        ConfigurationError: no such model, or it cannot be used here.
    """
    if choice.model == BUNDLED:
        yield from load_bundled_stages(device)
    elif choice.model.startswith(("http://", "https://")):
        from hyperloci.embedder.models.endpoint import EndpointEncoder

        yield EncoderStage(
            encoder=EndpointEncoder(choice.model),
            backend="endpoint",
            device="remote",
            dtype="float32",
            bulk_tokens=BULK_TOKENS_GPU,
        )
    elif choice.model in list_packaged_models():
        yield EncoderStage(
            encoder=load_packaged_encoder(choice.model, models_dir),
            backend="onnxruntime",
            device="cpu",
            dtype="int8",
            bulk_tokens=BULK_TOKENS_CPU,
        )
    else:
        yield _load_sentence_stage(choice.model, device)


def load_bundled_stages(device: str, dtype: str | None = None) -> Iterator[EncoderStage]:
    """Bring up the bundled model: on numpy within a quarter of a second, then on torch.

    Raises:
        ConfigurationError: the weights are missing or not the pinned ones, or the device is not there.
    """
    from hyperloci.embedder.models.bundled import (
        BATCH_TOKENS,
        BundledEncoder,
        find_model_folder,
        read_tokenizer,
        verify_weights,
    )
    from hyperloci.embedder.models.forward_numpy import NumpyForward

    folder = find_model_folder()
    weights, tokenizer = verify_weights(folder), read_tokenizer(folder)
    interim = BundledEncoder(NumpyForward(weights), tokenizer)
    yield EncoderStage(
        encoder=interim, backend="numpy", device="cpu", dtype="float32", bulk_tokens=BULK_TOKENS_CPU, interim=True
    )

    from hyperloci.embedder.models.device import cap_threads, choose_device
    from hyperloci.embedder.models.forward_torch import TorchForward

    cap_threads()
    place = choose_device(device, dtype)
    forward = TorchForward(weights, place.device, place.dtype)
    encoder = BundledEncoder(forward, tokenizer, batch_tokens=max(BATCH_TOKENS, _choose_bulk_tokens(place.device.type)))
    encoder.encode(["warm up"])
    yield EncoderStage(
        encoder=encoder,
        backend="torch",
        device=str(place.device),
        dtype=place.dtype_name,
        bulk_tokens=_choose_bulk_tokens(place.device.type),
    )


def _load_sentence_stage(name: str, device: str) -> EncoderStage:
    from hyperloci.embedder.models.device import cap_threads, choose_float32_on_cpu
    from hyperloci.embedder.models.sentence_transformer import load_sentence_encoder

    cap_threads()
    place = choose_float32_on_cpu(device)
    return EncoderStage(
        encoder=load_sentence_encoder(name, place),
        backend="sentence-transformers",
        device=str(place.device),
        dtype=place.dtype_name,
        bulk_tokens=_choose_bulk_tokens(place.device.type),
    )


def _choose_bulk_tokens(device: str) -> int:
    return BULK_TOKENS_CPU if device == "cpu" else BULK_TOKENS_GPU
