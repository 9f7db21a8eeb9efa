"""An embedder that does not answer costs one time-out; then searches use words, at once, until it is back."""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hyperloci.config import Settings
from hyperloci.embedder import circuit_breaker, protocol
from hyperloci.embedder.circuit_breaker import FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS, CircuitBreaker
from hyperloci.embedder.client import EmbedderClient, EmbedderSilentError
from hyperloci.embedder.failover import EmbedderFailover
from hyperloci.embedder.supervisor import EmbedderSupervisor
from hyperloci.embedder.transport import find_embedder_address, make_private_folder
from hyperloci.memory import Memory
from hyperloci.store import Store
from tests.embedder.helpers import SOON, command, wait_for
from tests.support import add

ENOUGH = 1.0
"""Seconds of patience that count, whatever a busy machine makes of them before they are looked at."""


@pytest.fixture(autouse=True)
def half_of_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperloci.embedder.client.MIN_COUNTED_TIMEOUT", ENOUGH / 2)


class Counted(EmbedderClient):
    """Counts what it really asks for."""

    asked: list[str]

    def _exchange_messages(self, request: Any, deadline: float) -> Any:
        self.asked = [*getattr(self, "asked", []), request["op"]]
        return super()._exchange_messages(request, deadline)


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def impostor(settings: Settings) -> Iterator[None]:
    """Listen where the embedder should, take whatever comes, and say nothing."""
    place = find_embedder_address(settings)
    make_private_folder(place.folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place.path))
        listener.listen()
        yield


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(circuit_breaker, "FIRST_RETRY_SECONDS", 0.01)
    monkeypatch.setattr(circuit_breaker, "MAX_RETRY_SECONDS", 0.01)


def test_the_pause_doubles_up_to_its_bound_and_begins_anew_after_an_answer() -> None:
    now = 0.0
    known = CircuitBreaker(lambda: now, lambda: 1_000)
    assert known.allows_request() and known.silent_since is None
    pauses = []
    for _ in range(9):
        known.record_silence()
        began = now
        while not known.allows_request():
            now += 0.25
        pauses.append(now - began)
    assert pauses == [FIRST_RETRY_SECONDS * factor for factor in (1, 2, 4, 8, 16)] + [MAX_RETRY_SECONDS] * 4
    assert known.silent_since == 1_000
    known.record_answer()
    assert known.allows_request() and known.silent_since is None
    known.record_silence()
    assert not known.allows_request()
    now += FIRST_RETRY_SECONDS
    assert known.allows_request()


def test_of_many_who_wait_only_one_asks_again() -> None:
    now = 0.0
    known = CircuitBreaker(lambda: now)
    known.record_silence()
    now = FIRST_RETRY_SECONDS
    assert [known.allows_request() for _ in range(5)] == [True, False, False, False, False]


@pytest.mark.req("E.17")
def test_a_frozen_embedder_is_waited_for_once_and_used_again_when_it_is_back(settings: Settings) -> None:
    client = Counted(settings)
    with EmbedderSupervisor(settings, command=command()) as owner:
        assert owner.ensure_running()
        wait_for(lambda: client.is_ready(ENOUGH / 4))
        assert owner.pid is not None
        with stopped(owner.pid):
            client.asked = []
            with pytest.raises(protocol.DeadlineError):
                client.embed(["a"], ENOUGH)
            for _ in range(20):
                with pytest.raises(EmbedderSilentError, match=r"has not answered since .* words until it does"):
                    EmbedderClient(settings).embed(["a"], ENOUGH)
            assert client.asked == ["embed"]
            assert client.silent_since is not None
            assert client.status() is None
            assert client.notify(settings.database) is False
        wait_for(lambda: client.is_ready(ENOUGH / 4))
        assert client.silent_since is None
        assert client.embed(["a"], SOON).shape == (1, 8)


@pytest.mark.req("E.17")
@pytest.mark.usefixtures("no_pause")
def test_one_that_stays_frozen_is_only_asked_how_it_is(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hyperloci.embedder.client.PROBE_SECONDS", 0.01)
    client = Counted(settings)
    with impostor(settings):
        with pytest.raises(protocol.DeadlineError):
            client.embed(["a"], ENOUGH)
        client.asked = []
        pause = threading.Event()
        while len(client.asked) < 3:
            with pytest.raises(EmbedderSilentError):
                client.embed(["a"], ENOUGH)
            pause.wait(0.01)
        assert set(client.asked) == {"status"}


@pytest.mark.req("W11")
def test_one_that_is_stuck_with_a_request_is_not_waited_for_again(settings: Settings) -> None:
    client = EmbedderClient(settings)
    with EmbedderSupervisor(settings, command=command()) as owner:
        assert owner.ensure_running()
        wait_for(lambda: client.is_ready(ENOUGH / 4))
        with pytest.raises(protocol.DeadlineError):
            client.embed(["hang"], 3 * ENOUGH)
        with pytest.raises(EmbedderSilentError):
            client.embed(["a"], ENOUGH)


def test_a_glance_that_was_too_short_says_nothing_of_the_embedder(settings: Settings) -> None:
    client = EmbedderClient(settings)
    with impostor(settings):
        assert not client.is_ready()
        assert client.silent_since is None


def test_a_search_says_since_when_it_has_done_without_vectors(settings: Settings) -> None:
    with impostor(settings), Memory.open(settings, settings.database.parent) as memory:
        memory.remember_fact("The harbour light is green.")
        assert EmbedderClient(settings).silent_since is not None, "it was told in vain of what waits"
        answer = memory.search("harbour light")
        assert [hit.content for hit in answer.results] == ["The harbour light is green."]
        assert answer.mode == "keyword"
        assert "has not answered since" in (answer.degraded or "")
        assert memory.stats()["embedder"]["silent_since"]


def test_a_session_starts_an_embedder_where_somebody_only_holds_the_socket(settings: Settings) -> None:
    with Store.open(settings.database) as store:
        add(store)
    with impostor(settings), EmbedderSupervisor(settings, command=command()) as owner:
        takeover = EmbedderFailover(settings, owner.ensure_running, 0.02)
        takeover.start()
        try:
            wait_for(lambda: owner.pid is not None and EmbedderClient(settings, insistent=True).is_ready(0.5))
        finally:
            takeover.stop(SOON)
