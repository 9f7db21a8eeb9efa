"""Encoders and drains for embedder processes without a model, and waiting without sleeping.

Child processes load this module, so it must stay cheap: no torch.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.priority_lock import EncoderStage
from hyperloci.embedder.process.engine import EmbedderEngine
from hyperloci.embedder.process.server import EmbedderServer
from hyperloci.embedder.status import EmbedderStatus
from hyperloci.embedder.transport import find_embedder_address, listen_for_sessions
from hyperloci.errors import ConfigurationError, EmbedderError, NotReadyError
from hyperloci.spaces.encoder import Encoder
from tests.support import vector_of

DIMENSIONS = 8


SOON = 100.0
"""Seconds that anything may take on a busy machine: a hang is a failure, slowness is not."""


def wait_for(condition: Callable[[], object], seconds: float = SOON) -> None:
    """Return as soon as `condition` holds; fail once `seconds` have passed."""
    deadline = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s"
        pause.wait(0.01)


def alive(pid: int) -> bool:
    """Tell whether a process runs; one that is dead but not yet buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextlib.contextmanager
def serving(settings: Settings, engine: EmbedderEngine) -> Iterator[EmbedderClient]:
    """Have an engine answer on these settings' socket, and yield a client of it."""
    listener, secret = listen_for_sessions(find_embedder_address(settings))
    engine.start()
    thread = threading.Thread(target=EmbedderServer(listener, secret, engine, 600).serve_until_idle, daemon=True)
    thread.start()
    client = EmbedderClient(settings)
    try:
        yield client
    finally:
        client.stop_embedder()
        thread.join(10)
        listener.close()


def hang(client: EmbedderClient) -> EmbedderStatus:
    """Have a model hang, and return the status that shows it; a busy machine may begin with a request too late."""
    found: list[EmbedderStatus] = []

    def is_hanging() -> bool:
        with contextlib.suppress(EmbedderError, NotReadyError):
            client.embed(["hang"], 0.2)
        status = client.status()
        found.extend([status] if status is not None and status.busy_seconds > 0 else [])
        return bool(found)

    wait_for(is_hanging)
    return found[0]


class ObedientEncoder:
    """Vectors from a hash of the text; some texts are orders."""

    model_id = "obedient@0/8"
    dimensions = DIMENSIONS
    max_tokens = 64

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        for text in texts:
            if text == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if text == "hang":
                threading.Event().wait()
            if text == "raise":
                raise ZeroDivisionError("the model broke")
        return np.stack([vector_of(text, DIMENSIONS) for text in texts])


class SeeingEncoder(ObedientEncoder):
    """Has token states: one for each word."""

    def encode_tokens(self, texts: Sequence[str]) -> list[NDArray[np.float32]]:
        return [np.reshape([vector_of(word, DIMENSIONS) for word in text.split()], (-1, DIMENSIONS)) for text in texts]


def stage(encoder: Encoder, *, bulk_tokens: int = 64, interim: bool = False) -> EncoderStage:
    return EncoderStage(
        encoder=encoder, backend="fake", device="cpu", dtype="float32", bulk_tokens=bulk_tokens, interim=interim
    )


def stages(settings: Settings) -> Iterator[EncoderStage]:
    yield stage(SeeingEncoder())


def broken_stages(settings: Settings) -> Iterator[EncoderStage]:
    raise ConfigurationError("device='cuda': this torch has no such device.")
    yield


def fatal_stages(settings: Settings) -> Iterator[EncoderStage]:
    os._exit(3)
    yield


def drain_lines(database: Path, encoder: Encoder, should_yield: Callable[[], bool]) -> int:
    """Take one line off a text file, embed it and append it to the file beside it."""
    lines = database.read_text().splitlines()
    if not lines:
        return 0
    vector = encoder.encode([lines[0]])[0]
    with database.with_suffix(".done").open("a") as done:
        done.write(f"{lines[0]} {vector[0]:.6f}\n")
    database.write_text("".join(f"{line}\n" for line in lines[1:]))
    return 1


def command(stages: str = "stages") -> tuple[str, ...]:
    """Return what starts an embedder with encoders (by the function's name) and the drain of this module."""
    return (sys.executable, "-P", "-m", "tests.embedder.child", stages)
