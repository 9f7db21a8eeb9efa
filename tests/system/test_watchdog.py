"""The watchdog: what can't end itself is ended, and nothing else is."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from tests.embedder.helpers import wait_for

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="processes can't be forked there")

SOON = 60

BEGIN = """
import os, re, signal, sys
from hyperloci.system import watchdog
watchdog.END_SECONDS = 0.2
watchdog.start_watchdog()
for number in watchdog.ENDINGS:
    signal.signal(number, lambda *_: os._exit(0))
print("ready", flush=True)
"""

SPINS = "import threading"
SPUN_SECONDS = 0.2

HOLDS_THE_INTERPRETER = f"""{SPINS}
{BEGIN}
threading.Thread(target=re.match, args=(r"(a+)+$", "a" * 100 + "b")).start()
threading.Event().wait()
"""
"""The main thread, which alone hears signals, doesn't get the interpreter's lock again."""

PATIENT = BEGIN.replace("END_SECONDS = 0.2", f"END_SECONDS = {SOON}")
"""For what ends its own way, which a busy machine may be slow at."""

WAITS = PATIENT + "signal.pause()\n"
WAITS_AND_HEEDS_NOTHING = BEGIN.replace("os._exit(0)", "None") + "while True: signal.pause()\n"


@contextmanager
def running(program: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        if program.startswith(SPINS):
            began = psutil.Process(process.pid).cpu_times().user
            # Nothing but the expression takes time from here on.
            wait_for(lambda: psutil.Process(process.pid).cpu_times().user > began + SPUN_SECONDS, seconds=SOON)
        yield process
        process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("program", [HOLDS_THE_INTERPRETER, WAITS_AND_HEEDS_NOTHING], ids=["regex", "deaf"])
def test_a_process_that_does_not_end_when_it_is_asked_to_is_killed(program: str, number: signal.Signals) -> None:
    with running(program) as process:
        process.send_signal(number)
        assert process.wait(SOON) == -signal.SIGKILL


def test_a_process_whose_client_has_gone_is_killed_even_if_a_regex_holds_the_interpreter() -> None:
    with running(HOLDS_THE_INTERPRETER) as process:
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(SOON) == -signal.SIGKILL


def test_a_process_that_ends_when_it_is_asked_to_ends_its_own_way() -> None:
    with running(WAITS) as process:
        process.terminate()
        assert process.wait(SOON) == 0


def test_nothing_is_read_of_what_is_said_to_the_process_and_its_pipes_close_with_it() -> None:
    with running(PATIENT + "print(sys.stdin.readline(), end='', flush=True); os._exit(3)\n") as process:
        out, _ = process.communicate(b"hello\n", timeout=SOON)
        assert out == b"hello\n"
        assert process.returncode == 3


def test_without_the_watchdog_the_regex_would_outlive_the_signal() -> None:
    with running(re.sub(r"watchdog\.start_watchdog\(\)", "", HOLDS_THE_INTERPRETER)) as process:
        process.terminate()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(1)
