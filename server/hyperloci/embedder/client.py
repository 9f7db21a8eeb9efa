"""Client of the embedder for sessions, hooks and the command line: standard library, numpy once vectors arrive.

A client never starts an embedder (`owner.py` does) and never waits past its deadline. Without one, memory works on
keywords and graph.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.config import Settings
from hyperloci.embedder import protocol
from hyperloci.embedder.circuit_breaker import MIN_COUNTED_TIMEOUT, PROBE_SECONDS, CircuitBreaker, get_circuit_breaker
from hyperloci.embedder.transport import EmbedderAddress, connect_to_embedder, find_embedder_address
from hyperloci.errors import BadRequestError, ConfigurationError, EmbedderError, HyperlociError, NotReadyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperloci.embedder.status import EmbedderStatus
    from hyperloci.spaces.query import QueryFingerprint


class EmbedderSilentError(NotReadyError):
    """The embedder has not answered lately."""


DEFAULT_SECONDS: Final = 5.0
"""A cold embedder answers within half a second, a warm one within a hundredth; anything slower is a fault."""

_WARM_SECONDS: Final = 0.02
"""Time a hook may spend to find out whether vectors are available; a warm embedder answers in a millisecond."""

NOTICE_SECONDS: Final = 0.02
"""Time that who writes a memory waits until the embedder confirms that it was told: one that loads torch takes up to a
second, and has been told all the same."""

_STATUS_SECONDS: Final = 1.0
_POLL_SECONDS: Final = 0.005
_TEXTS_PER_REQUEST: Final = 64
_CHARS_PER_REQUEST: Final = 1_000_000
"""An eighth of what a message may hold, if every character is escaped as JSON."""

_SERVER_SHARE: Final = 0.9
"""The embedder gives up slightly before the client does, so that its reason still arrives."""


class EmbedderClient:
    """Client of the embedder of these settings, whichever session owns it. Holds no connection; thread-safe."""

    def __init__(self, settings: Settings, *, transport: str | None = None, insistent: bool = False) -> None:
        """Make it; an `insistent` one asks an embedder that does not answer as often as it is told to."""
        self._settings = settings
        self._transport = transport
        self._insistent = insistent

    def embed(
        self, texts: Sequence[str], timeout: float = DEFAULT_SECONDS, *, model_id: str | None = None
    ) -> NDArray[np.float32]:
        """Embed texts ahead of all bulk work: `(len(texts), dimensions)`, in the order given, rows of length one.

        Args:
            texts: what to embed; an empty list gives an empty `(0, 0)` matrix.
            timeout: seconds for all of it.
            model_id: the model that the vectors will be compared with; another one is an error.

        Raises:
            NotReadyError: no embedder runs, or it is still loading or has too much to do.
            EmbedderError: it could not do it, did not answer in time, or runs another model.
        """
        import numpy as np

        parts = [matrices[0] for matrices in self._embed_in_parts(texts, timeout, model_id, tokens=False)]
        return np.concatenate(parts) if parts else np.empty((0, 0), dtype=np.float32)

    def embed_query(self, text: str, timeout: float = DEFAULT_SECONDS) -> tuple[str, NDArray[np.float32]]:
        """Embed one text; return the id of the model that did it, and the vector.

        Raises:
            NotReadyError, EmbedderError: as `embed`.
        """
        answer = self._request_answer({"op": "embed", "texts": [text]}, protocol.deadline_after(timeout))
        return _read_model_id(answer[0]), _read_matrices(*answer, texts=1, tokens=False)[0][0]

    def embed_query_spaces(
        self, text: str, entities: Sequence[str] = (), timeout: float = DEFAULT_SECONDS
    ) -> QueryFingerprint:
        """Encode a question for every space, in one round trip.

        Args:
            text: the question.
            entities: canonical names of what it asks about, where the caller has resolved them; else a rule finds them.
            timeout: seconds for all of it.

        Raises:
            NotReadyError, EmbedderError: as `embed`.
        """
        request = {"op": "see", "texts": [text], "entities": list(entities)}
        return protocol.fingerprint_from_message(*self._request_answer(request, protocol.deadline_after(timeout)))

    def embed_tokens(
        self, texts: Sequence[str], timeout: float = DEFAULT_SECONDS, *, model_id: str | None = None
    ) -> list[NDArray[np.float32]]:
        """Embed every token (late interaction): per text a matrix `(tokens, hidden)`, rows of length one.

        Raises:
            BadRequestError: the model has no token states.
            NotReadyError, EmbedderError: as `embed`.
        """
        return [matrix for part in self._embed_in_parts(texts, timeout, model_id, tokens=True) for matrix in part]

    def contradiction(self, pairs: Sequence[tuple[str, str]], timeout: float = DEFAULT_SECONDS) -> list[float]:
        """Return for each pair (premise, hypothesis) the probability that they contradict each other, 0..1.

        Raises:
            BadRequestError: no inference model is configured.
            NotReadyError, EmbedderError: as `score_pairs`.
        """
        return self._request_scores("contradict", pairs, timeout)

    def score_pairs(self, pairs: Sequence[tuple[str, str]], timeout: float = DEFAULT_SECONDS) -> list[float]:
        """Return for each pair (older, newer) the probability that the older one no longer holds, 0..1.

        Raises:
            NotReadyError: no embedder runs, or it can't answer in time: it loads, or has too much to do.
            EmbedderError: it could not do it.
        """
        return self._request_scores("pairs", pairs, timeout)

    def score_statements(self, pairs: Sequence[tuple[str, str]], timeout: float = DEFAULT_SECONDS) -> list[float]:
        """Return for each pair (what was said before, a sentence and its answer) how likely it is worth keeping, 0..1.

        Raises:
            NotReadyError, EmbedderError: as `score_pairs`.
        """
        return self._request_scores("statements", pairs, timeout)

    def _request_scores(self, operation: str, pairs: Sequence[tuple[str, str]], timeout: float) -> list[float]:
        texts = [text for pair in pairs for text in pair]
        deadline = protocol.deadline_after(timeout)
        try:
            return [
                score
                for part in _split_texts(texts)
                for score in _read_scores(self._request_answer({"op": operation, "texts": part}, deadline)[0], part)
            ]
        except protocol.DeadlineError as error:
            raise NotReadyError(str(error)) from error

    def is_ready(self, timeout: float = _WARM_SECONDS) -> bool:
        """Tell within `timeout` seconds whether an embedder is ready to answer; never starts one."""
        from hyperloci.embedder.status import EmbedderState

        status = self.status(timeout)
        return status is not None and status.state is EmbedderState.READY

    def wait_until_ready(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for an embedder that somebody is starting; return whether it is ready."""
        deadline = protocol.deadline_after(timeout)
        # A hook's glance is too short here: on a busy machine it would find none ready for ever.
        glance = max(_WARM_SECONDS, min(timeout, PROBE_SECONDS))
        while not (ready := self.is_ready(glance)) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return ready

    def status(self, timeout: float = _STATUS_SECONDS) -> EmbedderStatus | None:
        """Return the status of the embedder; None if none runs or it does not answer in time."""
        from hyperloci.embedder.status import EmbedderStatus

        try:
            answer, _ = self._request_answer({"op": "status"}, protocol.deadline_after(timeout))
            return EmbedderStatus.from_message(answer["status"])
        except (HyperlociError, KeyError, TypeError, ValueError):
            return None

    def is_loading(self, timeout: float = _WARM_SECONDS) -> bool:
        """Tell within `timeout` seconds whether an embedder says that it loads its model; never starts one."""
        from hyperloci.embedder.status import EmbedderState

        status = self.status(timeout)
        return status is not None and status.state is EmbedderState.LOADING

    def notify(self, database: Path, timeout: float = _STATUS_SECONDS) -> bool:
        """Tell the embedder that memories wait in `database`; return whether one confirms it in time."""
        return self._send_command({"op": "drain", "database": str(database.absolute())}, timeout)

    def stop_embedder(self) -> bool:
        """Ask the embedder to stop; return whether one was running."""
        return self._send_command({"op": "stop"}, _STATUS_SECONDS)

    def _send_command(self, request: Mapping[str, Any], timeout: float) -> bool:
        try:
            self._request_answer(request, protocol.deadline_after(timeout))
        except HyperlociError:
            return False
        return True

    def _embed_in_parts(
        self, texts: Sequence[str], timeout: float, model_id: str | None, *, tokens: bool
    ) -> list[list[NDArray[np.float32]]]:
        deadline = protocol.deadline_after(timeout)
        results: list[list[NDArray[np.float32]]] = []
        for part in _split_texts(texts):
            header, body = self._request_answer({"op": "embed", "texts": part, "tokens": tokens}, deadline)
            if model_id is not None and _read_model_id(header) != model_id:
                raise EmbedderError(f"The embedder runs {_read_model_id(header)}; the request needs {model_id}.")
            results.append(_read_matrices(header, body, texts=len(part), tokens=tokens))
        return results

    @property
    def silent_since(self) -> int | None:
        """Since when an embedder that runs has not answered (Unix ms); None where it does, or none runs."""
        return get_circuit_breaker(self._address().path).silent_since

    def _request_answer(self, request: Mapping[str, Any], deadline: float) -> tuple[dict[str, Any], bytearray]:
        """Send a request and wait for the answer; after one timeout fail at once until the embedder has recovered.

        Raises:
            EmbedderSilentError: it has not answered lately.
        """
        patience = get_circuit_breaker(self._address().path)
        if not self._insistent and not (patience.allows_request() and self._has_recovered(patience)):
            raise EmbedderSilentError(patience.describe_silence())
        counts = deadline - time.monotonic() >= MIN_COUNTED_TIMEOUT
        try:
            answer = self._exchange_messages(request, deadline)
        except protocol.DeadlineError:
            if counts:
                patience.record_silence()
            raise
        except NotReadyError:
            # It answered, or nothing listens there: the next request loses no time.
            patience.record_answer()
            raise
        patience.record_answer()
        return answer

    def _has_recovered(self, patience: CircuitBreaker) -> bool:
        """Return whether a silent embedder has recovered, with one short request."""
        if patience.silent_since is None:
            return True
        try:
            answer, _ = self._exchange_messages({"op": "status"}, protocol.deadline_after(PROBE_SECONDS))
            well = float(answer["status"]["busy_seconds"]) < PROBE_SECONDS
        except NotReadyError:
            return True
        except (HyperlociError, KeyError, TypeError, ValueError):
            well = False
        if not well:
            patience.record_silence()
        return well

    def _exchange_messages(self, request: Mapping[str, Any], deadline: float) -> tuple[dict[str, Any], bytearray]:
        try:
            connection = connect_to_embedder(self._address(), deadline=deadline)
        except ConfigurationError as error:
            # Vectors are optional: to a search every failure must look the same.
            raise EmbedderError(str(error)) from error
        with connection:
            seconds = max(0.001, (deadline - time.monotonic()) * _SERVER_SHARE)
            protocol.send_message(connection, {**request, "seconds": seconds}, deadline=deadline)
            header, body = protocol.receive_message(connection, deadline=deadline)
        if header.get("ok") is not True:
            raise _error_from_answer(header)
        return header, body

    def _address(self) -> EmbedderAddress:
        return find_embedder_address(self._settings, self._transport)


