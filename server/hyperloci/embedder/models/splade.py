"""Learned sparse models (SPLADE and similar) through sentence-transformers' SparseEncoder (E13)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from hyperloci.embedder.models.device import ComputeDevice
from hyperloci.embedder.models.sentence_transformer import find_safe_folder, identify_model, open_model

if TYPE_CHECKING:
    from sentence_transformers import SparseEncoder

MAX_TERMS: Final = 128
"""Terms a memory keeps, the heaviest: SPLADE makes some 200, and the lighter half weighs little."""

_BATCH: Final = 16


class SpladeModel:
    """A loaded SparseEncoder. Satisfies `spaces.profile_encoder.SparseModel`."""

    def __init__(self, model: SparseEncoder, model_id: str) -> None:
        self._model = model
        self.model_id = model_id

    def encode_sparse(self, texts: Sequence[str], *, query: bool) -> list[dict[str, float]]:
        """Return weight by word piece of each text, the heaviest first."""
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encode = self._model.encode_query if query else self._model.encode_document
        found = encode(clean, batch_size=_BATCH, show_progress_bar=False, max_active_dims=MAX_TERMS)
        decoded = cast(list[list[tuple[str | None, float]]], self._model.decode(found.float().cpu()))
        return [_sort_by_weight(terms) for terms in decoded]


def _sort_by_weight(terms: Sequence[tuple[str | None, float]]) -> dict[str, float]:
    # A model may have more rows than its tokenizer has pieces; those have no name.
    named = [(term, float(weight)) for term, weight in terms if term and weight > 0]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))


def load_splade(name: str, place: ComputeDevice) -> SpladeModel:
    """Load a sparse model from a folder, or by name from the Hub's cache or the Hub itself.

    Raises:
        ConfigurationError: there is no such model, it has no safetensors, or it is of another kind.
    """
    folder = find_safe_folder(name)
    from sentence_transformers import SparseEncoder

    model = open_model(SparseEncoder, name, folder, place, " as a sparse model")
    return SpladeModel(model, identify_model(name, folder))
