"""Embedder server: accepts connections, answers one request on each, ends the process when nobody needs it."""

from __future__ import annotations

import contextlib
import logging
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol

from hyperloci.embedder import protocol
from hyperloci.embedder.process.engine import EmbedderEngine, ReadingTask
from hyperloci.embedder.transport import admit_visitor
from hyperloci.errors import BadRequestError, EmbedderError, HyperlociError, NotReadyError

logger = logging.getLogger(__name__)

MAX_TEXTS: Final = 256
"""Texts of one request; the client sends more as several, so that other requests come in between."""

MAX_TIMEOUT_SECONDS: Final = 600.0

_MAX_CONNECTIONS: Final = 64
"""All sessions of a user together need fewer; a runaway client is refused instead of exhausting threads."""

_REQUEST_SECONDS: Final = 10.0
"""Time limit for a client to send its request and to receive its answer."""

_LOOK_SECONDS: Final = 5.0
"""How often the server checks whether it has been idle for too long."""

_PAUSE_SECONDS: Final = 0.05
"""Shortest pause between two checks, if it is to end as soon as it is idle."""

_FAILED_LINGER_SECONDS: Final = 60.0
"""A failed embedder reports its error for so long; then a new one may find that the cause was fixed."""


class ScorePairs(Protocol):
    """What scores pairs of texts, until a deadline (monotonic seconds)."""

    def __call__(self, pairs: Sequence[tuple[str, str]], *, deadline: float) -> list[float]:
        """Return a score for each pair."""
        ...


