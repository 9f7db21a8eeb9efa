"""The leash: a program ends with whoever asked for it, and when its time is over."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from hyperloci.system.leash import EXPIRED, NOT_STARTED, build_leash_command, pack_input
from tests.embedder.helpers import alive, wait_for

SOON = 60

ECHO = "import sys; sys.stdout.write(sys.stdin.read()); sys.exit(3)"

FAMILY = """
import os, subprocess, sys, threading
child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
print(os.getpid(), child.pid, flush=True)
threading.Event().wait()
"""
"""A program that starts another one, and ends neither."""


@contextmanager
def leashed(*command: str, seconds: float = SOON, given: bytes = b"") -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        build_leash_command(seconds, command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(pack_input(given))
        process.stdin.flush()
        yield process
        process.kill()


def family_of(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    assert process.stdout is not None
    return [psutil.Process(int(number)) for number in process.stdout.readline().split()]


def test_a_program_gets_its_input_and_gives_its_output_and_its_status() -> None:
    text = "ä\n\0" * 50_000
    with leashed(sys.executable, "-c", ECHO, given=text.encode()) as process:
        assert process.stdout is not None
        assert process.stdout.read().decode() == text
        assert process.wait(SOON) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="process groups as POSIX has them")
def test_a_program_and_what_it_started_end_when_whoever_asked_is_gone() -> None:
    with leashed(sys.executable, "-c", FAMILY) as process:
        family = family_of(process)
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SOON)
        wait_for(lambda: not any(map(psutil.Process.is_running, family)), seconds=SOON)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups as POSIX has them")
def test_a_program_and_what_it_started_end_when_their_time_is_over() -> None:
    # On a busy machine the time may be over before the program has begun.
    for seconds in (0.5, 2.0, 8.0, 32.0):
        with leashed(sys.executable, "-c", FAMILY, seconds=seconds) as process:
            assert process.stdout is not None
            family = [int(number) for number in process.stdout.readline().split()]
            assert process.wait(SOON) == EXPIRED
        if family:
            break
    assert len(family) == 2
    wait_for(lambda: not any(map(alive, family)), seconds=SOON)


def test_a_program_that_cannot_be_started_is_told_of(tmp_path: Path) -> None:
    with leashed(os.fspath(tmp_path / "nothing")) as process:
        assert process.stderr is not None
        assert b"nothing" in process.stderr.read()
        assert process.wait(SOON) == NOT_STARTED
