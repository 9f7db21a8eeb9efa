"""Running a program that may run, and telling what came of it."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, ItemsView, KeysView, Mapping, ValuesView
from dataclasses import asdict, dataclass
from types import TracebackType
from typing import Any, Final

from hyperloci.sandbox.guards import BUILTINS, surroundings
from hyperloci.sandbox.limits import Limits
from hyperloci.sandbox.policy import FILENAME, Refused, compiled

MAX_MESSAGE_CHARS: Final = 500
"""Of an error: a message that quotes a whole text says no more than its beginning."""

NO_MESSAGE: Final = "it was raised without a message"

MAX_DEPTH: Final = 20
"""Lists in lists of a result; what is deeper, or contains itself, is shown by its type."""

_SEQUENCES: Final = (list, tuple, set, frozenset, range, KeysView, ValuesView, ItemsView)

_JSON_INT: Final = 2**53
"""Whole numbers above this are answered as text: many readers of JSON would round them."""


class Stopped(BaseException):
    """The program is at one of its limits. No program can catch it: `BaseException` is nothing it can name."""


class CallFailed(Exception):
    """A memory function refused; a program may catch it as an `Exception`.

    Attributes:
        kind: the name of our error.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program ended early, and in which of its lines."""

    type: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program printed, its last expression's value, and what went wrong, if anything did."""

    output: str
    result: Any
    error: Failure | None

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


class Printer:
    """Collects what a program prints."""

    def __init__(self, room: int) -> None:
        self._room = self._left = room
        self._parts: list[str] = []

    def _call_print(self, *items: object, sep: str = " ", end: str = "\n") -> None:
        text = sep.join(map(str, items)) + end
        self._parts.append(text[: self._left])
        self._left -= len(self._parts[-1])
        if len(self._parts[-1]) < len(text):
            raise Stopped(f"it printed more than {self._room:,} characters")

    def text(self) -> str:
        """Return all of it."""
        return sayable("".join(self._parts))


def evaluate(code: str, functions: Mapping[str, Callable[..., Any]], limits: Limits) -> Outcome:
    """Run a program and return what came of it; whatever it does, it raises nothing.

    Args:
        code: the program.
        functions: what it may call beside the basic functions, by name.
        limits: how much it may print and answer; time and memory are the process's.
    """
    printer = Printer(limits.output_chars)
    try:
        program = compiled(code)
        names = surroundings(functions, printer)
        exec(program.body, names)
        value = None if program.last is None else eval(program.last, names)
        result, failure = _answered(value, limits.result_chars)
    except Refused as error:
        return Outcome("", None, Failure("Refused", str(error), error.line))
    except (Exception, Stopped) as error:
        return Outcome(printer.text(), None, _failure(error))
    return Outcome(printer.text(), result, failure)


def _failure(error: BaseException) -> Failure:
    kind = error.kind if isinstance(error, CallFailed) else type(error).__name__
    message = _message(error).strip() or NO_MESSAGE
    if len(message) > MAX_MESSAGE_CHARS:
        message = message[:MAX_MESSAGE_CHARS] + "…"
    return Failure(kind, sayable(message), _line(error.__traceback__))


def _message(error: BaseException) -> str:
    if isinstance(error, NameError) and error.name in dir(builtins):
        return f"{error.name} is not available here; of Python's own functions these are: {', '.join(sorted(BUILTINS))}"
    if isinstance(error, MemoryError):
        return "it used more memory than it may"
    try:
        return str(error)
    except Exception as why:
        # Of a number with too many digits, or of lists in lists without end.
        return f"its message can't be shown ({type(why).__name__})"


def _line(trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _answered(value: Any, room: int) -> tuple[Any, Failure | None]:
    """Return a value as JSON holds it, or why it is too large for an answer."""
    shown = plain(value)
    size = len(json.dumps(shown, ensure_ascii=False))
    if size <= room:
        return shown, None
    message = f"the last expression's value has {size:,} characters; at most {room:,} are answered: return a part of it"
    return None, Failure("ResultTooLarge", message, None)


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value made of what JSON has; anything else stands as the name of its type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return sayable(value)
    if isinstance(value, int):
        return _number(value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else repr(value)
    if depth >= MAX_DEPTH:
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, _SEQUENCES):
        return [plain(item, depth + 1) for item in value]
    return f"<{type(value).__name__}>"


def _number(value: int) -> int | str:
    if abs(value) <= _JSON_INT:
        return value
    try:
        return str(value)
    except ValueError:
        return f"<a whole number of {value.bit_length():,} bits>"


def _key(key: Any) -> str:
    simple = plain(key, MAX_DEPTH)
    return simple if isinstance(simple, str) else json.dumps(simple)


def sayable(text: str) -> str:
    """Return a text that can be written as UTF-8: halves of surrogate pairs become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
