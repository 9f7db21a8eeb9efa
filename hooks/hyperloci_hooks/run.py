"""One hook process: `hyperloci-hook EVENT`. It exits with 0 and a valid answer whatever happens.

Only what every event needs is imported above the first line of work; the rest is loaded where it is used.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

from hyperloci_hooks.deadline import Deadline
from hyperloci_hooks.events import EVENTS, Event
from hyperloci_hooks.io import Outlet, answer_of, parse, read_input, text_of

if TYPE_CHECKING:
    from hyperloci.config import Settings
    from hyperloci.model.record import Record

DRAIN_SHARE: Final = 0.3
"""The part of a hook's time that may go by before it stops to store what earlier hooks left."""

UNKNOWN_SECONDS: Final = 0.5
"""For an event that isn't heard: its input is read, so that Claude Code doesn't write into a closed pipe."""

PATIENCE_SECONDS: Final = 2.5
"""How much longer a hook may take that was told something and hasn't made a record of it yet, since a busy machine is
still loading what that takes. Even so no event takes longer than the five seconds that its host gives."""

SPOOL_SECONDS: Final = 0.5
"""How long the other thread of a hook may take to leave a record: a disk that syncs takes milliseconds."""

MAX_NOTICE_CHARS: Final = 300


def main(event: str | None = None) -> NoReturn:
    """Answer an event; by default the one named on the command line."""
    # Nothing that a hook makes is garbage before the process ends.
    gc.disable()
    sys.stderr = caught = io.StringIO()
    environ = os.environ  # noqa: TID251 - a process's entry point
    # A hook multiplies one vector at most; to start a thread for each processor is a quarter of what numpy costs it.
    environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    hook = Hook(event or "".join(sys.argv[1:2]), environ)
    try:
        hook.run()
    except BaseException as error:
        hook.tell(_described(error), level="ERROR")
        hook.spool()
    finally:
        hook.outlet.answer({})
        if caught.getvalue():
            hook.tell(caught.getvalue())
        # Not the interpreter's own way out: it takes some milliseconds more, and nothing is left to be done.
        os._exit(0)


class Hook:
    """One run for one event."""

    def __init__(self, name: str, environ: Mapping[str, str]) -> None:
        self.outlet = Outlet()
        self._started = time.monotonic()
        self._name = name
        self._environ = environ
        self._settings: Settings | None = None
        self._unkept: Record | None = None
        self._told = False
        self._news = ""
        self._known = threading.Event()
        self._spooling = threading.Lock()

    def run(self) -> None:
        """Read the event, keep what it tells, and answer."""
        event = EVENTS.get(self._name)
        deadline = Deadline(event.seconds if event else UNKNOWN_SECONDS, self._out_of_time)
        payload = parse(read_input())
        if event is None or not text_of(payload, "session_id"):
            return
        self._told = True
        try:
            context = self._handle(event, payload)
            self.outlet.answer(answer_of(self._name, context if event.injects else "", self._news))
        except Exception as error:
            self.tell(_described(error), level="ERROR")
            self.spool()
            self.outlet.answer(answer_of(self._name, notice=self._notice(error)))
        deadline.stop()

    def _handle(self, event: Event, payload: Mapping[str, Any]) -> str:
        from hyperloci.clock import system_clock
        from hyperloci.config import Settings
        from hyperloci.ingest.project import identify
        from hyperloci.lifecycle.records import Records

        place = Path(self._environ.get("CLAUDE_PROJECT_DIR") or text_of(payload, "cwd") or os.getcwd())
        settings = self._settings = Settings.from_env(self._environ, place)
        if text_of(payload, "agent_id") and not settings.capture_subagents:
            return ""
        project = identify(place, override=settings.project)
        records = Records(project, text_of(payload, "session_id"), now=system_clock())
        record = self._unkept = event.make(records, payload)
        self._known.set()
        if record is None or (event.journals and self.spool()):
            return ""
        return self._keep(event, settings, place, record)

    def _keep(self, event: Event, settings: Settings, place: Path, record: Record) -> str:
        from hyperloci.memory import Memory

        with Memory.open(settings, place) as memory:
            if event.drains:
                self._drain(event, memory)
            memory.keep(record)
            self._unkept = None
            self._news = memory.notice() if self._name == "SessionStart" else ""
            return memory.context_for(record) if event.injects else ""

    def _drain(self, event: Event, memory: Any) -> None:
        from hyperloci_hooks.spool import drain_spool

        limit = self._started + DRAIN_SHARE * event.seconds
        try:
            drain_spool(memory, may_go_on=lambda: time.monotonic() < limit)
        except OSError as error:
            self.tell(f"the spool can't be read: {error}")

    def _out_of_time(self) -> None:
        in_vain = self._told and not self._known.wait(PATIENCE_SECONDS)
        self.tell(f"{self._name} ran out of time{' before it knew what to keep' if in_vain else ''}")
        self.spool()
        self.outlet.answer({})

    def spool(self) -> bool:
        """Leave what is not stored for a later hook or the server; return whether nothing is left to be stored."""
        # Two threads may want it at once. The second tries by itself where the first is stuck in a slow disk.
        alone = self._spooling.acquire(timeout=SPOOL_SECONDS)
        try:
            return self._leave(self._unkept, self._settings)
        finally:
            if alone:
                self._spooling.release()

    def _leave(self, record: Record | None, settings: Settings | None) -> bool:
        if record is None or settings is None:
            return True
        from hyperloci_hooks.spool import save

        try:
            save(settings.spool_dir, record)
        except OSError as error:
            self.tell(f"{self._name}: no record can be left in {settings.spool_dir}: {error}", level="ERROR")
            return False
        self._unkept = None
        return True

    def _notice(self, error: Exception) -> str:
        """Return what the person should know, once a session: that the memory does not work, and why."""
        from hyperloci.errors import ConfigurationError, HyperlociError, StoreBusyError

        if self._name != "SessionStart" or not isinstance(error, HyperlociError) or isinstance(error, StoreBusyError):
            return ""
        kind = "a setting is wrong" if isinstance(error, ConfigurationError) else "the memory does not work"
        return f"Hyperloci: {kind}: {error}"[:MAX_NOTICE_CHARS]

    def tell(self, message: str, *, level: str = "WARNING") -> None:
        """Write to the log, if it is known where that is."""
        if self._settings is not None:
            from hyperloci_hooks.log import log

            log(self._settings.log_file, message, level=level)


def _described(error: BaseException) -> str:
    """Return one of our messages as it is, and anything else with where it came from."""
    import traceback

    ours = any(kind.__name__ == "HyperlociError" for kind in type(error).__mro__)
    return str(error) if ours else "".join(traceback.format_exception(error))


if __name__ == "__main__":
    main()
