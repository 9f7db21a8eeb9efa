"""The wire to the embedder is cut at every byte, and the embedder dies between its model and the database."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from hyperloci.config import Settings
from hyperloci.embedder import protocol
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.process.embedding_queue import drain_queue
from hyperloci.embedder.transport import connect_to_embedder, find_embedder_address, listen_for_sessions
from hyperloci.errors import EmbedderError
from hyperloci.memory import Memory
from hyperloci.store import Store, integrity
from tests.embedder.helpers import SOON
from tests.embedder.process.test_server import ask, serving
from tests.support import FakeEncoder, add


class Recorder:
    """A socket that keeps what is sent over it."""

    def __init__(self) -> None:
        self.sent = b""

    def settimeout(self, seconds: float) -> None:
        pass

    def sendall(self, data: bytes) -> None:
        self.sent += bytes(data)


def message(header: dict[str, object], body: bytes = b"") -> bytes:
    """Return a message's bytes."""
    recorder = Recorder()
    protocol.send_message(recorder, header, body=body, deadline=protocol.deadline_after(SOON))  # type: ignore[arg-type]
    return recorder.sent


ANSWER = message({"ok": True, "model_id": "m", "shapes": [[1, 4]]}, bytes(16))


@contextmanager
def answering(settings: Settings, parts: list[bytes]) -> Iterator[None]:
    """Be an embedder that answers one visitor after another with so many bytes, and hangs up."""
    listener, _ = listen_for_sessions(find_embedder_address(settings))

    def serve() -> None:
        for part in parts:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65_536)
                connection.sendall(part)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(SOON)
        listener.close()


@contextmanager
def torn_off(settings: Settings) -> Iterator[None]:
    """Be an embedder that hangs up after a few bytes, on as many visitors as come."""
    listener, _ = listen_for_sessions(find_embedder_address(settings))
    listener.settimeout(0.05)
    ended = threading.Event()

    def serve() -> None:
        cut = 0
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            # A visitor in a hurry may have gone when it is its turn.
            with connection, suppress(OSError):
                connection.recv(65_536)
                connection.sendall(ANSWER[: cut % len(ANSWER)])
            cut += 9

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(SOON)
        listener.close()


def test_an_answer_cut_at_any_byte_is_an_error_at_once(settings: Settings) -> None:
    client = EmbedderClient(settings)
    started = time.monotonic()
    with answering(settings, [ANSWER[:cut] for cut in range(len(ANSWER))] + [ANSWER]):
        for cut in range(len(ANSWER)):
            with pytest.raises(EmbedderError) as refused:
                client.embed_query("a text", SOON)
            assert str(refused.value).strip(), cut
        assert client.embed_query("a text", SOON)[1].shape == (4,)
    assert time.monotonic() - started < SOON


def test_an_answer_with_any_byte_changed_is_an_answer_or_an_error(settings: Settings) -> None:
    client = EmbedderClient(settings)
    changed = [
        ANSWER[:place] + bytes([ANSWER[place] ^ flip]) + ANSWER[place + 1 :]
        for place in range(len(ANSWER) - 16)
        for flip in (1, 128)
    ]
    with answering(settings, changed):
        for _ in changed:
            try:
                assert client.embed_query("a text", SOON)[1].ndim == 1
            except EmbedderError as error:
                assert str(error).strip()


def test_a_request_cut_at_any_byte_harms_nobody_else(settings: Settings) -> None:
    request = message({"op": "embed", "texts": ["a"], "seconds": 5})
    with serving(settings):
        for cut in range(len(request)):
            with connect_to_embedder(find_embedder_address(settings), deadline=time.monotonic() + SOON) as visitor:
                visitor.sendall(request[:cut])
                visitor.shutdown(socket.SHUT_WR)
                visitor.settimeout(SOON)
                assert visitor.recv(100) == b""
        assert ask(settings, {"op": "status"})["ok"] is True


def test_a_search_whose_embedder_is_cut_off_still_answers_by_words(settings: Settings, tmp_path: Path) -> None:
    with Memory.open(settings, tmp_path) as memory:
        fact = memory.remember_fact("The mirror is in Oslo.").id
    with torn_off(settings), Memory.open(replace(settings, embedder=True), tmp_path) as memory:
        for _ in range(4):
            answer = memory.search("where is the mirror")
            assert [hit.id for hit in answer.results][:1] == [fact]


KILLED = """
import os, signal, sys
from pathlib import Path
from hyperloci.embedder.process import embedding_queue as module
from hyperloci.embedder.process.embedding_queue import drain_queue
from tests.support import FakeEncoder
when, path = sys.argv[1], Path(sys.argv[2])
def die(*ignored, **named):
    os.kill(os.getpid(), signal.SIGKILL)
class Dying(FakeEncoder):
    def encode(self, texts):
        vectors = super().encode(texts)
        if when == "model":
            die()
        return vectors
if when == "between":
    module._write_fingerprints = die
if when == "write":
    from hyperloci.store.vectors.fingerprints import Fingerprints
    real = Fingerprints.put_fingerprints
    def put_fingerprints(self, *rest, **named):
        real(self, *rest, **named)
        die()
    Fingerprints.put_fingerprints = put_fingerprints
drain_queue(path, Dying(), lambda: False)
"""


@pytest.mark.req("B.03")
@pytest.mark.parametrize("when", ["model", "between", "write"])
def test_a_drain_that_is_killed_loses_no_place_in_the_queue_and_stores_nothing_by_halves(
    store: Store, settings: Settings, when: str
) -> None:
    nodes = [add(store, f"fact {number}") for number in range(8)]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, when, str(settings.database)], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert store.vectors.count_pending() == len(nodes)
    assert store.vectors.get_rows([node.key for node in nodes], ["e1"]) == {}
    while drain_queue(settings.database, FakeEncoder(), lambda: False):
        pass
    assert store.vectors.count_pending() == 0
    assert len(store.vectors.get_rows([node.key for node in nodes], ["e1"])) == len(nodes)
    assert integrity.count_violations(store) == {}
