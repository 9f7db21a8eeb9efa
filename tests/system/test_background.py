"""Background threads: started once, told to stop, and what they tell of themselves."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from hyperloci.system.background import BackgroundThread, StatusBoard

LONGEST = 60.0


def test_a_thread_is_started_once_and_ends_when_it_is_told_to() -> None:
    begun: list[str] = []
    running = threading.Event()

    def work() -> None:
        begun.append(threading.current_thread().name)
        running.set()
        thread.stopping.wait()

    thread = BackgroundThread("worker", work)
    assert not thread.is_running
    thread.start()
    thread.start()
    assert running.wait(LONGEST) and thread.is_running
    assert thread.stop(LONGEST)
    assert (begun, thread.is_running) == (["worker"], False)
    thread.start()
    assert begun == ["worker"]


def test_a_thread_that_is_busy_is_not_waited_for_longer_than_said() -> None:
    done = threading.Event()

    def work() -> None:
        done.wait(LONGEST)

    thread = BackgroundThread("busy", work)
    thread.start()
    assert not thread.stop()
    done.set()
    assert thread.stop(LONGEST)


def test_a_thread_that_was_never_started_has_stopped() -> None:
    assert BackgroundThread("idle", lambda: None).stop(LONGEST)


@dataclass(frozen=True, slots=True)
class Counts:
    first: int = 0
    second: int = 0


def test_changes_of_several_threads_to_one_status_are_all_kept() -> None:
    board = StatusBoard(Counts())

    def count(field: str) -> None:
        for number in range(2_000):
            board.update(**{field: number})

    threads = [threading.Thread(target=count, args=(field,)) for field in ("first", "second")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert board.current == Counts(1_999, 1_999)
