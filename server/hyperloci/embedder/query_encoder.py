"""Query encoder: encodes questions for searches, by the embedder where one answers, else in this process on numpy.

The numpy form of the bundled model needs no torch and a fifth of a second to load, so a command answers by meaning
although it will be over before an embedder has started, and a session does while its embedder starts. One for the
whole process; it is let go once an embedder answers that has long not needed a stand-in.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.protocol import DeadlineError
from hyperloci.embedder.transport import find_embedder_address
from hyperloci.errors import ConfigurationError, EmbedderError, NotReadyError
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperloci.spaces.encoder import Encoder
    from hyperloci.spaces.query import MeaningEncoder, QueryFingerprint

logger = logging.getLogger(__name__)

T = TypeVar("T")

NOTHING_EMBEDDED: Final = "no memory has vectors yet; an open session or `hyperloci index` makes them"

KEPT_SECONDS: Final = 10.0
"""How long the light encoder stays after its last use: an embedder that loads torch answers one question and is late
with the next, and to load and verify the model anew takes a prompt a quarter of a second."""


@dataclass(slots=True)
class _StandIn:
    """A light encoder, and when it was last needed (monotonic seconds)."""

    encoder: Encoder
    needed_at: float


_loaded: Final[dict[Path, _StandIn]] = {}
"""This process's light encoders, by the address of the embedder that each stands in for."""

_lock: Final = threading.Lock()


HURRIED_SECONDS: Final = 0.25
"""How long a prompt waits for its vector: a warm embedder answers in a hundredth, one that still loads torch beside it
may take seconds, and the numpy form of its model, or an answer by words, is at hand."""


LATE_SECONDS: Final = 1.0
"""How long no other question of a prompt is asked once the embedder was late: it would make the prompt wait twice."""


class HurriedEncoder:
    """Encodes questions for who delays a prompt: by an embedder that answers at once, else not at all.

    Satisfies `spaces.query.MeaningEncoder`; thread-safe.
    """

    def __init__(self, client: EmbedderClient, now: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._now = now
        self._late_until = 0.0

    def is_ready(self) -> bool:
        """Tell whether an embedder is ready; one that says that it is loading is not asked for a moment."""
        if self._client.is_ready():
            return True
        if self._client.is_loading():
            self._late_until = self._now() + LATE_SECONDS
        return False

    def embed_query(self, text: str) -> tuple[str, NDArray[np.float32]]:
        """Return the model's id and the question's unit vector in E1.

        Raises:
            NotReadyError, EmbedderError: no embedder answers within `HURRIED_SECONDS`, or one was late a moment ago.
        """
        if self._now() < self._late_until:
            raise NotReadyError("The embedder was late a moment ago.")
        try:
            return self._client.embed_query(text, HURRIED_SECONDS)
        except DeadlineError:
            self._late_until = self._now() + LATE_SECONDS
            raise


class QueryEncoder:
    """Encodes questions. Satisfies `spaces.query.SearchEncoder`; thread-safe."""

    def __init__(
        self,
        client: EmbedderClient,
        settings: Settings,
        has_vectors: Callable[[], bool],
        *,
        hurried: HurriedEncoder | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Make it.

        Args:
            client: asks the embedder.
            settings: name the profile.
            has_vectors: tells whether any memory has a vector to compare a question with.
            hurried: asks for what a text means, in the client's place.
            now: a clock that only goes forward, in seconds.
        """
        self._client = client
        self._settings = settings
        self._has_vectors = has_vectors
        self._meaning: MeaningEncoder = hurried or client
        self._now = now

    def embed_query(self, text: str) -> tuple[str, NDArray[np.float32]]:
        """Return the model's id and the question's unit vector in E1.

        Raises:
            NotReadyError, EmbedderError: there is no embedder at hand, and nothing else can take its place.
        """

        def embed(encoder: Encoder) -> tuple[str, NDArray[np.float32]]:
            return encoder.model_id, encoder.encode([text])[0]

        return self._encode(lambda: self._meaning.embed_query(text), embed)

    def embed_query_spaces(self, text: str) -> QueryFingerprint:
        """Return the fingerprint of a question; raises as `embed_query`."""

        def see(encoder: Encoder) -> QueryFingerprint:
            from hyperloci.spaces.query import fingerprint_query

            return fingerprint_query(text, encoder)

        return self._encode(lambda: self._client.embed_query_spaces(text), see)

    def _encode(self, ask: Callable[[], T], compute: Callable[[Encoder], T]) -> T:
        try:
            answer = ask()
        except (NotReadyError, EmbedderError) as error:
            if not self._has_vectors():
                is_fault = isinstance(error, EmbedderError) and not isinstance(error, DeadlineError)
                if is_fault or self._client.silent_since is not None:
                    raise  # That is why there are none.
                raise NotReadyError(NOTHING_EMBEDDED) from error
            return self._compute(compute, error)
        stand_in = _loaded.get(self._address)
        if stand_in is not None and self._now() - stand_in.needed_at > KEPT_SECONDS:
            _loaded.pop(self._address, None)
        return answer

    def _compute(self, compute: Callable[[Encoder], T], missing: NotReadyError | EmbedderError) -> T:
        """Return what the light encoder makes of a question.

        Raises:
            NotReadyError, EmbedderError: `missing`, which says why the embedder did not answer, if there is none.
        """
        with _lock:
            try:
                stand_in = _loaded.get(self._address)
                if stand_in is None:
                    stand_in = _loaded[self._address] = _StandIn(self._load(), 0.0)
            except (NotReadyError, ConfigurationError) as error:
                logger.info("no question can be encoded here: %s", error)
                raise missing from error
            stand_in.needed_at = self._now()
            return compute(stand_in.encoder)

    def _load(self) -> Encoder:
        from hyperloci.embedder.models.profile_models import load_light_encoder

        return load_light_encoder(self._settings)

    @property
    def _address(self) -> Path:
        return find_embedder_address(self._settings).path