class EmbedderServer:
    """Serves one engine on one listening socket."""

    def __init__(self, listener: socket.socket, secret: bytes, engine: EmbedderEngine, idle_seconds: float) -> None:
        self._listener = listener
        self._secret = secret
        self._engine = engine
        self._idle_seconds = idle_seconds
        self._bell, self._heard = socket.socketpair()
        self._slots = threading.BoundedSemaphore(_MAX_CONNECTIONS)

    def serve_until_idle(self) -> str:
        """Accept connections until stopped or idle for too long; return the reason in words."""
        self._listener.setblocking(False)
        with self._bell, self._heard, selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._heard, selectors.EVENT_READ)
            while self._engine.idle_seconds <= (limit := self._idle_limit_seconds()):
                ready = [key.fileobj for key, _ in selector.select(min(_LOOK_SECONDS, limit / 4 + _PAUSE_SECONDS))]
                if self._heard in ready:
                    return "told to stop"
                if ready:
                    self._accept_visitor()
        return f"idle for {limit:.0f} s"

    def _idle_limit_seconds(self) -> float:
        return min(_FAILED_LINGER_SECONDS, self._idle_seconds) if self._engine.has_failed else self._idle_seconds

    def _accept_visitor(self) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionAbortedError):
            connection, _ = self._listener.accept()
            connection.setblocking(True)
            self._start_visitor_thread(connection)

    def _start_visitor_thread(self, connection: socket.socket) -> None:
        if not self._slots.acquire(blocking=False):
            logger.warning("more than %d connections at once: turned one away", _MAX_CONNECTIONS)
            connection.close()
            return
        threading.Thread(target=self._attend_visitor, args=(connection,), name="visitor", daemon=True).start()

    def _attend_visitor(self, connection: socket.socket) -> None:
        try:
            with connection:
                self._exchange_messages(connection)
        except protocol.ConnectionLostError:
            pass  # A client that gave up, or only checked whether something listens.
        except EmbedderError as error:
            logger.warning("a request could not be served: %s", error)
        finally:
            self._slots.release()

    def _exchange_messages(self, connection: socket.socket) -> None:
        deadline = protocol.deadline_after(_REQUEST_SECONDS)
        if not admit_visitor(connection, self._secret, deadline=deadline):
            logger.warning("refused a connection from another user")
            return
        request, _ = protocol.receive_message(connection, deadline=deadline)
        try:
            header, body = self._answer_request(request)
        except HyperlociError as error:
            header, body = {"ok": False, "error": _classify_error(error), "message": str(error)}, b""
        protocol.send_message(connection, header, body=body, deadline=protocol.deadline_after(_REQUEST_SECONDS))
        if request.get("op") == "stop":
            with contextlib.suppress(OSError):  # The server was stopped meanwhile.
                self._bell.send(b"!")

    def _answer_request(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        operation = request.get("op")
        if operation == "embed":
            return self._answer_embed(request)
        if operation == "see":
            return self._answer_see(request)
        if operation == "contradict":
            return self._answer_pairs(request, self._engine.score_contradictions)
        if operation in tuple(ReadingTask):
            return self._answer_pairs(request, partial(self._engine.score_pairs, task=ReadingTask(operation)))
        if operation == "status":
            return {"ok": True, "status": self._engine.status().to_message()}, b""
        if operation == "drain":
            self._engine.notify(_read_database(request))
            return {"ok": True}, b""
        if operation == "stop":
            return {"ok": True}, b""
        raise BadRequestError(
            f"op={operation!r:.40} is unknown: use embed, see, contradict, pairs, statements, status, drain or stop."
        )

    def _answer_embed(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        texts, seconds = _read_texts(request), _read_seconds(request)
        deadline = time.monotonic() + seconds
        with _report_lateness(seconds):
            answer = self._engine.encode(texts, tokens=request.get("tokens") is True, deadline=deadline)
        shapes, body = protocol.matrices_to_body(answer.matrices)
        return {"ok": True, "model_id": answer.model_id, "shapes": shapes}, body

    def _answer_see(self, request: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        text, entities, seconds = _read_texts(request)[0], _read_entity_names(request), _read_seconds(request)
        with _report_lateness(seconds):
            seen = self._engine.encode_query(text, entities, deadline=time.monotonic() + seconds)
        return protocol.fingerprint_to_message(seen)

    def _answer_pairs(self, request: Mapping[str, Any], score: ScorePairs) -> tuple[dict[str, Any], bytes]:
        texts, seconds = _read_texts(request), _read_seconds(request)
        if len(texts) % 2:
            raise BadRequestError(f"{len(texts)} texts do not form pairs: give the two of each in turn.")
        pairs = list(zip(texts[::2], texts[1::2], strict=True))
        try:
            scores = score(pairs, deadline=time.monotonic() + seconds)
        except TimeoutError:
            raise NotReadyError(f"The model did not finish within {seconds:.1f} s.") from None
        return {"ok": True, "scores": scores}, b""


@contextlib.contextmanager
def _report_lateness(seconds: float) -> Iterator[None]:
    try:
        yield
    except TimeoutError:
        raise protocol.DeadlineError(
            f"The embedder did not finish within {seconds:.1f} s; it is busy or stuck."
        ) from None


def _read_entity_names(request: Mapping[str, Any]) -> list[str]:
    names = request.get("entities", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) > MAX_TEXTS:
        raise BadRequestError(f"entities must be a list of up to {MAX_TEXTS} strings.")
    return names


def _read_texts(request: Mapping[str, Any]) -> list[str]:
    texts = request.get("texts")
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise BadRequestError("texts must be a list of strings.")
    if not 1 <= len(texts) <= MAX_TEXTS:
        raise BadRequestError(f"{len(texts)} texts: one request takes 1 to {MAX_TEXTS}.")
    return texts


def _read_seconds(request: Mapping[str, Any]) -> float:
    seconds = request.get("seconds")
    if not isinstance(seconds, int | float) or not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        raise BadRequestError(f"seconds={seconds!r:.40} must be above 0 and at most {MAX_TIMEOUT_SECONDS:.0f}.")
    return float(seconds)


def _read_database(request: Mapping[str, Any]) -> Path:
    database = request.get("database")
    if not isinstance(database, str) or not Path(database).is_absolute() or not Path(database).is_file():
        raise BadRequestError(f"database={database!r:.200} must be the absolute path of a database that exists.")
    return Path(database)


def _classify_error(error: HyperlociError) -> str:
    if isinstance(error, NotReadyError):
        return "not_ready"
    if isinstance(error, protocol.DeadlineError):
        return "late"
    return "bad_request" if isinstance(error, BadRequestError) else "failed"
