from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from hyperloci.config import Settings
from hyperloci.indexing import write_throttle
from hyperloci.indexing.write_throttle import QUIET_TURN_SECONDS, TURN_SECONDS, WriteThrottle
from hyperloci.store import Store
from hyperloci.store.database.connection import StoreConnection


def test_a_turn_is_one_transaction(store: Store) -> None:
    turns = WriteThrottle(store)
    with turns.take_turn() as turn:
        assert not turn.is_over() and store.connection.in_transaction
        store.scopes.ensure_scope("kept", now=1)
    with pytest.raises(ValueError, match="stop"), turns.take_turn():
        store.scopes.ensure_scope("lost", now=1)
        raise ValueError("stop")

    assert {scope.id for scope in store.scopes.list_scopes()} == {"global", "kept"}


def test_two_who_take_turns_both_get_theirs(settings: Settings) -> None:
    def work(name: str) -> None:
        with Store.open(settings.database) as store:
            turns = WriteThrottle(store)
            for i in range(40):
                with turns.take_turn():
                    store.scopes.ensure_scope(f"{name}{i}", now=1)

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    with Store.open(settings.database) as store:
        assert len(store.scopes.list_scopes()) == 81


def test_a_turn_begins_when_those_who_wait_have_had_theirs(settings: Settings) -> None:
    with Store.open(settings.database) as background, Store.open(settings.database) as other:
        looks = iter([True, True, False])
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(background, "has_waiting_writers", lambda: next(looks))
            with WriteThrottle(background).take_turn():
                background.scopes.ensure_scope("kept", now=1)
        assert next(looks, None) is None

        assert isinstance(other.connection, StoreConnection) and other.connection.queue is not None
        with other.connection.queue.announce_waiting():
            assert background.has_waiting_writers() is True


def test_one_who_waits_for_ever_holds_a_turn_up_for_a_moment_only(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(settings.database) as store:
        monkeypatch.setattr(store, "has_waiting_writers", lambda: True)
        with WriteThrottle(store).take_turn():
            store.scopes.ensure_scope("kept", now=1)

        assert "kept" in {scope.id for scope in store.scopes.list_scopes()}


def test_where_it_cannot_be_told_who_waits_turns_go_on(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store.open(settings.database) as store:
        monkeypatch.setattr(store, "has_waiting_writers", lambda: None)
        turns = WriteThrottle(store)
        for name in ("first", "second"):
            with turns.take_turn():
                store.scopes.ensure_scope(name, now=1)

        assert {"first", "second"} <= {scope.id for scope in store.scopes.list_scopes()}


def measure_turn(turns: WriteThrottle, told: SimpleNamespace) -> float:
    """Return how long a turn goes on that works until it is over."""
    with turns.take_turn() as turn:
        started = told.now
        while not turn.is_over():
            told.now += TURN_SECONDS / 8
        assert turn.is_over(), "it does not begin again for who asks twice"
        return float(told.now - started)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Return what tells turns the time: its `now`."""
    told = SimpleNamespace(now=1_000.0, sleep=lambda seconds: None)
    told.perf_counter = lambda: told.now
    monkeypatch.setattr(write_throttle, "time", told)
    return told


def test_turns_are_short_while_others_write_too(
    store: Store, told: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = WriteThrottle(store)
    assert measure_turn(turns, told) == pytest.approx(QUIET_TURN_SECONDS, abs=TURN_SECONDS)
    looks = iter([True])
    monkeypatch.setattr(store, "has_waiting_writers", lambda: next(looks, False))
    assert measure_turn(turns, told) == pytest.approx(TURN_SECONDS, abs=TURN_SECONDS / 2)
    assert measure_turn(turns, told) == pytest.approx(TURN_SECONDS, abs=TURN_SECONDS / 2)


def test_a_long_turn_ends_when_somebody_begins_to_wait(
    store: Store, told: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins = told.now + 5 * TURN_SECONDS
    monkeypatch.setattr(store, "has_waiting_writers", lambda: told.now >= begins)

    assert measure_turn(WriteThrottle(store), told) == pytest.approx(5 * TURN_SECONDS, abs=TURN_SECONDS)


def test_where_it_cannot_be_told_who_waits_turns_are_short(
    store: Store, told: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "has_waiting_writers", lambda: None)

    assert measure_turn(WriteThrottle(store), told) == pytest.approx(TURN_SECONDS, abs=TURN_SECONDS / 2)
