"""Packaged models, loaded: those of the catalogue whose files `hyperloci model add` put in place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hyperloci.embedder.packaged.catalogue import PackagedModel, find_packaged_model
from hyperloci.embedder.packaged.installed import find_model_folder
from hyperloci.errors import ConfigurationError

if TYPE_CHECKING:
    from hyperloci.embedder.models.onnx_model import OnnxSentenceEncoder, OnnxTokenModel


def load_packaged_encoder(name: str, models_dir: Path) -> OnnxSentenceEncoder:
    """Load a packaged model of one vector a text.

    Raises:
        ConfigurationError: it is of another kind, not installed, changed, or can't be loaded.
    """
    from hyperloci.embedder.models.onnx_model import OnnxSentenceEncoder, load_onnx_forward

    model = require_kind(name, "sentence", "spaces of one vector")
    return OnnxSentenceEncoder(load_onnx_forward(find_model_folder(model, models_dir), name), model.pooling)


def load_packaged_tokens(name: str, models_dir: Path) -> OnnxTokenModel:
    """Load a packaged late-interaction model; raises as `load_packaged_encoder`."""
    from hyperloci.embedder.models.onnx_model import OnnxTokenModel, load_onnx_forward

    model = require_kind(name, "tokens", "e12")
    return OnnxTokenModel(
        load_onnx_forward(find_model_folder(model, models_dir), name), model.score_factor, model.score_offset
    )


def require_kind(name: str, kind: str, where: str) -> PackagedModel:
    """Return a model of the catalogue that is of a kind.

    Raises:
        ConfigurationError: it is of another.
    """
    model = find_packaged_model(name)
    if model.kind != kind:
        raise ConfigurationError(f"model {name!r} is for {model.space}; it can't be used for {where}.")
    return model
