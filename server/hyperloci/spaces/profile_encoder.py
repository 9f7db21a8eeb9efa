"""Profile encoder: all models of a profile as one; each space uses the model that the profile names for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from hyperloci.spaces import term_expansion
from hyperloci.spaces.encoder import Encoder, EncodeRequest, MultiSpaceEncoder, TokenEncoder
from hyperloci.spaces.space import SPACE_OF_COLUMN

if TYPE_CHECKING:
    from hyperloci.store.vectors.bits import FloatArray

TOKEN_SPACE: Final = "e12"
NAME_COLUMNS: Final = frozenset({"e8_out", "e11"})
"""Columns made of single names: the same few thousand again and again in one project."""

_NAMES_KEPT: Final = 8_192
_NAME_CHARS: Final = 60
"""Names whose vectors are kept, 13 MB of them at 384 dimensions: they are a third of all texts of a code base."""


@runtime_checkable
class WholeTextEncoder(Encoder, Protocol):
    """An encoder that gives vectors and token states in one pass, and reads a text past its window for the latter."""

    def encode_both(self, texts: Sequence[str], whole: Collection[int]) -> tuple[FloatArray, dict[int, FloatArray]]:
        """Embed all texts, and return the token vectors of those in `whole`, by their place."""
        ...


@runtime_checkable
class PromptingEncoder(Encoder, Protocol):
    """An encoder that treats a question differently from a text."""

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Embed questions: `(len(texts), dimensions)`."""
        ...


class SparseModel(Protocol):
    """A model that weighs the terms of its vocabulary (SPLADE)."""

    def encode_sparse(self, texts: Sequence[str], *, query: bool) -> list[dict[str, float]]:
        """Return weight by term of each text."""
        ...


class TokenModel(Protocol):
    """A model made for late interaction (ColBERT)."""

    def encode_tokens(self, texts: Sequence[str], *, query: bool) -> list[FloatArray]:
        """Return per text a matrix with one unit row per token."""
        ...


@runtime_checkable
class CalibratedTokenModel(TokenModel, Protocol):
    """A late-interaction model whose scores lie elsewhere than the bundled model's, for which weights were chosen.

    Attributes:
        score_factor, score_offset: its score, times the one and plus the other, is the bundled model's for texts that
            are as unlike.
    """

    score_factor: float
    score_offset: float


