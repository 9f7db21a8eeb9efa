"""Programs in their real process: what the kernel lets them have, and how they end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from hyperloci.errors import BadRequestError, NotReadyError
from hyperloci.model.answers import ReplAnswer, ReplError
from hyperloci.sandbox import runner
from hyperloci.sandbox.limits import MESSAGES, ProgramLimits
from hyperloci.sandbox.runner import read_run
from hyperloci.sandbox.runner import run_program as run_for_names
from hyperloci.system.framing import FrameError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="programs are not run on Windows")

SOON = 60
"""Seconds a process may take to end on a busy machine."""

TIGHT = ProgramLimits(wall_seconds=SOON, cpu_seconds=1, memory_bytes=200 << 20, calls=5)
"""A second of processor time: how long that takes is the machine's affair."""


def run_program(code: str, functions: runner.Functions, limits: ProgramLimits | None = None) -> ReplAnswer:
    return run_for_names(code, functions, limits).answer


def echo(*arguments: Any) -> Any:
    return list(arguments)


FUNCTIONS = {"memory_query": echo, "memory_add_fact": echo}


def ended(code: str, limits: ProgramLimits = TIGHT) -> ReplAnswer:
    """Run a program that may not come to its end."""
    answer = run_program(code, FUNCTIONS, limits)
    assert answer.result is None
    assert answer.error is not None, answer
    return answer


@pytest.mark.req("SPEC-02.37")
def test_a_program_calls_the_memory_prints_and_answers() -> None:
    answer = run_program("print('seen')\n[memory_query('a', limit=3), memory_add_fact('b')]", FUNCTIONS)
    assert answer == ReplAnswer(output="seen\n", result=[["a", 3], ["b", 1.0]], error=None, calls=2)


@pytest.mark.req("SPEC-02.37")
def test_a_program_that_nobody_waits_for_any_more_is_ended() -> None:
    stop = threading.Event()
    patient = ProgramLimits(wall_seconds=SOON, cpu_seconds=SOON)

    def query(*_: Any) -> list[str]:
        stop.set()
        return []

    done = run_for_names("memory_query('a')\nwhile True: pass", {"memory_query": query}, patient, stop=stop)
    assert done.answer.error == ReplError(type="Stopped", message=runner.CANCELLED)
    assert done.answer.calls == 1
    # One that still waited for its turn is never begun.
    assert run_for_names("memory_query('a')", {"memory_query": query}, stop=stop).answer.calls == 0


def test_the_output_and_the_text_of_any_script_come_back_whole() -> None:
    assert run_program("print('日本 \\U0001f600')\n'é'", {}).output == "日本 \U0001f600\n"


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(
    "code",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        1/0\n    except:\n        pass",
        "while True:\n    try:\n        pass\n    finally:\n        continue",
        "def f():\n    while True:\n        yield 1\nlist(1 for _ in f() if False)",
        "10 ** 10 ** 8",
        "x = 3\nwhile True:\n    x = x * x",
        "'a' * 30 in ('a' * 29 + 'b') * 9_999_999 * 1",
        "hash((1,) * 10_000_000)\nfor a in iter(int, 1):\n    pass",
        "sorted(range(10 ** 9), key=lambda n: -n)",
        "sum(range(10 ** 12))",
    ],
    ids=lambda code: code.replace("\n", " ")[:40],
)
def test_a_program_without_end_is_ended(code: str) -> None:
    error = ended(code).error
    assert error is not None
    assert error.type in {"Stopped", "MemoryError"}


def test_a_program_that_is_stopped_is_told_where() -> None:
    error = ended("print('here')\nn = 0\nwhile True:\n    n += 1").error
    assert error is not None
    assert error.message == "it took more than 1 s of processor time"
    assert error.line in {3, 4}


def test_what_was_printed_before_a_program_was_stopped_is_told() -> None:
    assert ended("print('here')\nwhile True:\n    pass").output == "here\n"


