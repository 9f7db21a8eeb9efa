"""Embedder process: `python -m hyperloci.embedder.process.main`, started by a session and never by hand.

Its standard input is the read end of a pipe whose write end its parent alone holds. One line comes through it, the
settings; then only its end, when the parent is gone: the process exits at once, in the middle of a batch if need be.
What it would lose is a transaction that was never acknowledged.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.embedder.process.engine import DrainQueue, EmbedderEngine, ReadingTask
from hyperloci.embedder.process.server import EmbedderServer
from hyperloci.embedder.startup_config import StartupConfig
from hyperloci.embedder.transport import find_embedder_address, listen_for_sessions
from hyperloci.errors import HyperlociError
from hyperloci.log_file import RedactingFormatter
from hyperloci.system.native_threads import limit_matrix_threads

if TYPE_CHECKING:
    from hyperloci.config import Settings
    from hyperloci.embedder.models.cross_encoder import CrossEncoder
    from hyperloci.embedder.models.nli import NliModel

logger = logging.getLogger("hyperloci.embedder")

_STDIN: Final = 0
_PR_SET_PDEATHSIG: Final = 1

_NATIVE_THREADS: Final = {
    # torch's worker threads spin while they wait, unless told otherwise. On a machine that is busy with anything else,
    # spinning makes a query of 10 ms take 200 (two cores beside one busy process; 31 and 400 at the median and p95).
    "OMP_WAIT_POLICY": "PASSIVE",
    # oneDNN keeps a kernel of half a megabyte for every matrix height it has met, 1,024 of them unless told otherwise.
    # 64 are all that queries need; bulk work builds its own anew, which takes a thousandth of its time.
    "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64",
}


def _load_stages(settings: Settings) -> Iterator[EncoderStage]:
    from hyperloci.embedder.models.profile_models import load_profile_stages

    return load_profile_stages(settings)


def _load_drain() -> DrainQueue:
    from hyperloci.embedder.process.embedding_queue import drain_queue

    return drain_queue


def main(
    stages: Callable[[Settings], Iterator[EncoderStage]] = _load_stages,
    load_drain: Callable[[], DrainQueue] = _load_drain,
) -> NoReturn:
    """Serve until idle, told to stop, or orphaned; then end the process.

    Args:
        stages: brings up the models that settings name; called once this process listens.
        load_drain: imports what drains a database; called once the models are up.
    """
    try:
        code = _run_embedder(stages, load_drain)
    except HyperlociError as error:
        logger.error("the embedder cannot start: %s", error)
        code = 1
    logging.shutdown()
    # Not sys.exit: threads inside torch and a drain between two batches are not worth waiting for.
    os._exit(code)


def _run_embedder(stages: Callable[[Settings], Iterator[EncoderStage]], load_drain: Callable[[], DrainQueue]) -> int:
    with open(_STDIN, "rb", buffering=0, closefd=False) as pipe:
        line = pipe.readline()
    if not line:
        return 0  # The parent died before it could say anything.
    handover = StartupConfig.from_line(line)
    threading.Thread(target=_die_with_parent, name="parent", daemon=True).start()
    _ask_kernel_to_kill_with_parent()
    _set_up_logging(handover.settings.log_level)
    limit_matrix_threads()
    for name, value in _NATIVE_THREADS.items():
        os.putenv(name, value)  # For the native libraries, which are loaded after this; Python code reads none of it.
    settings = handover.settings
    engine = EmbedderEngine(
        partial(stages, settings), load_drain, partial(_load_nli_model, settings), _load_cross_encoder
    )
    _serve_engine(handover, engine)
    return 0


def _serve_engine(handover: StartupConfig, engine: EmbedderEngine) -> None:
    settings = handover.settings
    listener, secret = listen_for_sessions(find_embedder_address(settings, handover.transport))
    engine.start()
    if settings.database.is_file():
        engine.notify(settings.database)
    reason = EmbedderServer(listener, secret, engine, settings.embedder_idle_seconds).serve_until_idle()
    logger.info("embedder %d ends: %s", os.getpid(), reason)
    engine.stop()


def _load_nli_model(settings: Settings) -> NliModel:
    from hyperloci.embedder.models.nli import load_nli_model

    return load_nli_model(settings)


def _load_cross_encoder(stage: EncoderStage, task: ReadingTask) -> CrossEncoder:
    """Load it for torch where the stage has loaded torch, else for numpy."""
    from hyperloci.embedder.models.cross_encoder import REPLACEMENT_ADAPTER, STATEMENT_ADAPTER, load_cross_encoder

    adapter = REPLACEMENT_ADAPTER if task is ReadingTask.REPLACEMENT else STATEMENT_ADAPTER
    if stage.backend != "torch":
        return load_cross_encoder(adapter)
    from hyperloci.embedder.models.device import choose_device

    return load_cross_encoder(adapter, choose_device(stage.device, stage.dtype))


def _die_with_parent() -> None:
    """Wait for the end of the pipe, which only the parent's death or its closing it can bring."""
    with contextlib.suppress(OSError):
        while os.read(_STDIN, 4096):
            pass
    os._exit(0)


def _ask_kernel_to_kill_with_parent() -> None:
    """On Linux, be killed when the thread that started this process ends, even if no code of ours can run any more."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _set_up_logging(level: str) -> None:
    handler = logging.StreamHandler()
    handler.setFormatter(RedactingFormatter("%(asctime)s %(levelname)s %(name)s[%(process)d]: %(message)s"))
    logging.basicConfig(level=level.upper(), handlers=[handler])


if __name__ == "__main__":
    main()
