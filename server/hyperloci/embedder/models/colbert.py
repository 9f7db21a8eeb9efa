"""Late-interaction models (ColBERT and similar) through sentence-transformers' MultiVectorEncoder (E12)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hyperloci.embedder.models.device import ComputeDevice
from hyperloci.embedder.models.sentence_transformer import find_safe_folder, identify_model, open_model

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

_BATCH: Final = 16


class ColbertModel:
    """A loaded MultiVectorEncoder. Satisfies `spaces.profile_encoder.TokenModel`."""

    def __init__(self, model: MultiVectorEncoder, model_id: str) -> None:
        self._model = model
        self.model_id = model_id

    def encode_tokens(self, texts: Sequence[str], *, query: bool) -> list[NDArray[np.float32]]:
        """Return per text a matrix with one unit row per token."""
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encode = self._model.encode_query if query else self._model.encode_document
        found = encode(clean, batch_size=_BATCH, show_progress_bar=False, normalize_embeddings=True)
        return [np.asarray(matrix.float().cpu().numpy(), dtype=np.float32) for matrix in found]


def load_colbert(name: str, place: ComputeDevice) -> ColbertModel:
    """Load a late-interaction model from a folder, or by name from the Hub's cache or the Hub itself.

    Raises:
        ConfigurationError: there is no such model, it has no safetensors, or it is of another kind.
    """
    folder = find_safe_folder(name)
    from sentence_transformers import MultiVectorEncoder

    model = open_model(MultiVectorEncoder, name, folder, place, " as a late-interaction model")
    return ColbertModel(model, identify_model(name, folder))
