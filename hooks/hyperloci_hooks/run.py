"""Hook process: `hyperloci-hook [--client NAME] EVENT`. It exits with 0 and a valid answer whatever happens.

It loads only the standard library, sends its event to a running server of the same database, and returns the answer. If
no server runs or answers in time, a separate process handles the event and this one only waits for it, so that neither
a slow import nor a regular expression that holds the interpreter can make it late.
"""

from __future__ import annotations

import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal

    from hyperloci.system.data_paths import InstallationPaths
    from hyperloci_hooks.client import ServerConnection
    from hyperloci_hooks.finisher_launch import HookInput
else:
    # What `signal` wraps: its enumerations take a hook longer to load than all else that it does.
    import _signal as signal

EMPTY = b"{}\n"

MAX_INPUT_BYTES = 16 << 20
"""An edit of a large file contains the whole file; larger input is not worth a second of parsing."""

TOLD_SECONDS = 0.5
"""How long a hook waits for its record to be stored after a signal to end: Claude Code kills it a moment later."""

_PIECE = 1 << 16

_STDIN, _STDOUT = 0, 1

CLIENT_VARIABLE = "HYPERLOCI_HOOK_CLIENT"
"""As in `dialects.dialect`, which Claude Code's hooks do without."""


def main(event: str | None = None) -> None:
    """Answer an event; by default the one named on the command line."""
    from hyperloci.system.data_paths import drop_empty_home

    bell = _open_signal_pipe()
    drop_empty_home(os.environ)  # noqa: TID251 - an entry point
    environ = dict(os.environ)  # noqa: TID251 - an entry point
    answer = EMPTY
    try:
        name, answer = _name_event([event] if event else sys.argv[1:], environ)
        if not _is_switched_off(environ):
            answer = HookProcess(name, environ, bell, answer).run()
    except BaseException as error:
        # The edge of the process: whatever is wrong here, the session goes on.
        from hyperloci_hooks.log import log_error

        log_error(error, environ)
    finally:
        _write_answer(answer)
        # The interpreter's normal exit takes some milliseconds more, and nothing is left to do.
        os._exit(0)


def _is_switched_off(environ: dict[str, str]) -> bool:
    from hyperloci.system.data_paths import HOOKS_OFF, HOOKS_VARIABLE

    return environ.get(HOOKS_VARIABLE) == HOOKS_OFF


def _name_event(arguments: list[str], environ: dict[str, str]) -> tuple[str, bytes]:
    """Return our name of the event that the arguments name, and what answers it where nothing else does.

    The environment that is handed on says whose dialect it is.
    """
    environ.pop(CLIENT_VARIABLE, None)
    if arguments[:1] != ["--client"]:
        return "".join(arguments[:1]), EMPTY
    from hyperloci_hooks.dialects.dialect import load_dialect

    environ[CLIENT_VARIABLE] = "".join(arguments[1:2])
    table, event = load_dialect(environ[CLIENT_VARIABLE]), "".join(arguments[2:3])
    if table is None:
        return event, EMPTY
    return table.events.get(event, ""), f"{table.empty_answers.get(event, '{}')}\n".encode("ascii")


def _open_signal_pipe() -> int:
    """Return a descriptor that becomes readable at a signal to end; -1 if the system has no such signals.

    Claude Code sends a signal when a hook takes too long, and kills it a moment later.
    """
    if os.name != "posix":
        return -1
    heard, bell = os.pipe()
    os.set_blocking(bell, False)
    signal.set_wakeup_fd(bell, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, _ignore_signal)
    return heard


def _ignore_signal(number: int, frame: object) -> None:
    """Do nothing: the descriptor wakes the waiting thread."""


