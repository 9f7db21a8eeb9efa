"""Priority lock: a query waits for one small batch of bulk work at most, bulk work waits for every query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Condition
from typing import TYPE_CHECKING

from hyperloci.embedder.batching import estimate_tokens, plan_batches
from hyperloci.errors import BadRequestError
from hyperloci.spaces.encoder import MAX_WINDOWS, Encoder, EncodeRequest, MultiSpaceEncoder, TokenEncoder
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class EncoderStage:
    """An encoder that is ready for use, and how it runs.

    Attributes:
        encoder: the model.
        backend: the library that computes it: `numpy`, `torch`, `sentence-transformers`, `endpoint`.
        device, dtype: where, and in which precision.
        bulk_tokens: tokens of bulk work that a query may have to wait for.
        interim: whether a faster form of the same model follows.
    """

    encoder: Encoder
    backend: str
    device: str
    dtype: str
    bulk_tokens: int
    interim: bool = False


class PriorityLock:
    """A lock that always lets a query in before bulk work."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._taken = False
        self._queries_waiting = 0
        self.bulk_batches = 0
        """How many batches of bulk work have been let through and are done."""

    @property
    def has_waiting_query(self) -> bool:
        """Whether a query waits for the lock."""
        return self._queries_waiting > 0

    @contextmanager
    def hold_for_query(self) -> Iterator[None]:
        """Hold the model for a query."""
        with self._changed:
            self._queries_waiting += 1
            try:
                self._changed.wait_for(lambda: not self._taken)
            finally:
                self._queries_waiting -= 1
            self._taken = True
        try:
            yield
        finally:
            self._release_model()

    @contextmanager
    def hold_for_bulk(self) -> Iterator[None]:
        """Hold the model for one batch of bulk work, once no query wants it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._taken and not self._queries_waiting)
            self._taken = True
        try:
            yield
        finally:
            self.bulk_batches += 1
            self._release_model()

    def _release_model(self) -> None:
        with self._changed:
            self._taken = False
            self._changed.notify_all()


class BulkEncoder:
    """The encoder that bulk work sees: it gives the model back between small batches. Satisfies `Encoder`."""

    def __init__(self, stage: EncoderStage, gate: PriorityLock) -> None:
        self._stage = stage
        self._gate = gate

    @property
    def model_id(self) -> str:
        """Name, fingerprint of the weights and dimensions."""
        return self._stage.encoder.model_id

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        return self._stage.encoder.dimensions

    @property
    def max_tokens(self) -> int:
        """Tokens of one text that the model reads."""
        return self._stage.encoder.max_tokens

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: `(len(texts), dimensions)`, rows in the order given, each of length one."""
        import numpy as np

        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for batch in self._plan_batches(texts):
            with self._gate.hold_for_bulk():
                vectors[batch] = self._stage.encoder.encode([texts[index] for index in batch])
        return vectors

    @property
    def has_tokens(self) -> bool:
        """Whether E12 is available."""
        return self._multi_space_encoder().has_tokens

    @property
    def weigh_terms(self) -> bool:
        """Whether `expand_terms` leaves it to the index to weigh terms."""
        return self._multi_space_encoder().weigh_terms

    def encode_requests(self, looks: Sequence[EncodeRequest]) -> list[dict[str, NDArray[np.float32]]]:
        """Encode as `MultiSpaceEncoder.encode_requests` does, giving the model back between small batches."""
        eyes = self._multi_space_encoder()
        seen: dict[int, dict[str, NDArray[np.float32]]] = {}
        lengths = [
            estimate_tokens(look.text, self.max_tokens * (MAX_WINDOWS if "e12" in look.spaces else 1)) for look in looks
        ]
        for batch in plan_batches(lengths, self._stage.bulk_tokens):
            with self._gate.hold_for_bulk():
                seen.update(zip(batch, eyes.encode_requests([looks[index] for index in batch]), strict=True))
        return [seen[index] for index in range(len(looks))]

    def expand_terms(self, texts: Sequence[str], *, query: bool = False) -> list[Mapping[str, float]]:
        """Return the terms that stand for each text (see `MultiSpaceEncoder.expand_terms`)."""
        eyes = self._multi_space_encoder()
        if eyes.weigh_terms:  # By rule: no model is needed.
            return eyes.expand_terms(texts, query=query)
        found: dict[int, Mapping[str, float]] = {}
        for batch in self._plan_batches(texts):
            with self._gate.hold_for_bulk():
                found.update(zip(batch, eyes.expand_terms([texts[index] for index in batch], query=query), strict=True))
        return [found[index] for index in range(len(texts))]

    def _multi_space_encoder(self) -> MultiSpaceEncoder:
        # Not at the top: an embedder listens before it has loaded numpy.
        from hyperloci.spaces.profile_encoder import get_multi_space_encoder

        return get_multi_space_encoder(self._stage.encoder)

    def _plan_batches(self, texts: Sequence[str]) -> list[list[int]]:
        return plan_batches([estimate_tokens(text, self.max_tokens) for text in texts], self._stage.bulk_tokens)


def require_token_encoder(encoder: Encoder) -> TokenEncoder:
    """Return `encoder` as one with token vectors.

    Raises:
        BadRequestError: it has no token states.
    """
    if not isinstance(encoder, TokenEncoder):
        raise BadRequestError(f"{encoder.model_id} has no token states; late interaction needs a model that has them.")
    return encoder