class ProfileEncoder:
    """Any models as the encoder of all spaces. Satisfies `MultiSpaceEncoder`.

    Attributes:
        model_id: of all of them together.
        dimensions, max_tokens: of E1's model.
        token_scale: factor and offset of E12's scores.
    """

    def __init__(
        self,
        foundation: Encoder,
        *,
        model_id: str | None = None,
        others: Mapping[str, Encoder] = MappingProxyType({}),
        token_model: TokenModel | None = None,
        sparse_model: SparseModel | None = None,
        neighbours: term_expansion.WordNeighbours | None = None,
    ) -> None:
        """Join models.

        Args:
            foundation: E1's model, which stands for every dense space that has none of its own.
            model_id: of all together; the foundation's where it stands alone.
            others: by space, for the dense ones.
            token_model: for E12; without it the foundation's token states, where it has them.
            sparse_model: for E13; without it rules.
            neighbours: a vocabulary that helps the rules.
        """
        self._foundation = foundation
        self._others = others
        self._token_model = token_model
        self._sparse_model = sparse_model
        self._neighbours = neighbours
        self._names: dict[tuple[int, bool], dict[str, FloatArray]] = {}
        self.model_id = model_id or foundation.model_id
        self.dimensions = foundation.dimensions
        self.max_tokens = foundation.max_tokens
        self.has_tokens = token_model is not None or isinstance(foundation, TokenEncoder)
        self.weigh_terms = sparse_model is None
        calibrated = token_model if isinstance(token_model, CalibratedTokenModel) else None
        self.token_scale = (calibrated.score_factor, calibrated.score_offset) if calibrated else (1.0, 0.0)

    def encode(self, texts: Sequence[str]) -> FloatArray:
        """Embed texts as E1 does."""
        return self._foundation.encode(texts)

    def encode_tokens(self, texts: Sequence[str]) -> list[FloatArray]:
        """Embed every token as E12 does.

        Raises:
            ValueError: no model here has token states.
        """
        looks = [EncodeRequest(text=text, spaces=(TOKEN_SPACE,)) for text in texts]
        if not self.has_tokens:
            raise ValueError(f"{self.model_id} has no token states; late interaction needs a model that has them.")
        return [seen[TOKEN_SPACE] for seen in self.encode_requests(looks)]

    def encode_requests(self, looks: Sequence[EncodeRequest]) -> list[dict[str, FloatArray]]:
        """Return what every space sees, each model called once for all of its texts."""
        seen: list[dict[str, FloatArray]] = [{} for _ in looks]
        shares: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        for place, look in enumerate(looks):
            for space in look.spaces:
                shares.setdefault((id(self._find_model(space)), look.query), []).append((place, space))
        for (_, query), share in shares.items():
            self._encode_with_model(self._find_model(share[0][1]), share, looks, seen, query=query)
        return seen

    def _find_model(self, space: str) -> Encoder | TokenModel:
        if space == TOKEN_SPACE:
            return self._token_model or self._foundation
        return self._others.get(SPACE_OF_COLUMN[space], self._foundation)

    def _encode_with_model(
        self,
        model: Encoder | TokenModel,
        share: Sequence[tuple[int, str]],
        looks: Sequence[EncodeRequest],
        seen: list[dict[str, FloatArray]],
        *,
        query: bool,
    ) -> None:
        """Fill in the results of one model, by request and space."""
        texts = list(dict.fromkeys(looks[place].text for place, _ in share))
        shown = list(dict.fromkeys(looks[place].text for place, space in share if space == TOKEN_SPACE))
        names = {looks[place].text for place, space in share if space in NAME_COLUMNS}
        memory = self._names.setdefault((id(model), query), {})
        # A name that is also a whole memory (an entity's) is wanted token by token: of that nothing is kept.
        known = {text: memory[text] for text in texts if text in memory and text not in shown}
        vectors, states = _encode_texts(model, [text for text in texts if text not in known], shown, query=query)
        vectors |= known
        _remember_vectors(memory, {name: vectors[name] for name in names if len(name) <= _NAME_CHARS})
        for place, space in share:
            text = looks[place].text
            seen[place][space] = states[text] if space == TOKEN_SPACE else vectors[text]

    def expand_terms(self, texts: Sequence[str], *, query: bool = False) -> list[Mapping[str, float]]:
        """Return terms by the model, or by rule."""
        if self._sparse_model is not None:
            return list(self._sparse_model.encode_sparse(texts, query=query))
        if query:
            return [term_expansion.expand_query(text, self._neighbours) for text in texts]
        return [term_expansion.weigh_terms(text) for text in texts]


def get_multi_space_encoder(encoder: Encoder) -> MultiSpaceEncoder:
    """Return the models of all spaces; a single model stands for all of them."""
    return encoder if isinstance(encoder, MultiSpaceEncoder) else ProfileEncoder(encoder)


def _remember_vectors(memory: dict[str, FloatArray], vectors: Mapping[str, FloatArray]) -> None:
    """Cache vectors of names; the oldest go first."""
    memory.update(vectors)
    for name in list(memory)[: max(0, len(memory) - _NAMES_KEPT)]:
        del memory[name]


def _encode_texts(
    model: Encoder | TokenModel, texts: Sequence[str], shown: Sequence[str], *, query: bool
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """Return vectors of `texts` and token states of `shown`, in as few calls as the model allows."""
    if isinstance(model, WholeTextEncoder) and shown:
        wanted = {place for place, text in enumerate(texts) if text in set(shown)}
        vectors, states = model.encode_both(texts, wanted)
        return dict(zip(texts, vectors, strict=True)), {texts[place]: rows for place, rows in states.items()}
    if not hasattr(model, "encode"):
        return {}, dict(zip(shown, model.encode_tokens(shown, query=query), strict=True))
    encode = model.encode_queries if query and isinstance(model, PromptingEncoder) else model.encode
    found = dict(zip(texts, encode(texts), strict=True))
    if shown and isinstance(model, TokenEncoder):
        return found, dict(zip(shown, model.encode_tokens(shown), strict=True))
    return found, {}
