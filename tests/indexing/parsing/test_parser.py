"""The parser process: whatever a file does to it, the other files are cut, and the run learns why that one was not."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from hyperloci.indexing.file_reader import chunk_bytes
from hyperloci.indexing.parsing.parser import FileParser, ParserLimits, ParsingCancelledError, borrow_parser
from hyperloci.indexing.parsing.protocol import ParseAnswer, frame_of, take_frame
from hyperloci.system.framing import FrameError, pack_frame

GOOD = b"# Good\n\nA paragraph that is long enough to be a section of its own, with words in it.\n"

CHILD = """
import os, signal, sys, re
from hyperloci.indexing.parsing.child import main
from hyperloci.indexing.file_reader import chunk_bytes
from hyperloci.system.framing import pack_frame

def frame(body):
    return pack_frame(b"HLP\\1", b"", body)

def parse(path, data):
    if data == b"loop":
        while True: pass
    if data == b"loop in C":
        re.match(r"(a+)+$", "a" * 200 + "!")
    if data == b"segmentation fault":
        os.kill(os.getpid(), signal.SIGSEGV)
    if data == b"killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if data == b"memory":
        kept = []
        while True: kept.append(bytearray(1 << 24))
    if data == b"error":
        int("the secret")
    if data == b"deep":
        def down(): return down()
        down()
    if data == b"exit":
        os._exit(3)
    if data == b"torn":
        os.write(3, frame(b"half of it")[:-1])
        os._exit(0)
    if data == b"nonsense":
        os.write(3, frame(b"junk") * 3)
        signal.pause()
    if data == b"announced":
        os.write(3, b"HLP\\1" + b"\\xff" * 60)
        signal.pause()
    if data == b"prints":
        os.write(1, b"a library's own words"); print("more", flush=True)
    if data == b"sleep":
        signal.pause()
    if path.startswith("once-killed") and not os.path.exists(data.decode()):
        open(data, "x").close()
        os.kill(os.getpid(), signal.SIGKILL)
    return chunk_bytes(path, data)

main(parse)
"""

COMMAND = (sys.executable, "-c", CHILD)


@pytest.fixture
def parser() -> Iterator[FileParser]:
    """Return a parser whose process does what a file's content says."""
    with closing(FileParser(COMMAND, ParserLimits(seconds=1.0, memory=300_000_000))) as found:
        yield found


def ask(parser: FileParser, *contents: bytes, path: str = "a.md") -> list[ParseAnswer]:
    """Hand over some files at once, and return the answers."""
    for content in contents:
        parser.submit(path, content)
    return [parser.wait_for_answer() for _ in contents]


def test_a_process_cuts_files_as_this_one_does(parser: FileParser) -> None:
    files = [("a.md", GOOD), ("b.py", b"def f(x: int) -> int:\n    return x\n"), ("c.txt", b"\xff\xfe"), ("d.md", b"")]
    for path, data in files:
        parser.submit(path, data)
    assert [parser.wait_for_answer() for _ in files] == [
        ParseAnswer(chunks=chunk_bytes(path, data)) for path, data in files
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"loop", "takes more than 1 s to read"),
        (b"loop in C", "takes more than 1 s to read"),
        (b"segmentation fault", "crashes its parser (SIGSEGV)"),
        (b"memory", "needs more than 0.3 GB of memory"),
        (b"error", "ValueError"),
        (b"deep", "nested too deeply"),
        (b"killed", "its parser was ended twice while reading it"),
        (b"exit", "its parser was ended twice while reading it"),
        (b"torn", "its parser was ended twice while reading it"),
        (b"nonsense", "its parser was ended twice while reading it"),
        (b"announced", "its parser was ended twice while reading it"),
    ],
)
def test_a_file_that_breaks_its_parser_costs_only_itself(parser: FileParser, content: bytes, reason: str) -> None:
    first, bad, after, last = ask(parser, GOOD, content, GOOD, GOOD)
    assert bad.failure is not None and bad.failure.startswith(reason), bad
    assert "secret" not in bad.failure
    assert first == after == last == ParseAnswer(chunks=chunk_bytes("a.md", GOOD))


def test_bad_files_in_a_row_cost_only_themselves(parser: FileParser) -> None:
    answers = ask(parser, b"error", b"segmentation fault", b"killed", GOOD, b"exit", b"deep", GOOD)
    assert [answer.failure is None for answer in answers] == [False, False, False, True, False, False, True]


def test_what_a_library_prints_is_no_answer(parser: FileParser) -> None:
    printed, after = ask(parser, b"prints", GOOD)
    assert printed == ParseAnswer(chunks=chunk_bytes("a.md", b"prints"))
    assert after == ParseAnswer(chunks=chunk_bytes("a.md", GOOD))


