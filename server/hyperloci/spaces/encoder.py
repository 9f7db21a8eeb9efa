"""What turns text into vectors, as seen by everything that needs one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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
    """An encoder that also shows what it saw token by token (late interaction, E12)."""

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        """Embed every token: per text `(tokens, hidden)`, special tokens left out, each row of length one."""
        ...