def test_waiting_counts_as_well_as_computing() -> None:
    def slow(*_: Any) -> None:
        time.sleep(0.05)  # A slow memory, not a wait for something to happen.

    answer = run_program(
        "while True:\n    memory_query('x')", {"memory_query": slow}, ProgramLimits(wall_seconds=0.5, cpu_seconds=9)
    )
    assert answer.error is not None
    assert "more than 0.5 s" in answer.error.message


def test_a_program_that_holds_the_interpreter_past_its_time_is_killed() -> None:
    error = ended("sum(range(10 ** 12))", ProgramLimits(wall_seconds=1.5, cpu_seconds=60)).error
    assert error is not None
    assert error.message == "it took more than 1.5 s and had to be killed"


@pytest.mark.parametrize(
    "code",
    [
        "x = [0] * 10 ** 9",
        "x = 'a' * 10 ** 10",
        "x = []\nwhile True:\n    x.append('a' * 10 ** 6)",
        "x = 'ab'\nwhile True:\n    x = x + x",
        "x = {}\nfor n in range(10 ** 8):\n    x[n] = n",
        "'{:>9999999999}'\nf'{1:>9999999999}'",
        "'%9999999999d' % 1",
        "'a'.ljust(10 ** 10)",
        "'a'.replace('', 'b' * 10 ** 6).replace('b', 'c' * 10 ** 6)",
        "1 << 10 ** 10",
        "[[]] * 10 ** 9",
        "list(range(10 ** 9))",
        "x = [1]\nfor _ in range(60):\n    x = [x, x]\nrepr(x)",
        "','.join(map(str, range(10 ** 9)))",
    ],
    ids=lambda code: code.replace("\n", " ")[:40],
)
@pytest.mark.req("SPEC-02.32")
def test_a_program_that_wants_too_much_memory_is_ended(code: str) -> None:
    error = ended(code, ProgramLimits(wall_seconds=SOON, cpu_seconds=8, memory_bytes=120 << 20)).error
    assert error is not None
    assert error.type in {"MemoryError", "Stopped", "OverflowError", "ValueError"}


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("def f():\n    return f()\nf()", "RecursionError"),
        ("f = lambda g: g(g)\nf(f)", "RecursionError"),
        ("x = []\nfor _ in range(100_000):\n    x = [x]\nrepr(x)", "RecursionError"),
        ("x = []\nfor _ in range(100_000):\n    x = [x]\nx == x[0]", "RecursionError"),
        ("x = []\nfor _ in range(100_000):\n    x = [x]\nmemory_query(x)", "RecursionError"),
        ("-" * 9_000 + "1", "Refused"),
        ("(" * 4_000 + ")" * 4_000, "Refused"),
        ("1" + "+1" * 4_900, "Refused"),
        ("x" + "[0]" * 3_000, "Refused"),
        ("lambda: " * 1_200 + "0", "Refused"),
    ],
    ids=lambda value: value.replace("\n", " ")[:40],
)
def test_deep_nesting_ends_in_an_error_not_in_a_crash(code: str, kind: str) -> None:
    error = ended(code).error
    assert error is not None
    assert error.type == kind


def test_a_flood_of_output_is_cut_at_its_limit() -> None:
    answer = ended("while True:\n    print('x' * 1000)")
    assert len(answer.output) == TIGHT.output_chars
    assert answer.error is not None
    assert "20,000 characters" in answer.error.message


def test_calls_are_counted_and_capped() -> None:
    answer = run_program("for n in range(9):\n    memory_query('x')", FUNCTIONS, TIGHT)
    assert answer.calls == TIGHT.calls + 1
    assert answer.error is not None
    assert answer.error.type == "BadRequestError"
    assert "5 times" in answer.error.message


@pytest.mark.parametrize("argument", ["print", "{1}", "float('nan')", "1j", "b'x'"])
def test_an_argument_that_is_not_json_is_refused_in_the_child(argument: str) -> None:
    answer = ended(f"memory_query({argument})")
    assert answer.calls == 0


