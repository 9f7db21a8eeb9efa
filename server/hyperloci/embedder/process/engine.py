"""Engine of the embedder process: loads models, answers queries, works off queues.

It has three threads. The loader brings up ever faster encoders. The query thread answers requests in the order they
came. The bulk thread drains databases, one small batch at a time, at a lower priority of the operating system; the
priority lock gives it the model only while no query wants it.
"""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from hyperloci.embedder.priority_lock import BulkEncoder, EncoderStage, PriorityLock, require_token_encoder
from hyperloci.embedder.process.memory_use import measure_resident_bytes, release_memory
from hyperloci.embedder.status import EmbedderState, EmbedderStatus
from hyperloci.errors import BadRequestError, EmbedderError, HyperlociError, NotReadyError, StoreBusyError
from hyperloci.spaces.encoder import Encoder
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hyperloci.embedder.models.cross_encoder import CrossEncoder
    from hyperloci.embedder.models.nli import NliModel
    from hyperloci.spaces.query import QueryFingerprint

logger = logging.getLogger(__name__)

T = TypeVar("T")

DrainQueue = Callable[[Path, Encoder, Callable[[], bool]], int]
"""Takes a small batch of what waits in a database's queue, embeds and stores it, in one transaction.

It returns how many memories were done, 0 if none waits, and is called again until it returns 0, on one thread, always
the same. `encode` of the encoder it is given lets queries in between; the last argument turns true when a query waits
or the process is about to stop, so that work between two calls of the encoder can be cut short. What it raises is
logged, and the database is left alone until the next kick.
"""

_NICE: Final = 5
"""What bulk work yields to everything a person waits for; low enough that a busy machine still gets it done."""

_FIRST_QUERY_GRACE: Final = 0.3
"""Seconds that the next stage leaves to a first query, the reason for our start: importing torch would hold it up."""

_MAX_WAITING: Final = 256
"""Requests that may wait; more means that the model cannot keep up, and the caller does better without it."""


class ReadingTask(StrEnum):
    """What is asked of two texts that are read together; the value is the operation's name."""

    REPLACEMENT = "pairs"
    """Whether the older one no longer holds, given the newer."""

    STATEMENT = "statements"
    """Whether a sentence is worth keeping, given what was said before."""


@dataclass(frozen=True, slots=True)
class EncodeJob(Generic[T]):
    """A request for vectors, wanted before `deadline` (monotonic seconds)."""

    work: Callable[[EncoderStage], T]
    deadline: float
    answer: Future[T] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class EncodeAnswer:
    """One matrix for all texts, or one for each if tokens were asked for."""

    model_id: str
    matrices: list[NDArray[np.float32]]


