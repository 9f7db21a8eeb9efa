"""Query fingerprint: a question as every space sees it (E.01); computed by the embedder, scored by the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from hyperloci.spaces import spelling
from hyperloci.spaces import token_vectors as tokens
from hyperloci.spaces.encoder import EncodeRequest
from hyperloci.spaces.profile_encoder import ProfileEncoder, get_multi_space_encoder
from hyperloci.store.vectors.bits import FloatArray
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.spaces.encoder import Encoder


TOKEN_SPACE: Final = "e12"
SPARSE_SPACE: Final = "e13"
ENTITY_SPACE: Final = "e11"


class MeaningEncoder(Protocol):
    """Encodes the meaning of a text: the embedder's client, or what takes its place."""

    def embed_query(self, text: str) -> tuple[str, FloatArray]:
        """Return the model's id and the text's unit vector in E1.

        Raises:
            NotReadyError: the models are not loaded yet.
            EmbedderError: they could not answer.
        """
        ...


class SearchEncoder(MeaningEncoder, Protocol):
    """Encodes questions for every space too."""

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        """Return the fingerprint of a question; raises as `embed_query`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryFingerprint:
    """A question as every space sees it.

    Attributes:
        model_id: the models that made it; only fingerprints of the same id can be compared with it.
        dense: by column of the fingerprints table, the unit vector to compare with that column. A column is left out
            where the question has nothing to say in it. E9's is compared with signs: of a short question with few
            trigrams, how often each sign was voted for says more than the sign.
        bits: of E9, 128 bytes; None for a question without letters.
        tokens: of E12, (tokens, dimensions), rows of length one; None where the model has no token states.
        terms: of E13, weight by term, the question's own terms and those that stand for the same.
        weigh_terms: whether a term's rarity in the memory counts too; a learned expansion (SPLADE) has it in its
            weights already.
        token_scale: factor and offset of E12's scores, which make those of any model mean the same.
    """

    model_id: str
    dense: Mapping[str, FloatArray] = field(default_factory=dict)
    bits: bytes | None = None
    tokens: FloatArray | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    weigh_terms: bool = True
    token_scale: tuple[float, float] = (1.0, 0.0)


def fingerprint_query(text: str, encoder: Encoder, entities: Sequence[str] = ()) -> QueryFingerprint:
    """Return a question's fingerprint; all its views go through a model in one call.

    Args:
        text: the question.
        encoder: the models, or one of them that stands for all.
        entities: canonical names of what it asks about, where the caller has resolved them; else a rule finds them.
    """
    # Whoever only receives a fingerprint, a hook above all, has no need of the rules that take a question apart.
    from hyperloci.spaces.query_views import views_of_query

    eyes = get_multi_space_encoder(encoder)
    asked = views_of_query(text, entities)
    named = list(asked.entities)
    looks = [
        EncodeRequest(text=text, spaces=(("e1", TOKEN_SPACE) if eyes.has_tokens else ("e1",)), query=True),
        *(EncodeRequest(text=view, spaces=(column,), query=True) for column, view in asked.dense.items()),
        *(EncodeRequest(text=name, spaces=(ENTITY_SPACE,), query=True) for name in named),
    ]
    seen = eyes.encode_requests(looks)
    dense = {"e1": seen[0]["e1"]}
    for column, found in zip(asked.dense, seen[1:], strict=False):
        dense[column] = found[column]
    if named:
        dense[ENTITY_SPACE] = mean_direction([found[ENTITY_SPACE] for found in seen[1 + len(asked.dense) :]])
    signature = spelling.trigram_signature(text)
    if signature is not None:
        dense["e9"] = mean_direction([signature])
    return QueryFingerprint(
        model_id=eyes.model_id,
        dense=dense,
        bits=spelling.signature_bits(text),
        tokens=tokens.query_token_vectors(seen[0][TOKEN_SPACE]) if eyes.has_tokens else None,
        terms=eyes.expand_terms([text], query=True)[0],
        weigh_terms=eyes.weigh_terms,
        token_scale=eyes.token_scale if isinstance(eyes, ProfileEncoder) else (1.0, 0.0),
    )


def mean_direction(vectors: Sequence[FloatArray]) -> FloatArray:
    """Return the unit vector that points where the mean of unit vectors points."""
    total = np.sum(vectors, axis=0)
    return np.asarray(total / max(float(np.linalg.norm(total)), 1e-12), dtype=np.float32)
