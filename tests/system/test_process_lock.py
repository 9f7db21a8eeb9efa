from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hyperloci.system.process_lock import Election, lock_path

CANDIDATE = """
import sys, threading
from pathlib import Path
from hyperloci.system.process_lock import Election
election = Election(Path(sys.argv[1]))
election.wait_to_win(threading.Event(), retry_seconds=0.05)
print("won", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def candidates() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate(timeout=60)


def candidate(lock: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CANDIDATE, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_one_of_two_wins_and_the_other_wins_after_it_resigns(tmp_path: Path) -> None:
    first, second = Election(tmp_path / "a.lock"), Election(tmp_path / "a.lock")

    assert (first.try_to_win(), second.try_to_win()) == (True, False)
    assert (first.is_won, second.is_won) == (True, False)

    first.resign()

    assert second.try_to_win() and not first.is_won
    second.resign()


def test_winning_twice_is_winning_once(tmp_path: Path) -> None:
    election, other = Election(tmp_path / "a.lock"), Election(tmp_path / "a.lock")
    assert election.try_to_win() and election.try_to_win()

    election.resign()

    assert other.try_to_win()
    other.resign()


def test_the_lock_and_its_folders_are_made_and_private(tmp_path: Path) -> None:
    lock = lock_path(tmp_path / "state" / "locks", "watch", "project:1")
    election, before = Election(lock), os.umask(0o022)
    try:
        assert election.try_to_win()
    finally:
        os.umask(before)

    assert [path.stat().st_mode & 0o077 for path in (lock, lock.parent, lock.parent.parent)] == [0, 0, 0]
    election.resign()


def test_roles_and_subjects_have_locks_of_their_own(tmp_path: Path) -> None:
    paths = {lock_path(tmp_path, role, subject) for role in ("watch", "upkeep") for subject in ("a", "b/../c")}

    assert len(paths) == 4
    assert all(path.parent == tmp_path for path in paths)


def test_waiting_ends_when_it_is_told_to_stop(tmp_path: Path) -> None:
    owner, waiting, stop = Election(tmp_path / "a.lock"), Election(tmp_path / "a.lock"), threading.Event()
    assert owner.try_to_win()
    answers: list[bool] = []
    thread = threading.Thread(target=lambda: answers.append(waiting.wait_to_win(stop)))
    thread.start()

    stop.set()
    thread.join(60)

    assert answers == [False]
    owner.resign()


@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX")
def test_a_killed_owner_is_followed_by_the_next_process(
    tmp_path: Path, candidates: list[subprocess.Popen[str]]
) -> None:
    lock = tmp_path / "a.lock"
    owner = candidate(lock)
    candidates.append(owner)
    assert owner.stdout is not None and owner.stdout.readline() == "won\n"
    heir = candidate(lock)
    candidates.append(heir)
    assert not Election(lock).try_to_win()

    owner.send_signal(signal.SIGKILL)

    assert heir.stdout is not None and heir.stdout.readline() == "won\n"
    assert not Election(lock).try_to_win()
