"""Event work: makes and stores the record of an event and answers it, both in a server and in a hook's process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hyperloci.system.parents import PARENTS_VARIABLE
from hyperloci_hooks import outcome_log
from hyperloci_hooks.dialects.dialect import CLAUDE_CODE, CLIENT_VARIABLE, Dialect, load_dialect
from hyperloci_hooks.dialects.translation import recognise_client, shape_answer, translate_payload
from hyperloci_hooks.dialects.wiring import is_captured_elsewhere
from hyperloci_hooks.events import EVENTS, EventRule
from hyperloci_hooks.io import get_text, make_answer, parse_object
from hyperloci_hooks.log import append_to_log

if TYPE_CHECKING:
    from hyperloci.config import Settings
    from hyperloci.memory import Memory
    from hyperloci.model.record import CaptureRecord
    from hyperloci_hooks.spool import TryMarks

MAX_NOTICE_CHARS: Final = 300

Later = Callable[["Settings", Path, "CaptureRecord"], None]
"""Has the turns before a stored record read, under settings and in a folder."""

OpenMemory = Callable[["Settings", Path, str], "AbstractContextManager[Memory]"]
"""Lends the memory of a folder under settings; the text is the id of the project there."""


class EventWork:
    """The work for one event. `spool_record` may be called from another thread than `answer_event`."""

    def __init__(
        self,
        name: str,
        environ: Mapping[str, str],
        *,
        cwd: str = "",
        mark: str | None = None,
        lend: OpenMemory,
        by_itself: bool = False,
        later: Later | None = None,
    ) -> None:
        """Create it.

        Args:
            name: our name of the event, which is Claude Code's.
            environ: the hook's environment; it says whose dialect the hook was installed for.
            cwd: the hook's folder.
            mark: identifies this event.
            lend: opens the memory.
            by_itself: no server runs: events with little time save their record to the spool, others drain it.
            later: has the turns read that a record ends; None does it at once.
        """
        self.known = threading.Event()
        self.spooled = False
        self._name = name
        self._environ = environ
        self._wired = environ.get(CLIENT_VARIABLE) or CLAUDE_CODE
        self._client = self._wired
        self._cwd = cwd
        self._mark = mark
        self._lend = lend
        self._by_itself = by_itself
        self._later = later
        self._settings: Settings | None = None
        self._unkept: CaptureRecord | None = None
        self._news = ""
        self._wrong: list[str] = []
        self._marks: TryMarks | None = None
        self._ready: str | None = None
        self._spooling = threading.Lock()

    def answer_event(self, payload: bytes) -> dict[str, Any]:
        """Store the record of an event and return the answer; there is always one, whatever fails."""
        event, told = EVENTS.get(self._name), self._translate_input(parse_object(payload))
        if event is None or not get_text(told, "session_id"):
            self.known.set()
            return self._make_answer()
        try:
            context = self._handle_event(event, told)
            return self._make_answer(context if event.injects else "", self._join_notices())
        except Exception as error:  # The edge of an event: its record waits, and the session goes on.
            self.write_log(describe_error(error), level="ERROR")
            self.spool_record()
            return self._make_answer(notice=self._describe_fault(error))
        finally:
            self.known.set()

    def make_ready_answer(self) -> dict[str, Any] | None:
        """Return the answer of a session's start as far as it was rendered ahead; None before that was looked up.

        For a start whose time is over: what was said right before it may be missing.
        """
        return self._make_answer(self._ready) if self._ready else None

    def _translate_input(self, told: dict[str, Any]) -> dict[str, Any]:
        """Return what the hook was told in our names, and note which client runs it."""
        self._client = recognise_client(self._wired, told, self._environ)
        table = load_dialect(self._client)
        return told if table is None else translate_payload(table, told)

    def _make_answer(self, context: str = "", notice: str = "") -> dict[str, Any]:
        """Return the answer in the form of the client whose dialect the hook speaks."""
        table: Dialect | None = load_dialect(self._wired)
        if table is None:
            return make_answer(self._name, context, notice)
        return shape_answer(table, self._name, context, notice)

    def _find_place(self, told: Mapping[str, Any]) -> Path:
        """Return the folder of the session: as Claude Code says it, or as another client tells it with the event."""
        mine, theirs = self._environ.get("CLAUDE_PROJECT_DIR"), get_text(told, "cwd")
        first, second = (mine, theirs) if self._client == CLAUDE_CODE else (theirs, mine)
        return Path(first or second or self._cwd or os.getcwd())

    def _is_captured_elsewhere(self, place: Path) -> bool:
        home = self._environ.get("HOME") or self._environ.get("USERPROFILE") or os.path.expanduser("~")
        return is_captured_elsewhere(self._client, self._wired, home=Path(home), project=place, environ=self._environ)

    def save_ahead(self, payload: bytes) -> Path | None:
        """Save an event's record to the spool, ahead of whoever stores it; return the file, None if there is none."""
        from hyperloci_hooks.spool import save_record

        event, told = EVENTS.get(self._name), self._translate_input(parse_object(payload))
        try:
            made = None if event is None or not get_text(told, "session_id") else self._make_record(event, told)
            return None if made is None else save_record(made[0], made[2])
        except Exception as error:  # The edge of an event: what follows stores it, or tells why not.
            self.write_log(f"{self._name}: the record can't be saved ahead: {error}")
            return None

    def make_empty_answer(self) -> dict[str, Any]:
        """Return the answer of an event of which nothing is told, in the form of the hook's client."""
        return self._make_answer()

    def _handle_event(self, event: EventRule, told: Mapping[str, Any]) -> str:
        made = self._make_record(event, told)
        self._unkept = None if made is None else made[2]
        self.known.set()
        if made is None or (event.journals and self._by_itself and self.spool_record(journal=True)):
            return ""
        settings, place, record = made
        context = self._store_record(event, settings, place, record)
        self._write_rules(place, context)
        return context

    def _make_record(self, event: EventRule, told: Mapping[str, Any]) -> tuple[Settings, Path, CaptureRecord] | None:
        """Return what has to be kept of an event, where and under which settings; None for nothing."""
        from hyperloci.clock import forget_offset, read_clock
        from hyperloci.config import Settings, has_foreign_clock
        from hyperloci.conversations.capture.records import RecordFactory
        from hyperloci.project.identity import identify_project

        place = self._find_place(told)
        if self._client != self._wired and self._is_captured_elsewhere(place):
            return None
        settings, self._wrong = Settings.from_usable(self._environ, place)
        self._settings = settings
        if get_text(told, "agent_id") and not settings.capture_subagents:
            return None
        project = identify_project(place, override=settings.project)
        has_own_clock = not has_foreign_clock(self._environ, place)
        if self._by_itself and not has_own_clock:
            forget_offset()
        records = RecordFactory(
            project,
            get_text(told, "session_id"),
            now=read_clock(self._environ if has_own_clock else {}),
            mark=self._mark,
            client=self._client,
            client_version=get_text(told, "client_version") or None,
            parents=tuple(self._environ.get(PARENTS_VARIABLE, "").split()),
        )
        record = event.make(records, told)
        return None if record is None else (settings, place, record)

    def _write_rules(self, place: Path, context: str) -> None:
        """Put what a session begins with where a client reads it that may drop a hook's answer."""
        table = load_dialect(self._client) if self._name == "SessionStart" else None
        if table is None or not table.rules_file:
            return
        from hyperloci_hooks.dialects.rules_file import write_rules

        try:
            write_rules(place, table.rules_file, context)
        except OSError as error:
            self.write_log(f"{place / table.rules_file} can't be written: {error}")

    def _store_record(self, event: EventRule, settings: Settings, place: Path, record: CaptureRecord) -> str:
        with self._lend(settings, place, record.project_id) as memory:
            if self._name == "SessionStart":
                # One row, before anything that a busy machine may make wait.
                self._ready = memory.read_ready_opening(record)
            if event.drains and self._by_itself:
                self._drain_spool(memory)
            memory.keep(record)
            self._unkept = None
            if self._later is None or event.injects:
                self._consolidate(memory, record)
            else:
                self._later(settings, place, record)
            if event.injects:
                self._take_back(memory, settings, record)
            context = memory.get_context_for_record(record, self._mark or "") if event.injects else ""
            self._news = memory.get_place_notice() if self._name == "SessionStart" else memory.describe_recall(record)
            return context

    def _take_back(self, memory: Memory, settings: Settings, record: CaptureRecord) -> None:
        """Have told again what this session's hooks had no time to hand over."""
        late = outcome_log.find_late_marks(settings.installation_paths.spool)
        # A run that asks once more had no answer the first time.
        memory.take_back_context(record, late | {self._mark or ""})

    def _consolidate(self, memory: Memory, record: CaptureRecord) -> None:
        """Store what the turns yield; if that fails, maintenance does it later, and the session gets its context."""
        from hyperloci.errors import HyperlociError

        try:
            memory.consolidate_record(record)
        except HyperlociError as error:
            self.write_log(f"{self._name}: the turns are stored, but not consolidated yet: {error}")

    def _drain_spool(self, memory: Any) -> None:
        from hyperloci_hooks.spool import TryMarks, drain_spool

        self._marks = TryMarks()
        try:
            drain_spool(memory, marks=self._marks)
        except OSError as error:
            self.write_log(f"can't read the spool: {error}")

    def clear_try_marks(self) -> None:
        """Take the marks off what is being stored out of the spool: the process ends for another reason."""
        if self._marks is not None:
            self._marks.clear()

    def spool_record(self, *, journal: bool = False) -> bool:
        """Save an unstored record to the spool; return whether nothing is left to store.

        Args:
            journal: the record goes to the spool by design, not because the database can't take it.
        """
        # Two threads may call this at once. The second goes on alone if the first is stuck on a slow disk.
        alone = self._spooling.acquire(timeout=SPOOL_SECONDS)
        try:
            return self._save_to_spool(self._unkept, self._settings, journal)
        finally:
            if alone:
                self._spooling.release()

    def _save_to_spool(self, record: CaptureRecord | None, settings: Settings | None, journal: bool) -> bool:
        if record is None or settings is None:
            return True
        from hyperloci_hooks.spool import save_record

        try:
            save_record(settings, record)
        except OSError as error:
            self.write_log(f"{self._name}: no record can be written to {settings.spool_dir}: {error}", level="ERROR")
            return False
        self._unkept = None
        self.spooled = not journal
        return True

    def _join_notices(self) -> str:
        """Return what the user is told: of settings that can't be used at a session's start alone."""
        wrong = self._wrong if self._name == "SessionStart" else []
        told = [f"Hyperloci: a setting is wrong, so its default holds: {fault}"[:MAX_NOTICE_CHARS] for fault in wrong]
        return "\n".join([*told, self._news] if self._news else told)

    @property
    def is_lost(self) -> bool:
        """Whether there is a record that is neither stored nor in the spool."""
        return self._unkept is not None

    def _describe_fault(self, error: Exception) -> str:
        """Return a notice for the user, once per session: that the memory does not work, and why."""
        from hyperloci.errors import ConfigurationError, HyperlociError, StoreBusyError

        if self._name != "SessionStart" or not isinstance(error, HyperlociError) or isinstance(error, StoreBusyError):
            return ""
        kind = (
            "nothing is kept, as a setting is wrong"
            if isinstance(error, ConfigurationError)
            else "the memory does not work"
        )
        return f"Hyperloci: {kind}: {error}"[:MAX_NOTICE_CHARS]

    def write_log(self, message: str, *, level: str = "WARNING") -> None:
        """Write to the log, if its path is known."""
        if self._settings is not None:
            append_to_log(str(self._settings.log_file), message, level=level)


SPOOL_SECONDS: Final = 0.5
"""How long the other thread of a hook may take to save a record: syncing a disk takes milliseconds."""


def describe_error(error: BaseException) -> str:
    """Return our own errors as their message, and any other error with its traceback."""
    import traceback

    ours = any(kind.__name__ == "HyperlociError" for kind in type(error).__mro__)
    return str(error) if ours else "".join(traceback.format_exception(error))