def test_a_process_that_something_else_killed_is_no_files_fault(parser: FileParser, tmp_path: object) -> None:
    marker = f"{tmp_path}/marker".encode()
    parser.submit("once-killed.md", marker)
    assert parser.wait_for_answer() == ParseAnswer(chunks=chunk_bytes("once-killed.md", marker))


def test_a_process_that_was_killed_between_two_files_is_started_anew(parser: FileParser) -> None:
    (first,) = ask(parser, GOOD)
    assert parser.process_id is not None
    os.kill(parser.process_id, signal.SIGKILL)
    (second,) = ask(parser, GOOD)
    assert first == second == ParseAnswer(chunks=chunk_bytes("a.md", GOOD))


def test_a_frozen_process_is_ended(monkeypatch: pytest.MonkeyPatch, parser: FileParser) -> None:
    ask(parser, GOOD)
    with monkeypatch.context() as impatient:
        impatient.setattr("hyperloci.indexing.parsing.parser.WALL_FACTOR", 0.0)
        (frozen,) = ask(parser, b"sleep")
    assert frozen.failure == "was not read within 0 s"
    (after,) = ask(parser, GOOD)
    assert after.failure is None


def test_a_cancelled_run_does_not_wait_for_its_file(parser: FileParser) -> None:
    parser.submit("a.md", b"sleep")
    with pytest.raises(ParsingCancelledError):
        parser.wait_for_answer(lambda: True)


def test_more_than_the_pipes_hold_is_exchanged(parser: FileParser) -> None:
    parser.limits = ParserLimits()
    data = GOOD * 12_000
    answers = ask(parser, *[data] * 4, path="a.txt")
    expected = ParseAnswer(chunks=chunk_bytes("a.txt", data))
    assert all(answer == expected for answer in answers)


def test_files_that_a_larger_limit_allows_are_cut(parser: FileParser) -> None:
    assert ParserLimits(seconds=2.0).make_request("a", b"x").seconds == 2.0
    assert ParserLimits(seconds=2.0).make_request("a", b"x" * 3_000_000).seconds == 6.0


@pytest.mark.parametrize("command", [("/nowhere/python",), (sys.executable, "-c", "pass")])
def test_without_a_process_files_are_cut_here_and_it_is_said(command: tuple[str, ...]) -> None:
    with closing(FileParser(command)) as parser:
        good, bad = ask(parser, GOOD, GOOD)
        assert good == bad == ParseAnswer(chunks=chunk_bytes("a.md", GOOD))
        assert parser.unisolated is not None and "could not be started" in parser.unisolated


def test_an_idle_process_ends_and_the_next_file_starts_another() -> None:
    command = (sys.executable, "-c", "from hyperloci.indexing.parsing.child import main; main(idle_seconds=0.0)")
    with closing(FileParser(command)) as parser:
        parser.submit("a.md", GOOD)
        # It may end before it was asked anything: that is no file's fault, twice in a row included.
        assert parser.wait_for_answer().chunks == chunk_bytes("a.md", GOOD)


def test_a_process_dies_with_its_parent(tmp_path: object) -> None:
    import subprocess

    program = (
        "from hyperloci.indexing.parsing.parser import FileParser; import os, signal\n"
        "p = FileParser(); p.submit('a.md', b'x'); p.wait_for_answer(); print(p.process_id, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True)
    pid = int(done.stdout)
    wait_until(lambda: not is_alive(pid))


def test_the_next_run_finds_the_process_of_the_last_one() -> None:
    with borrow_parser() as first:
        ask(first, GOOD)
        pid = first.process_id
        with borrow_parser() as other:
            ask(other, GOOD)
            assert other.process_id != pid
            beside = other.process_id
        assert beside is not None
    with borrow_parser() as again:
        assert again.process_id in (pid, beside)


def test_a_run_that_leaves_files_behind_takes_its_process_with_it() -> None:
    with borrow_parser() as parser:
        ask(parser, GOOD)
        pid = parser.process_id
        parser.submit("a.md", GOOD)
    assert pid is not None and not is_alive(pid)


@pytest.mark.parametrize(
    "torn", [b"HLP\1" + b"\xff" * 8, pack_frame(b"HLP\1", b"", b"xx"), pack_frame(b"HLP\0", b"", b"\0" * 60)]
)
def test_bytes_that_are_no_value_are_refused(torn: bytes) -> None:
    with pytest.raises(FrameError):
        take_frame(bytearray(torn))


def test_a_value_is_taken_only_when_all_of_it_is_there() -> None:
    frame = frame_of(ParseAnswer(failure="x"))
    buffer = bytearray()
    for byte in frame[:-1]:
        buffer.append(byte)
        assert take_frame(buffer) is None
    buffer.append(frame[-1])
    assert take_frame(buffer + frame) == ParseAnswer(failure="x")


def is_alive(pid: int) -> bool:
    """Tell whether a process runs (one that ended and was not waited for does not)."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait for a condition, a minute at most."""
    import threading

    for _ in range(6_000):
        if condition():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came about")
