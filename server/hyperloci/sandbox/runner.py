"""Runner: a session's side of a program's process: starts it, answers its calls, ends it in time."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any, Final

from hyperloci.errors import BadRequestError, HyperlociError, NotReadyError
from hyperloci.model.answers import ReplAnswer, ReplError
from hyperloci.sandbox.limits import CODE_CHARS, GRACE_SECONDS, MESSAGES, ProgramLimits
from hyperloci.sandbox.program_names import MAX_NAMES_CHARS
from hyperloci.system.framing import FrameError, write_all
from hyperloci.system.values import dataclass

_COMMAND: Final = (sys.executable, "-I", "-m", "hyperloci.sandbox.child")
"""`-I` keeps the working folder, the user's packages and every PYTHON variable out of it."""

CANCELLED: Final = "it was cancelled"

FAILED: Final = "{name} failed internally; its arguments were valid. The log has the details."

_log = logging.getLogger(__name__)

Functions = Mapping[str, Callable[..., Any]]


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """A program's answer, and the names that it leaves for the next one."""

    answer: ReplAnswer
    names: Mapping[str, str]


def run_program(
    code: str,
    functions: Functions,
    limits: ProgramLimits | None = None,
    names: Mapping[str, str] = MappingProxyType({}),
    stop: threading.Event | None = None,
) -> ProgramRun:
    """Run a program in a child process and return what it printed, answered, or failed with.

    Args:
        code: the program, 1 to `CODE_CHARS` characters.
        functions: what it may have called, by name; each call runs here, on this thread.
        limits: other than the usual ones.
        names: what the program before it left.
        stop: set by who no longer waits for it, at any time: the program ends; it is set once the program is over.

    Raises:
        BadRequestError: the program is empty or too long.
        NotReadyError: this system can't put a process under limits.
    """
    if not code.strip() or len(code) > CODE_CHARS:
        raise BadRequestError(f"code has {len(code):,} characters: give a program of 1 to {CODE_CHARS:,} characters.")
    if sys.platform == "win32":
        raise NotReadyError("memory_repl does not work on Windows, which cannot limit a process; use other tools.")
    return _ProgramProcess(functions, limits or ProgramLimits(), stop or threading.Event()).run_code(code, names)


class _ProgramProcess:
    """One program's process."""

    def __init__(self, functions: Functions, limits: ProgramLimits, stop: threading.Event) -> None:
        self._functions = functions
        self._limits = limits
        self._calls = 0
        self._stop = stop
        self._why_killed: str | None = None

    def run_code(self, code: str, names: Mapping[str, str]) -> ProgramRun:
        if self._stop.is_set():
            return self._failed_answer(CANCELLED)
        with _start_child() as child, self._kill_in_time(child):
            try:
                done = self._serve_calls(child, code, names)
            except FrameError:
                return self._failed_answer("its process broke the protocol")
            except (EOFError, OSError):
                return self._failed_answer(self._end_of(child))
        return read_run(done, self._calls) or self._failed_answer("its answer could not be read")

    def _serve_calls(self, child: subprocess.Popen[bytes], code: str, names: Mapping[str, str]) -> Any:
        """Answer the child's calls until it is done; return what it says then."""
        assert child.stdout is not None
        # A child that has ended, or is at its time limit, does not read on; what it said last is still in the pipe.
        with contextlib.suppress(BrokenPipeError):
            _send(child, {"code": code, "limits": asdict(self._limits), "names": dict(names)})
        while True:
            message, _ = MESSAGES.read_json(child.stdout.read)
            if "done" in message:
                return message["done"]
            answer = self._answer_call(message.get("call"), message.get("arguments"))
            with contextlib.suppress(BrokenPipeError):
                _send(child, answer)

    def _answer_call(self, name: object, arguments: object) -> dict[str, Any]:
        try:
            return {"value": self._call_function(name, arguments)}
        except HyperlociError as error:
            return {"error": type(error).__name__, "message": str(error)}
        except FrameError:
            raise
        except Exception:
            _log.exception("%s failed in a program", name)
            return {"error": "InternalError", "message": FAILED.format(name=name)}

    def _call_function(self, name: object, arguments: object) -> Any:
        self._calls += 1
        if self._calls > self._limits.calls:
            raise BadRequestError(f"A program may call memory functions {self._limits.calls:,} times.")
        function = self._functions.get(name) if isinstance(name, str) else None
        if function is None or not isinstance(arguments, list):
            # The child got these names from us: any other name means that a program has taken it over.
            raise FrameError("a function that does not exist")
        return function(*arguments)

    @contextlib.contextmanager
    def _kill_in_time(self, child: subprocess.Popen[bytes]) -> Iterator[None]:
        over = threading.Event()

        def watch() -> None:
            seconds = self._limits.wall_seconds
            stopped = self._stop.wait(seconds + GRACE_SECONDS)
            if not over.is_set():
                self._why_killed = CANCELLED if stopped else f"it took more than {seconds:g} s and had to be killed"
                _kill_group(child)

        watcher = threading.Thread(target=watch, name="program", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            self._stop.set()
            watcher.join()

    def _end_of(self, child: subprocess.Popen[bytes]) -> str:
        """Return why a child ended that did not say so itself."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS)
        if self._why_killed is not None:
            return self._why_killed
        if child.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
            return f"it used more than {self._limits.cpu_seconds} s of processor time, or too much memory"
        return f"its process ended by itself (status {child.returncode})"

    def _failed_answer(self, why: str) -> ProgramRun:
        error = ReplError(type="Stopped", message=why)
        return ProgramRun(ReplAnswer(output="", result=None, error=error, calls=self._calls), {})


@contextlib.contextmanager
def _start_child() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(
        _COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        bufsize=0,
        env={},
        cwd="/",
        start_new_session=True,
    )
    try:
        yield child
    finally:
        _kill_group(child)
        child.wait()
        for pipe in (child.stdin, child.stdout):
            assert pipe is not None
            pipe.close()


def _send(child: subprocess.Popen[bytes], message: Mapping[str, Any]) -> None:
    assert child.stdin is not None
    write_all(child.stdin.write, MESSAGES.pack_json(message, allow_nan=False))


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    """Kill the child's whole group, unless it was waited for: its number may be another's by then."""
    if child.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)


def read_run(done: Any, calls: int) -> ProgramRun | None:
    """Return what a child says at its end as a value; None where it is not one: a child is not to be trusted."""
    try:
        failure = done["error"]
        error = None if failure is None else _read_error(failure["type"], failure["message"], failure["line"])
        names = {str(name): str(source) for name, source in dict(done["names"]["sources"]).items()}
        lost = tuple(str(name) for name in done["names"]["lost"])
        if sum(map(len, names.values())) > MAX_NAMES_CHARS:
            return None
        answer = ReplAnswer(
            output=str(done["output"]), result=done["result"], error=error, calls=calls, names_not_kept=lost
        )
        return ProgramRun(answer, names)
    except (KeyError, TypeError, ValueError):
        return None


def _read_error(kind: Any, message: Any, line: Any) -> ReplError:
    if not (isinstance(kind, str) and isinstance(message, str) and kind and message):
        raise TypeError("an error has a kind and a message")
    if line is not None and not isinstance(line, int):
        raise TypeError("a line is a number")
    return ReplError(type=kind, message=message, line=line)
