"""Parser process: cuts files into chunks, so that one that hangs, crashes or exhausts memory does no other harm.

It lives as long as its parent's end of the pipe, and ends by itself when it is idle. Time is processor time, counted by
the kernel, so that a busy machine sets no file aside, and a loop in C is ended too.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from hyperloci.indexing.file_reader import FreshChunk, chunk_bytes
from hyperloci.indexing.parsing.protocol import READY, ParseAnswer, ParseRequest, frame_of, receive
from hyperloci.store.projects.set_aside import describe_failure
from hyperloci.system.framing import FrameError, write_all

IDLE_SECONDS: Final = 30.0
"""A watcher's next file mostly comes sooner; the start costs a sixth of a second."""

Parse = Callable[[str, bytes], Sequence[FreshChunk]]


def main(parse: Parse = chunk_bytes, *, idle_seconds: float = IDLE_SECONDS) -> None:
    """Serve the parent at the other end of standard input and output until it is gone.

    Args:
        parse: cuts one file.
        idle_seconds: how long to wait for the next file.
    """
    answers = os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)  # What a library prints must not get between the answers.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(EOFError, FrameError, BrokenPipeError):
        _serve_requests(0, answers, parse, idle_seconds)


def _serve_requests(requests: int, answers: int, parse: Parse, idle_seconds: float) -> None:
    write = partial(os.write, answers)
    write_all(write, frame_of(READY))
    while select.select([requests], [], [], idle_seconds)[0]:
        request = receive(lambda size: os.read(requests, size))
        with _limit_resources(request):
            answer, go_on = _answer_request(request, parse)
        write_all(write, answer)
        if not go_on:
            return


def _answer_request(request: ParseRequest, parse: Parse) -> tuple[bytes, bool]:
    """Return the answer's bytes, and whether this process is fit for another file."""
    try:
        return frame_of(ParseAnswer(chunks=tuple(parse(request.path, request.data)))), True
    except MemoryError:
        return frame_of(ParseAnswer(failure=f"needs more than {request.memory / 1e9:.1f} GB of memory")), False
    except Exception as error:  # One unexpected file must not stop the others.
        return frame_of(ParseAnswer(failure=describe_failure(error))), True


@contextlib.contextmanager
def _limit_resources(request: ParseRequest) -> Iterator[None]:
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    soft = request.memory if hard == resource.RLIM_INFINITY else min(request.memory, hard)
    with contextlib.suppress(OSError, ValueError):  # macOS knows no such limit.
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    signal.setitimer(signal.ITIMER_PROF, request.seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


if __name__ == "__main__":
    main()
