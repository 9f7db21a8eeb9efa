from __future__ import annotations

import threading
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from hyperloci.indexing.watching.event_queue import ChangeBatch, ChangeInbox
from tests.support import examples

SOON = 60
"""Seconds that anything here may take on a busy machine."""


def test_what_comes_in_a_burst_is_taken_at_once() -> None:
    inbox = ChangeInbox(quiet=0.05, longest=5.0)
    inbox.add_paths("a", "b")
    inbox.add_paths("a")
    inbox.add_git_change()

    assert inbox.take_batch(5.0) == ChangeBatch(paths=("a", "b"), git=True)
    assert inbox.take_batch(0.0) is None


def test_a_burst_that_never_ends_is_taken_all_the_same() -> None:
    inbox = ChangeInbox(quiet=60.0, longest=0.05)
    inbox.add_paths("a")

    assert inbox.take_batch(5.0) == ChangeBatch(paths=("a",))


def test_more_paths_than_are_kept_mean_everything() -> None:
    inbox = ChangeInbox(quiet=0.0, limit=3)
    for name in "abcd":
        inbox.add_paths(name)
    inbox.add_paths("e")

    assert inbox.take_batch(5.0) == ChangeBatch(everything=True)


def test_lost_events_mean_everything() -> None:
    inbox = ChangeInbox(quiet=0.0)
    inbox.add_paths("a")
    inbox.add_everything()

    assert inbox.take_batch(5.0) == ChangeBatch(everything=True)


def test_closing_wakes_whoever_waits() -> None:
    inbox = ChangeInbox()
    taken: list[ChangeBatch | None] = []
    thread = threading.Thread(target=lambda: taken.append(inbox.take_batch(60.0)))
    thread.start()

    inbox.close()
    thread.join(SOON)

    assert taken == [None]


def test_a_closed_inbox_gives_nothing_out() -> None:
    inbox = ChangeInbox(quiet=0.0)
    inbox.add_paths("a")
    inbox.close()

    assert inbox.take_batch(0.0) is None


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=1, max_size=8))
@settings(max_examples=examples(30))
def test_no_path_is_lost_between_threads(bursts: list[list[str]]) -> None:
    inbox = ChangeInbox(quiet=0.0)

    def put_all() -> None:
        for burst in bursts:
            inbox.add_paths(*burst)

    thread = threading.Thread(target=put_all)
    thread.start()
    found: set[str] = set()
    wanted = {path for burst in bursts for path in burst}
    deadline = time.monotonic() + SOON

    while found != wanted and time.monotonic() < deadline:
        batch = inbox.take_batch(1.0)
        found |= set(batch.paths) if batch else set()
    thread.join(SOON)

    assert found == wanted
