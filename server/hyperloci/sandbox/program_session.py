"""Program session: the programs of one session, one after the other.

Each is all or nothing: what it wrote is one transaction, and the names it leaves are there for the next one. A program
that fails leaves neither.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from threading import Event
from typing import Any, Final

from hyperloci.model.answers import ReplAnswer, ReplError
from hyperloci.names import suggest_name
from hyperloci.sandbox.limits import ProgramLimits
from hyperloci.sandbox.runner import Functions, run_program

Transaction = Callable[[], AbstractContextManager[None]]
"""Begins a transaction; when it is left, what was written is stored, or undone if it is left by an error."""

WRITING: Final = frozenset({"memory_add_fact", "memory_add_experience", "memory_relate"})
"""Functions that write: the first call of one of them begins the program's transaction."""

UNDONE: Final = "{message}. Nothing of this program is stored: its {writes} undone. Correct it and run all of it again."

_UNKNOWN_NAME: Final = re.compile(r"name '(\w+)' is not defined")


class _ProgramFailed(Exception):
    """Ends the transaction of a program that failed."""


class _LateTransaction:
    """A transaction that begins with the first write: a program that only reads holds up nobody."""

    def __init__(self, begin: Transaction, stack: ExitStack) -> None:
        self._begin = begin
        self._stack = stack
        self._begun = False
        self.writes = 0

    def cover(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function, as one that writes within this transaction."""

        def write(*arguments: Any) -> Any:
            if not self._begun:
                self._stack.enter_context(self._begin())
                self._begun = True
            answer = function(*arguments)
            self.writes += 1
            return answer

        return write


class ProgramSession:
    """What the programs of one session share."""

    def __init__(self) -> None:
        self._names: Mapping[str, str] = {}

    def run(
        self,
        code: str,
        functions: Functions,
        begin: Transaction,
        limits: ProgramLimits | None = None,
        stop: Event | None = None,
    ) -> ReplAnswer:
        """Run a program; raises as `run_program`."""
        with contextlib.suppress(_ProgramFailed), ExitStack() as stack:
            writes = _LateTransaction(begin, stack)
            covered = {name: writes.cover(call) if name in WRITING else call for name, call in functions.items()}
            done = run_program(code, covered, limits, self._names, stop)
            answer = done.answer
            if answer.error is not None:
                answer = replace(answer, error=_explain(answer.error, writes.writes, functions), undone=writes.writes)
                raise _ProgramFailed
        if answer.error is None:
            self._names = done.names
        return answer


def _explain(error: ReplError, writes: int, functions: Functions) -> ReplError:
    """Return an error with what was meant by a name that does not exist, and what became of the writes."""
    message = error.message
    unknown = _UNKNOWN_NAME.search(message) if error.type == "NameError" else None
    if unknown is not None and (meant := suggest_name(unknown[1], functions)):
        message = f"{message}; {meant}"
    if writes:
        told = f"{writes} writes were" if writes > 1 else "one write was"
        message = UNDONE.format(message=message.rstrip("."), writes=told)
    return replace(error, message=message)
