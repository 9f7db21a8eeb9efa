"""Evaluate: runs a checked program and returns its result."""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, ItemsView, KeysView, Mapping, Sequence, ValuesView
from dataclasses import asdict
from types import MappingProxyType, TracebackType
from typing import Any, Final

from hyperloci.sandbox.guards import BUILTINS, program_globals
from hyperloci.sandbox.limits import ProgramLimits
from hyperloci.sandbox.policy import FILENAME, Refused, compile_program
from hyperloci.sandbox.program_names import NO_NAMES, KeptNames, collect_names, restore_names
from hyperloci.system.values import dataclass

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
class ProgramFailure:
    """Why a program ended early, and in which of its lines."""

    type: str
    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class ProgramOutcome:
    """What a program printed, its last expression's value, what went wrong, if anything, and the names it leaves."""

    output: str
    result: Any
    error: ProgramFailure | None
    names: KeptNames = NO_NAMES

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return asdict(self)


class OutputPrinter:
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
        return make_encodable_text("".join(self._parts))


def evaluate_program(
    code: str,
    functions: Mapping[str, Callable[..., Any]],
    limits: ProgramLimits,
    sources: Mapping[str, str] = MappingProxyType({}),
) -> ProgramOutcome:
    """Run a program and return its result; never raises.

    Args:
        code: the program.
        functions: what it may call beside the basic functions, by name.
        limits: how much it may print and answer; time and memory are the process's.
        sources: the names that the program before it left (`KeptNames.sources`).
    """
    printer = OutputPrinter(limits.output_chars)
    try:
        program = compile_program(code)
        given = program_globals(functions, printer)
        names = dict(given)
        restore_names(sources, names)
        exec(program.body, names)
        value = None if program.last is None else eval(program.last, names)
        result, failure = _bound_result(value, limits.result_chars)
        kept = collect_names(code, names, given, sources)
    except Refused as error:
        return ProgramOutcome("", None, ProgramFailure("Refused", str(error), error.line))
    except (Exception, Stopped) as error:
        return ProgramOutcome(printer.text(), None, _describe_failure(error))
    return ProgramOutcome(printer.text(), result, failure, kept)


def _describe_failure(error: BaseException) -> ProgramFailure:
    kind = error.kind if isinstance(error, CallFailed) else type(error).__name__
    message = _failure_message(error).strip() or NO_MESSAGE
    if len(message) > MAX_MESSAGE_CHARS:
        message = message[:MAX_MESSAGE_CHARS] + "…"
    return ProgramFailure(kind, make_encodable_text(message), _failure_line(error.__traceback__))


def _failure_message(error: BaseException) -> str:
    if isinstance(error, NameError) and error.name in dir(builtins):
        return f"{error.name} is not available here; these of Python's functions are: {', '.join(sorted(BUILTINS))}"
    if isinstance(error, MemoryError):
        return "it used too much memory"
    try:
        return str(error)
    except Exception as why:
        # Of a number with too many digits, or of lists in lists without end.
        return f"its message can't be shown ({type(why).__name__})"


def _failure_line(trace: TracebackType | None) -> int | None:
    line = None
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _bound_result(value: Any, room: int) -> tuple[Any, ProgramFailure | None]:
    """Return a value as JSON holds it, or why it is too large for an answer."""
    shown = to_plain(value)
    size = len(json.dumps(shown, ensure_ascii=False))
    if size <= room:
        return shown, None
    message = f"the last expression's value has {size:,} characters; at most {room:,} are returned: return a part of it"
    return None, ProgramFailure("ResultTooLarge", message, None)


def to_plain(value: Any, depth: int = 0) -> Any:
    """Return a value made of what JSON has; anything else stands as the name of its type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return make_encodable_text(value)
    if isinstance(value, int):
        return _plain_number(value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else repr(value)
    if depth >= MAX_DEPTH:
        return f"<{type(value).__name__}>"
    if isinstance(value, dict):
        return _plain_dictionary([(to_plain(key, depth + 1), to_plain(item, depth + 1)) for key, item in value.items()])
    if isinstance(value, _SEQUENCES):
        return [to_plain(item, depth + 1) for item in value]
    return f"<{type(value).__name__}>"


def _plain_number(value: int) -> int | str:
    if abs(value) <= _JSON_INT:
        return value
    try:
        return str(value)
    except ValueError:
        return f"<a whole number of {value.bit_length():,} bits>"


def _plain_dictionary(pairs: Sequence[tuple[Any, Any]]) -> Any:
    """Return a JSON object; the pairs where two keys would be one in it, as 1 and '1', so that none is lost."""
    names = [key if isinstance(key, str) else json.dumps(key, ensure_ascii=False) for key, _ in pairs]
    if len(set(names)) < len(names):
        return [list(pair) for pair in pairs]
    return dict(zip(names, (item for _, item in pairs), strict=True))


def make_encodable_text(text: str) -> str:
    """Return a text that can be written as UTF-8: halves of surrogate pairs become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