class EmbedderEngine:
    """Owns the model. All public methods may be called from any thread."""

    def __init__(
        self,
        stages: Callable[[], Iterator[EncoderStage]],
        load_drain: Callable[[], DrainQueue],
        nli: Callable[[], NliModel] | None = None,
        cross_encoder: Callable[[EncoderStage, ReadingTask], CrossEncoder] | None = None,
    ) -> None:
        self._stages = stages
        self._load_drain = load_drain
        self._load_nli = nli
        self._nli: NliModel | None = None
        self._load_cross_encoder = cross_encoder
        self._cross_encoders: dict[ReadingTask, tuple[EncoderStage, Future[CrossEncoder]]] = {}
        self._cross_encoder_lock = threading.Lock()
        self._gate = PriorityLock()
        self._stage: EncoderStage | None = None
        self._error: str | None = None
        self._loaded = threading.Event()
        self._settled = threading.Event()
        self._answered = threading.Event()
        self._stopping = threading.Event()
        self._jobs: queue.Queue[EncodeJob[Any]] = queue.Queue(_MAX_WAITING)
        self._databases: OrderedDict[Path, int] = OrderedDict()
        self._databases_changed = threading.Condition()
        self._faults: dict[Path, str] = {}
        self._started = self._last_used = time.monotonic()
        self._busy_since: float | None = None
        self._queries = self._drained = 0

    def start(self) -> None:
        """Begin to load and to work."""
        for work in (self._load_stages, self._answer_queries, self._drain_databases):
            threading.Thread(target=work, name=work.__name__.strip("_"), daemon=True).start()

    def stop(self) -> None:
        """Ask the bulk lane to stop between batches; the process then ends without waiting for the others."""
        self._stopping.set()
        with self._databases_changed:
            self._databases_changed.notify_all()

    def encode(self, texts: Sequence[str], *, tokens: bool, deadline: float) -> EncodeAnswer:
        """Embed texts ahead of all bulk work; waits until `deadline` at most.

        Raises:
            NotReadyError: no model is loaded by then, or too many requests wait.
            EmbedderError: loading failed, or the model did.
            BadRequestError: token states were asked of a model that has none.
            TimeoutError: the model is loaded, but was not done in time.
        """
        return self._run_on_query_lane(
            lambda stage: EncodeAnswer(stage.encoder.model_id, _encode_texts(stage, texts, tokens)), deadline
        )

    def encode_query(self, text: str, entities: Sequence[str], *, deadline: float) -> QueryFingerprint:
        """Encode a question for every space, ahead of all bulk work; waits until `deadline` at most.

        Raises:
            NotReadyError, EmbedderError, TimeoutError: as `encode`.
        """
        # Not at the top: an embedder listens before it has loaded numpy.
        from hyperloci.spaces.query import fingerprint_query

        return self._run_on_query_lane(lambda stage: fingerprint_query(text, stage.encoder, entities), deadline)

    def score_contradictions(self, pairs: Sequence[tuple[str, str]], *, deadline: float) -> list[float]:
        """Return the probability that each pair of texts contradicts itself; the first request loads the model.

        Raises:
            BadRequestError: no inference model is configured.
            NotReadyError, EmbedderError, TimeoutError: as `encode`.
        """
        return self._run_on_query_lane(lambda _: self._load_nli_model().contradiction(pairs), deadline)

    def score_pairs(
        self, pairs: Sequence[tuple[str, str]], *, task: ReadingTask = ReadingTask.REPLACEMENT, deadline: float
    ) -> list[float]:
        """Return what a task asks of each pair of texts, as a probability; its first request loads the model.

        Who tells a fact waits for it: while the embedder loads, it is refused at once.

        Raises:
            NotReadyError, EmbedderError, TimeoutError: as `encode`.
        """
        if not self._loaded.is_set():
            raise NotReadyError("The embedder is still loading its model; try again in a second.")
        # Before the lane is entered: questions need not wait until it is loaded.
        cross_encoder = self._get_cross_encoder(task, deadline)
        return self._run_on_query_lane(lambda _: cross_encoder.score_pairs(pairs), deadline)

    def _get_cross_encoder(self, task: ReadingTask, deadline: float) -> CrossEncoder:
        """Return the one that runs as the stage now does, if it is loaded by then; else it goes on loading."""
        if self._load_cross_encoder is None:
            raise BadRequestError("this embedder has no cross-encoder.")
        with self._cross_encoder_lock:
            stage = self._get_stage()
            # An earlier stage's are let go: each holds a model's layers.
            self._cross_encoders = {key: known for key, known in self._cross_encoders.items() if known[0] is stage}
            if task not in self._cross_encoders:
                loading: Future[CrossEncoder] = Future()
                self._cross_encoders[task] = (stage, loading)
                threading.Thread(target=self._load, args=(task, stage, loading), daemon=True).start()
            loading = self._cross_encoders[task][1]
        try:
            return loading.result(max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            raise NotReadyError("The embedder is still loading a model; try again in a second.") from None

    def _load(self, task: ReadingTask, stage: EncoderStage, loading: Future[CrossEncoder]) -> None:
        assert self._load_cross_encoder is not None
        try:
            loading.set_result(self._load_cross_encoder(stage, task))
        except Exception as error:
            with self._cross_encoder_lock:
                self._cross_encoders.pop(task, None)
            loading.set_exception(error)

    def _get_stage(self) -> EncoderStage:
        if self._stage is None:
            raise EmbedderError(f"The embedder could not load its model: {self._error}")
        return self._stage

    def _load_nli_model(self) -> NliModel:
        if self._load_nli is None:
            raise BadRequestError("this embedder has no inference model.")
        if self._nli is None:
            self._nli = self._load_nli()
        return self._nli

    def _run_on_query_lane(self, work: Callable[[EncoderStage], T], deadline: float) -> T:
        self._last_used = time.monotonic()
        if not self._loaded.wait(max(0.0, deadline - time.monotonic())):
            raise NotReadyError("The embedder is still loading its model; try again in a second.")
        self._get_stage()
        job = EncodeJob(work, deadline)
        try:
            self._jobs.put_nowait(job)
        except queue.Full:
            raise NotReadyError(f"{_MAX_WAITING} requests wait for the embedder; try again shortly.") from None
        return job.answer.result(max(0.0, deadline - time.monotonic()))

    def notify(self, database: Path) -> None:
        """Drain `database`, now and until it has no more work."""
        self._last_used = time.monotonic()
        with self._databases_changed:
            self._databases[database] = self._databases.get(database, 0) + 1
            self._databases_changed.notify_all()

    @property
    def idle_seconds(self) -> float:
        """How long nothing has been asked or done; 0 while there is work."""
        working = self._busy_since is not None or self._databases or not self._jobs.empty()
        if not self._loaded.is_set() or (working and not self.has_failed):
            return 0.0
        return time.monotonic() - self._last_used

    @property
    def has_failed(self) -> bool:
        """Whether loading has failed."""
        return self._error is not None and self._stage is None

    def status(self) -> EmbedderStatus:
        """Describe the engine as it is now."""
        now, busy_since, stage = time.monotonic(), self._busy_since, self._stage
        return EmbedderStatus(
            state=EmbedderState.FAILED if self.has_failed else EmbedderState.READY if stage else EmbedderState.LOADING,
            error=self._error,
            pid=os.getpid(),
            uptime_seconds=round(now - self._started, 3),
            rss_bytes=measure_resident_bytes(),
            model_id=stage.encoder.model_id if stage else "",
            dimensions=stage.encoder.dimensions if stage else 0,
            max_tokens=stage.encoder.max_tokens if stage else 0,
            backend=stage.backend if stage else "",
            device=stage.device if stage else "",
            dtype=stage.dtype if stage else "",
            settled=self._settled.is_set(),
            queries=self._queries,
            queries_waiting=self._jobs.qsize(),
            busy_seconds=0.0 if busy_since is None else round(now - busy_since, 3),
            drained=self._drained,
            bulk_batches=self._gate.bulk_batches,
            draining=tuple(str(database) for database in list(self._databases)),
            faults=tuple((str(database), reason) for database, reason in self._faults.copy().items()),
        )

    # -- the loader's thread ------------------------------------------------------------------------------------------

    def _load_stages(self) -> None:
        try:
            for stage in self._stages():
                self._adopt_stage(stage)
        except Exception as error:
            # Whatever a model, a driver or an import raises: with an earlier stage at hand the work goes on with it.
            self._error = str(error) if isinstance(error, HyperlociError) else f"{type(error).__name__}: {error}"
            logger.exception(
                "loading a model failed; %s", f"staying with {self._stage}" if self._stage else "none left"
            )
        finally:
            self._loaded.set()
            self._settled.set()
            release_memory()

    def _adopt_stage(self, stage: EncoderStage) -> None:
        if self._stage is not None and self._stage.encoder.model_id != stage.encoder.model_id:
            raise EmbedderError(f"{stage.backend} is a different model from {self._stage.backend}.")
        took = time.monotonic() - self._started
        self._stage = stage
        self._loaded.set()
        logger.info("%s ready on %s (%s, %s) after %.2f s", stage.encoder.model_id, *_describe_stage(stage), took)
        if stage.interim:
            self._answered.wait(_FIRST_QUERY_GRACE)

    # -- the query lane's thread --------------------------------------------------------------------------------------

    def _answer_queries(self) -> None:
        while True:
            job = self._jobs.get()
            if time.monotonic() < job.deadline and self._stage is not None:
                self._answer_job(job, self._stage)

    def _answer_job(self, job: EncodeJob[Any], stage: EncoderStage) -> None:
        self._busy_since = time.monotonic()  # Before the lock: a query that cannot get it shows that bulk work hangs.
        with self._gate.hold_for_query():
            try:
                job.answer.set_result(job.work(stage))
            except HyperlociError as error:
                job.answer.set_exception(error)
            except Exception as error:
                logger.exception("a model request failed")
                job.answer.set_exception(EmbedderError(f"The model failed: {type(error).__name__}: {error}"))
            finally:
                self._queries += 1
                self._busy_since = None
                self._last_used = time.monotonic()
                self._answered.set()

    # -- the bulk lane's thread ---------------------------------------------------------------------------------------

    def _drain_databases(self) -> None:
        _lower_own_priority()
        self._settled.wait()
        if self._stage is None:
            return
        encoder, drain = BulkEncoder(self._stage, self._gate), self._load_drain()
        while not self._stopping.is_set():
            with self._databases_changed:
                self._databases_changed.wait_for(lambda: self._databases or self._stopping.is_set())
                database, kicks = next(iter(self._databases.items()), (None, 0))
            if database is not None:
                self._drain_batch(database, kicks, encoder, drain)

    def _drain_batch(self, database: Path, kicks: int, encoder: BulkEncoder, drain: DrainQueue) -> None:
        try:
            done = drain(database, encoder, lambda: self._gate.has_waiting_query or self._stopping.is_set())
            self._faults.pop(database, None)
        except Exception as error:
            # Any database may be in any state; the thread has others to serve.
            reason = str(error) or type(error).__name__
            if self._faults.get(database) != reason:
                logger.exception("draining %s failed; it waits for the next kick", database)
            if not isinstance(error, StoreBusyError):  # Which passes by itself.
                self._faults[database] = reason
            done = 0
        self._drained += done
        self._last_used = time.monotonic()
        with self._databases_changed:
            if done:
                self._databases.move_to_end(database)
            elif self._databases[database] == kicks:
                # A notification that came meanwhile may be about work that the last batch did not see.
                del self._databases[database]
        if not done:
            release_memory()


def _encode_texts(stage: EncoderStage, texts: Sequence[str], tokens: bool) -> list[NDArray[np.float32]]:
    if tokens:
        return require_token_encoder(stage.encoder).encode_tokens(texts)
    return [stage.encoder.encode(texts)]


def _describe_stage(stage: EncoderStage) -> tuple[str, str, str]:
    return stage.device, stage.backend, stage.dtype


def _lower_own_priority() -> None:
    """Lower the priority of the calling thread. Only Linux can; elsewhere the priority lock must suffice."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