def test_an_error_of_a_function_can_be_caught_by_the_program() -> None:
    def refuse(*_: Any) -> None:
        raise BadRequestError("limit=99 is outside 1..50.")

    code = "try:\n    memory_query('x', 99)\nexcept Exception as e:\n    said = str(e)\nsaid"
    assert run_program(code, {"memory_query": refuse}).result == "limit=99 is outside 1..50."
    error = run_program("memory_query('x')", {"memory_query": refuse}).error
    assert error is not None
    assert (error.type, error.line) == ("BadRequestError", 1)


def test_of_a_fault_of_ours_a_program_is_told_that_it_was_ours() -> None:
    def broken(*_: Any) -> None:
        raise KeyError("an inner secret")

    answer = run_program("print('before')\nmemory_query('x')", {"memory_query": broken})
    assert answer.output == "before\n"
    assert answer.error is not None
    assert (answer.error.type, answer.error.line) == ("InternalError", 2)
    assert "memory_query failed internally" in answer.error.message
    assert "an inner secret" not in str(answer)


@pytest.mark.parametrize(
    "failure",
    [
        {"type": "ValueError", "message": "", "line": 1},
        {"type": "", "message": "m", "line": 1},
        {"type": 5, "message": "m", "line": 1},
        {"type": "ValueError", "message": "m", "line": "1"},
        {"type": "ValueError"},
        "ValueError",
    ],
)
def test_a_child_that_tells_an_error_of_another_form_is_not_believed(failure: Any) -> None:
    assert read_run({"output": "", "result": None, "error": failure}, 0) is None


@pytest.mark.parametrize("code", ["", "  \n", "x" * 10_001])
def test_a_program_must_have_a_sensible_length(code: str) -> None:
    with pytest.raises(BadRequestError, match=r"1 to 10,000"):
        run_program(code, {})


def test_a_system_without_limits_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(NotReadyError, match="Windows"):
        run_program("1", {})


# -- the process itself, as if a program had got out of the language -------------------------------------------------


def out_of_the_language(code: str) -> subprocess.CompletedProcess[str]:
    """Run unrestricted Python in a process set up as a program's is, and return what it printed."""
    prelude = (
        "import json, os, socket, subprocess, sys, threading\n"
        "from hyperloci.sandbox import limits\n"
        "from hyperloci.sandbox.limits import ProgramLimits\n"
        "limits.apply_limits(ProgramLimits())\n"
        "def attempt(what):\n"
        "    try:\n"
        "        what()\n"
        "    except (OSError, RuntimeError, MemoryError) as error:\n"
        "        print('refused', type(error).__name__)\n"
        "    else:\n"
        "        print('got it')\n"
    )
    return subprocess.run(
        [sys.executable, "-I", "-c", prelude + code], env={}, cwd="/", capture_output=True, text=True, timeout=SOON
    )


@pytest.mark.req("SPEC-02.32")
@pytest.mark.parametrize(
    "what",
    [
        "lambda: open('/etc/hostname')",
        "lambda: open('/tmp/hyperloci-escape', 'w')",
        "lambda: os.listdir('/')",
        "lambda: socket.socket()",
        "lambda: os.pipe()",
        "lambda: os.dup(1)",
        "lambda: subprocess.run(['true'])",
        "lambda: bytearray(10 ** 9)",
    ],
)
def test_the_kernel_refuses_what_the_language_should_have(what: str) -> None:
    done = out_of_the_language(f"attempt({what})")
    assert done.stdout.startswith("refused"), done


@pytest.mark.skipif(os.name != "posix" or os.getuid() == 0, reason="the kernel does not count root's processes")
def test_the_kernel_refuses_to_fork() -> None:
    assert out_of_the_language("attempt(os.fork)").stdout.startswith("refused")


def test_limits_can_not_be_raised_again() -> None:
    code = (
        "import resource\nprint(*(resource.getrlimit(x)[1] for x in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE)))"
    )
    assert out_of_the_language(code).stdout.split() == ["3", "0"]


