"""Threads share one arena of glibc."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import pytest

COUNTED = """
import ctypes, sys, threading
from hyperloci.system.allocator import share_one_arena
if sys.argv[1:]:
    share_one_arena()
library = ctypes.PyDLL(None)  # which keeps Python's lock: the threads come one after the other
library.malloc.restype = ctypes.c_void_p
held, all_there = [], threading.Barrier(4)
def hold():
    held.append(library.malloc(5000))
    all_there.wait()
threads = [threading.Thread(target=hold) for _ in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
library.malloc_stats()
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="not glibc")
@pytest.mark.parametrize(("arguments", "alone"), [([], False), (["one"], True)])
def test_all_threads_allocate_from_one_arena(arguments: list[str], alone: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *arguments], capture_output=True, text=True, check=True, timeout=60
    )
    assert (done.stderr.count("Arena ") == 1) is alone