class HookProcess:
    """One run for one event."""

    def __init__(self, name: str, environ: dict[str, str], bell: int, empty: bytes = EMPTY) -> None:
        from hyperloci_hooks.budget import SECONDS, UNKNOWN_SECONDS

        self._began = time.monotonic()
        self._name = name
        self._environ = environ
        self._bell = bell
        self._empty = empty
        self._known = name in SECONDS
        self._until = self._began + SECONDS.get(name, UNKNOWN_SECONDS)
        self._folder = ""
        self._mark = environ.get("HYPERLOCI_HOOK_MARK") or os.urandom(8).hex()

    def run(self) -> bytes:
        """Read the event, have it handled, and return the answer."""
        payload = self._read_input()
        if not self._known or payload is None or not payload.strip():
            return self._empty
        from hyperloci_hooks.client import ANSWERED, note_parents
        from hyperloci_hooks.finisher_launch import HookInput

        note_parents(self._name, self._environ)
        where = self._find_paths()
        event = HookInput(self._name, payload, self._environ, self._mark)
        outcome, line = self._call_server(event, where)
        if outcome == ANSWERED:
            self._note_outcome("served")
            return line.answer if line else self._empty
        return self._hand_over(event, line)

    def _read_input(self) -> bytes | None:
        """Return what is on stdin; None if it does not end in time or is too long.

        On a busy machine Claude Code may be as late with the input as the hook with its answer.
        """
        import select

        from hyperloci_hooks.budget import PATIENCE_SECONDS

        until = self._until + (PATIENCE_SECONDS if self._known else 0)
        pieces: list[bytes] = []
        size = 0
        while True:
            if self._bell >= 0:
                left = max(until - time.monotonic(), 0)
                readable, _, _ = select.select([_STDIN, self._bell], [], [], left)
                if _STDIN not in readable:
                    self._note_dropped()
                    return None
            piece = os.read(_STDIN, _PIECE)
            if not piece:
                break
            size += len(piece)
            if size <= MAX_INPUT_BYTES:
                pieces.append(piece)
        if size > MAX_INPUT_BYTES:
            self._note_dropped()
            return None
        return b"".join(pieces)

    def _note_dropped(self) -> None:
        """Count the event as lost."""
        if self._known:
            self._find_paths()
            self._note_outcome("dropped")

    def _find_paths(self) -> InstallationPaths | None:
        """Return the paths of the database's files; None if they depend on further settings."""
        from hyperloci.system.data_paths import find_paths

        try:
            where = find_paths(self._environ)
        except (ValueError, TypeError, OSError, ImportError):
            return None
        self._folder = where.spool
        return where

    def _call_server(self, event: HookInput, where: InstallationPaths | None) -> tuple[str, ServerConnection | None]:
        from hyperloci_hooks import client
        from hyperloci_hooks.budget import GRACE_SECONDS

        if where is None:
            return client.REFUSED, None
        said = client.pack_event(event.name, event.payload, where.database, event.mark, event.environ)
        grace = GRACE_SECONDS.get(event.name, 0)
        return client.call_server((where.runtime_dir, where.sockets), said, self._until, self._bell, grace)

    def _hand_over(self, event: HookInput, line: ServerConnection | None) -> bytes:
        """Let a separate process handle the event; return its answer if it comes in time."""
        from hyperloci_hooks import client, finisher_launch
        from hyperloci_hooks.budget import GRACE_SECONDS, PATIENCE_SECONDS

        self._note_outcome("began")
        if not hasattr(os, "fork"):
            _, answer = finisher_launch.spawn_finisher(event)
            self._note_outcome("own" if answer else "late")
            return answer or self._empty
        try:
            finisher = finisher_launch.fork_finisher(event, line, _finish_event)
        except OSError:
            self._note_outcome("dropped")
            return self._empty
        # Without a server it may use what a server would have had; a server that is late has had it.
        grace = GRACE_SECONDS.get(event.name, 0) if line is None else 0
        outcome = finisher.wait_for_outcome(self._until + grace, self._bell)
        if outcome == client.LATE and line is None:
            outcome = finisher.wait_for_outcome(self._until + PATIENCE_SECONDS, self._bell, for_answer=False)
        if outcome == client.TOLD:
            finisher.tell_to_spool()
            finisher.wait_for_outcome(time.monotonic() + TOLD_SECONDS, -1, for_answer=False)
        self._note_outcome("own" if finisher.answer else "late")
        return finisher.answer or self._empty

    def _note_outcome(self, outcome: str) -> None:
        from hyperloci_hooks.outcome_log import append_outcome

        if self._folder:
            append_outcome(self._folder, self._name, outcome, 1_000 * (time.monotonic() - self._began), self._mark)


def _finish_event(event: HookInput, line: ServerConnection | None, words: int) -> None:
    """Handle an event in the separate process: its imports would delay the answer of this one."""
    from hyperloci.system.late_libraries import load_late

    # It asks `inspect`, which loads `ast` and `tokenize`, about classes without a docstring: there are none here.
    with load_late(["inspect"]):
        import dataclasses  # noqa: F401 - so that it is there, for all that follows

    from hyperloci_hooks.finisher import finish_event

    finish_event(event, line, words)


def _write_answer(answer: bytes) -> None:
    try:
        while answer:
            answer = answer[os.write(_STDOUT, answer) :]
    except OSError:
        return


if __name__ == "__main__":
    main()
