"""An embedder that is gone while memories wait is missed, whatever took it; one that nobody needs is not."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from hyperloci.config import Settings
from hyperloci.embedder.client import EmbedderClient
from hyperloci.embedder.failover import EmbedderFailover
from hyperloci.embedder.supervisor import EmbedderSupervisor
from hyperloci.store import Store
from hyperloci.store.vectors.block_sizes import MAX_ATTEMPTS
from tests.embedder.helpers import SOON, alive, command, wait_for
from tests.support import add

OFTEN = 0.01


@contextmanager
def looking(settings: Settings, start: Callable[[], object]) -> Iterator[EmbedderFailover]:
    takeover = EmbedderFailover(settings, start, OFTEN)
    takeover.start()
    try:
        yield takeover
    finally:
        takeover.stop(SOON)


def looked(takeover: EmbedderFailover, times: int = 5) -> None:
    """Return when a takeover has looked so often again."""
    looks = 0
    real = takeover._is_embedder_running
    done = threading.Event()

    def counted() -> bool:
        nonlocal looks
        looks += 1
        if looks > times:
            done.set()
        return real()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(takeover, "_is_embedder_running", counted)
        assert done.wait(SOON)


def test_a_survivor_that_is_asked_nothing_starts_an_embedder_when_the_owner_is_gone(settings: Settings) -> None:
    with Store.open(settings.database) as store:
        add(store)
    client = EmbedderClient(settings)
    first, second = (EmbedderSupervisor(settings, command=command()) for _ in range(2))
    with second, looking(settings, second.ensure_running) as takeover:
        with first:
            assert first.ensure_running()
            wait_for(lambda: client.is_ready(0.5))
            looked(takeover)
            gone = first.pid
            assert gone is not None
        wait_for(lambda: second.pid is not None and client.is_ready(0.5))
        assert second.pid != gone
        assert not alive(gone)


def test_no_embedder_is_started_where_nothing_waits(settings: Settings) -> None:
    started: list[int] = []
    with looking(settings, lambda: started.append(1)) as takeover:
        looked(takeover)
        with Store.open(settings.database) as store:
            looked(takeover)
            node = add(store)
            wait_for(lambda: started)
            with store.transaction():
                for _ in range(MAX_ATTEMPTS):
                    store.vectors.note_failures([node.key], "too long")
            looked(takeover)
            before = len(started)
            looked(takeover)
            assert len(started) == before


def test_what_can_not_be_looked_at_is_looked_at_again(settings: Settings) -> None:
    started: list[int] = []
    settings.database.write_bytes(b"no database at all, for now " * 200)
    with looking(settings, lambda: started.append(1)) as takeover:
        looked(takeover)
        assert not started
        settings.database.unlink()
        with Store.open(settings.database) as store:
            add(store)
        wait_for(lambda: started)