def _split_texts(texts: Sequence[str]) -> list[list[str]]:
    """Cut a long list so that each request stays small and other sessions' requests come in between."""
    parts: list[list[str]] = []
    chars = 0
    for text in texts:
        if not parts or len(parts[-1]) == _TEXTS_PER_REQUEST or chars + len(text) > _CHARS_PER_REQUEST:
            parts.append([])
            chars = 0
        parts[-1].append(text)
        chars += len(text)
    return parts


def _read_scores(header: Mapping[str, Any], texts: Sequence[str]) -> list[float]:
    scores = header.get("scores")
    if not isinstance(scores, list) or len(scores) * 2 != len(texts) or not all(type(one) is float for one in scores):
        raise protocol.ProtocolError(f"The embedder answered {len(texts) // 2} pairs with {scores!r:.80}.")
    return scores


def _error_from_answer(header: Mapping[str, Any]) -> HyperlociError:
    kinds = {"not_ready": NotReadyError, "bad_request": BadRequestError, "late": protocol.DeadlineError}
    return kinds.get(str(header.get("error")), EmbedderError)(str(header.get("message") or "") or None)


def _read_model_id(header: Mapping[str, Any]) -> str:
    return str(header.get("model_id", ""))


def _read_matrices(
    header: Mapping[str, Any], body: bytearray, *, texts: int, tokens: bool
) -> list[NDArray[np.float32]]:
    """Return the matrices of an answer, checked that they are what was asked for."""
    shapes = header.get("shapes")
    if not isinstance(shapes, list):
        raise protocol.ProtocolError("The embedder's answer cannot be used: it has no shapes.")
    matrices = protocol.matrices_from_body(shapes, body)
    expected = len(matrices) == texts if tokens else [len(matrix) for matrix in matrices] == [texts]
    if not expected:
        raise protocol.ProtocolError(f"The embedder answered {texts} texts with matrices of shapes {shapes!r:.80}.")
    return matrices