def test_the_child_has_no_environment_and_imports_nothing_of_the_memory() -> None:
    code = (
        "import os, sys, hyperloci.sandbox.child\n"
        "print(sorted(set(os.environ) - {'LC_CTYPE'}))\n"
        "print(sorted({'sqlite3', 'hyperloci.memory', 'hyperloci.store', 'numpy', 'mcp'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], env={}, cwd="/", capture_output=True, text=True, timeout=SOON
    )
    assert done.stdout.splitlines() == ["[]", "[]"]


def liar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """Put another program in the child's place."""
    script = tmp_path / "liar.py"
    script.write_text(
        "import sys, json, os, time\n"
        "from functools import partial\n"
        "from hyperloci.system.framing import pack_frame\n"
        f"frame = partial(pack_frame, b'HLR\\x01')\n{code}\n"
    )
    monkeypatch.setattr(runner, "_COMMAND", (sys.executable, "-I", str(script)))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.write(1, b'\\xff' * 100)", "protocol"),
        ("os.write(1, frame(b'hello'))", "protocol"),
        ("os.write(1, frame(b'[]'))", "protocol"),
        ("os.write(1, frame(b'{}')[:-1])", "ended by itself"),
        ("sys.exit(7)", "ended by itself (status 7)"),
        (
            "m = json.dumps({'call': 'close', 'arguments': []}).encode()\nos.write(1, frame(m))\ntime.sleep(60)",
            "protocol",
        ),
        (
            "m = json.dumps({'call': ['memory_query'], 'arguments': 3}).encode()\n"
            "os.write(1, frame(m))\ntime.sleep(60)",
            "protocol",
        ),
        ('m = b\'{"done": {"output": 1}}\'\nos.write(1, frame(m))', "could not be read"),
        ("m = b'{\"done\": [1]}'\nos.write(1, frame(m))", "could not be read"),
    ],
)
def test_a_child_that_was_taken_over_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    liar(tmp_path, monkeypatch, code)
    error = ended("1").error
    assert error is not None
    assert said in error.message


def test_a_child_that_says_nothing_is_killed_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    liar(tmp_path, monkeypatch, "time.sleep(600)")
    error = ended("1", ProgramLimits(wall_seconds=0.1)).error
    assert error is not None
    assert "had to be killed" in error.message


def test_messages_have_a_largest_size() -> None:
    with pytest.raises(FrameError, match="too large to send"):
        MESSAGES.pack_json({"x": "y" * (8 << 20)})


SESSION = """
import sys
from hyperloci.sandbox import runner
real = runner.subprocess.Popen
def told(*arguments, **options):
    child = real(*arguments, **options)
    print(child.pid, flush=True)
    return child
runner.subprocess.Popen = told
runner.run_program("memory_query('x')\\nwhile True:\\n    pass", {"memory_query": lambda *_: None},
           runner.ProgramLimits(wall_seconds=300, cpu_seconds=300))
"""


@pytest.mark.req("SPEC-02.32")
def test_a_program_dies_with_its_session(tmp_path: Path) -> None:
    session = subprocess.Popen([sys.executable, "-c", SESSION], stdout=subprocess.PIPE, text=True)
    assert session.stdout is not None
    with session.stdout:
        child = int(session.stdout.readline())
        # Its own group: nothing that is sent to the session's reaches it.
        assert os.getpgid(child) == child
        session.send_signal(signal.SIGKILL)
        session.wait(SOON)
    deadline = time.monotonic() + SOON
    while is_alive(child):
        assert time.monotonic() < deadline, "the program outlived its session"
        time.sleep(0.02)  # Between two looks, under a deadline.


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    try:
        # A zombie that nobody has waited for yet is dead.
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_no_process_is_left_behind() -> None:
    before = set(psutil.Process().children(recursive=True))
    answer = run_program("[n for n in range(3)]", {})
    assert json.dumps(answer.result) == "[0, 1, 2]"
    assert set(psutil.Process().children(recursive=True)) <= before
