"""Looking for topics anew, as a command waits for it."""

from __future__ import annotations

from hyperloci.queries.topic_report import refresh_topics
from hyperloci.store import Store
from tests.support import NOW, add


def test_waiting_for_topics_tells_how_many_scopes_are_done_and_what_comes_first(store: Store) -> None:
    scopes = ("project:one", "global")
    keys = [store.scopes.ensure_scope(scope, now=NOW) for scope in scopes]
    told: list[tuple[int, int, str]] = []

    def finish_one() -> None:
        with store.transaction():
            store.topics.record_run(keys.pop(), 12, now=NOW)
        for number in range(2):
            add(store, f"waits for its vector, {number}")

    assert refresh_topics(store, scopes, finish_one, now=NOW, progress=lambda *step: told.append(step))
    assert told == [(0, 2, "looking for topics"), (1, 2, "2 memories of this project embedded first")]
