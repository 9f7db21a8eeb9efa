from __future__ import annotations

import threading
import time

import pytest

from hyperloci.config import Settings
from hyperloci.ingest.turns import Turns
from hyperloci.store import Store


def test_a_turn_is_one_transaction(store: Store) -> None:
    turns = Turns(store)
    with turns.turn() as end:
        assert end > time.perf_counter() - 60 and store.connection.in_transaction
        store.scopes.ensure("kept", now=1)
    with pytest.raises(ValueError, match="stop"), turns.turn():
        store.scopes.ensure("lost", now=1)
        raise ValueError("stop")

    assert {scope.id for scope in store.scopes.all()} == {"global", "kept"}


def test_two_who_take_turns_both_get_theirs(settings: Settings) -> None:
    def work(name: str) -> None:
        with Store.open(settings.database) as store:
            turns = Turns(store)
            for i in range(40):
                with turns.turn():
                    store.scopes.ensure(f"{name}{i}", now=1)

    threads = [threading.Thread(target=work, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)

    with Store.open(settings.database) as store:
        assert len(store.scopes.all()) == 81


def test_long_rests_are_for_those_who_write_too(store: Store) -> None:
    turns = Turns(store)
    for number in range(3):
        with turns.turn():
            store.scopes.ensure(f"mine{number}", now=1)
    with store.transaction():
        store.scopes.ensure("mine too, outside of a turn", now=1)
    with turns.turn():
        assert not turns.is_shared
    with Store.open(store.path) as other, other.transaction():
        other.scopes.ensure("theirs", now=1)
    with turns.turn():
        assert turns.is_shared
