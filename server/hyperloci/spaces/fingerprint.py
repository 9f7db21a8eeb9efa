"""Fingerprints: what every space keeps of a memory, as the bytes the store holds (E.01)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from hyperloci.spaces import spelling, token_vectors
from hyperloci.spaces.encoder import EncodeRequest
from hyperloci.spaces.profile_encoder import get_multi_space_encoder
from hyperloci.spaces.query import TOKEN_SPACE, mean_direction
from hyperloci.spaces.views import EncoderInput, Views, make_views, semantic_view
from hyperloci.store.vectors import float16, int8
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from hyperloci.spaces.encoder import Encoder

__all__ = ["Fingerprint", "compute_fingerprints", "semantic_view"]


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What all spaces keep of one memory.

    Attributes:
        columns: bytes by column of the fingerprints table; what is left out is absent.
        terms: weight by term (E13), for the inverted index.
    """

    columns: Mapping[str, bytes]
    terms: Mapping[str, float]


def compute_fingerprints(sights: Sequence[EncoderInput], encoder: Encoder) -> list[Fingerprint]:
    """Return the fingerprint of each memory, in their order.

    All views of all of them go through a model in one call, equal texts once; if any fails, none is made.
    """
    eyes = get_multi_space_encoder(encoder)
    views = [make_views(sight) for sight in sights]
    whole = ("e1", TOKEN_SPACE) if eyes.has_tokens else ("e1",)
    looks = _RequestCollector()
    for view in views:
        looks.add_text(view.text, whole)
        for column, text in view.dense.items():
            looks.add_text(text, (column,))
        for column, names in view.names.items():
            for name in names:
                looks.add_text(name, (column,))
    wanted = looks.build_requests()
    seen = dict(zip((look.text for look in wanted), eyes.encode_requests(wanted), strict=True))
    terms = eyes.expand_terms([view.text for view in views])
    return [Fingerprint(_pack_columns(view, seen), weights) for view, weights in zip(views, terms, strict=True)]


class _RequestCollector:
    """Collects which spaces need which text, each text once."""

    def __init__(self) -> None:
        self._spaces: dict[str, dict[str, None]] = {}

    def add_text(self, text: str, spaces: Sequence[str]) -> None:
        self._spaces.setdefault(text, {}).update(dict.fromkeys(spaces))

    def build_requests(self) -> list[EncodeRequest]:
        return [EncodeRequest(text=text, spaces=tuple(spaces)) for text, spaces in self._spaces.items()]


def _pack_columns(view: Views, seen: Mapping[str, Mapping[str, NDArray[np.float32]]]) -> dict[str, bytes]:
    whole = seen[view.text]
    columns: dict[str, bytes | None] = {
        "e1": float16.pack_half(whole["e1"]),
        "e9": spelling.signature_bits(view.text),
        TOKEN_SPACE: token_vectors.pack_token_vectors(whole[TOKEN_SPACE]) if TOKEN_SPACE in whole else None,
    }
    for column, text in view.dense.items():
        columns[column] = int8.pack_int8(seen[text][column])
    for column, names in view.names.items():
        columns[column] = int8.pack_int8(mean_direction([seen[name][column] for name in names]))
    return {column: blob for column, blob in columns.items() if blob is not None}
