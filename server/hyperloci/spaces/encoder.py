"""Encoders: the protocols of what turns text into vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


MAX_WINDOWS: Final = 4
"""Model windows that E12 reads of a text: four are a thousand tokens, and each costs as much as a memory."""


class Encoder(Protocol):
    """A text embedding model.

    Attributes:
        model_id: name, fingerprint of the weights and dimensions; it changes whenever vectors stop being comparable.
        dimensions: length of a vector.
        max_tokens: tokens of one text that the model reads; what follows them is ignored.
    """

    @property
    def model_id(self) -> str:
        """Name, fingerprint of the weights and dimensions."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens of one text that the model reads."""
        ...

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: `(len(texts), dimensions)`, rows in the order given, each of length one."""
        ...


@runtime_checkable
class TokenEncoder(Encoder, Protocol):
    """An encoder that also returns token vectors (late interaction, E12)."""

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Embed every token: per text `(tokens, hidden)`, special tokens left out, each row of length one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodeRequest:
    """One text, and the columns or spaces that need it.

    Attributes:
        text: what to encode.
        spaces: `e1`, `e5_cause`, `e12`...
        query: whether it is a question and not a memory; some models tell the two apart.
    """

    text: str
    spaces: tuple[str, ...]
    query: bool = False


@runtime_checkable
class MultiSpaceEncoder(Encoder, Protocol):
    """The models of a profile: one for every space, some of them the same."""

    @property
    def has_tokens(self) -> bool:
        """Whether E12 is available."""
        ...

    @property
    def weigh_terms(self) -> bool:
        """Whether `expand_terms` leaves it to the index to weigh terms by their rarity."""
        ...

    def encode_requests(self, looks: Sequence[EncodeRequest]) -> list[dict[str, NDArray[np.float32]]]:
        """Return for each request the result of each space: a unit vector, or for E12 a matrix with a row per token.

        Equal texts go through a model once, and all texts of a model in one call.
        """
        ...

    def expand_terms(self, texts: Sequence[str], *, query: bool = False) -> list[Mapping[str, float]]:
        """Return per text the weight of each term that stands for it (E13)."""
        ...
