"""Session events: store what hooks report, and return the context to inject (`Memory` calls this)."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hyperloci.clock import Clock
from hyperloci.config import Settings
from hyperloci.conversations.capture.client_names import CLIENT_VERSION_NOTE
from hyperloci.conversations.capture.sessions import (
    NewTurn,
    add_turn,
    add_turns,
    drop_stored_actions,
    end_session,
    set_lines_aside,
    start_session,
)
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.record import CLAUDE_CODE, FRESH_START_SOURCES, CaptureKind, CaptureRecord
from hyperloci.model.turn import Speaker, TurnKind
from hyperloci.store import Store

if TYPE_CHECKING:
    from hyperloci.conversations.capture.prompt_context import PromptSearch
    from hyperloci.conversations.capture.transcript import TranscriptBatch
    from hyperloci.jobs import MaintenanceContext

_log = logging.getLogger(__name__)

CONTEXT_LOST_SOURCES: Final = FRESH_START_SOURCES | {"compact"}
"""The assistant has no context, or has lost it: what the session was shown before counts no more."""

HURRIED_TURNS: Final = 20
"""New turns stored while a prompt waits, at some milliseconds each: a transcript that nobody read holds hundreds."""

HURRIED_BYTES: Final = 1 << 20
"""Read while a prompt waits, in some ten milliseconds: what tools gave back fills most of a long turn."""

RECENT_SESSIONS: Final = 20
"""Sessions whose transcripts are searched for turns that no hook reported."""


class Capture:
    """Keeps records in one store. Each is durable when `store_record` returns, and kept once however often it comes."""

    def __init__(self, store: Store, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock

    def store_record(self, record: CaptureRecord) -> int:
        """Store a record's turns and return how many were new (B.01, B.02, E.10).

        A record names the place it was made at; what is stored goes to the project that place belongs to by now.

        Raises:
            StoreError: it could not be stored; of a transcript's turns, those of whole batches may have been.
            OSError: the transcript can't be read; the last message was stored.
        """
        record = self._assign_scope(record)
        if record.kind is CaptureKind.PROMPT and record.path is not None:
            return self._store_unreported(record, Path(record.path)) + self._store_record(record)
        if record.kind is not CaptureKind.TURNS or record.path is None:
            return self._store_record(record)
        new = 0
        try:
            new = self._store_transcript(record, Path(record.path))
        finally:
            # After the transcript's turns, which were said before it.
            new += self._store_record(record)
        return new

    def _store_unreported(self, record: CaptureRecord, transcript: Path) -> int:
        """Store what was said before a prompt and no hook told: no hook tells that the user interrupted a turn.

        The prompt may answer it, and would else stand before it. What was said after it waits: a prompt may be stored
        late. So does a transcript that is too long or can't be read, for the next turn's end.
        """
        mark = self._store.sessions.get_transcript_mark(str(transcript))
        try:
            gained = transcript.stat().st_size - (0 if mark is None else mark.offset)
        except (OSError, ValueError):  # A NUL in it: no file has such a name.
            return 0
        if gained == 0 or gained > HURRIED_BYTES:
            return 0  # What reads transcripts need not be loaded.
        from hyperloci.conversations.capture.transcript import read_batch

        try:
            reading = read_batch(transcript, mark, root=record.project_root, batch_bytes=HURRIED_BYTES)
        except OSError:
            return 0
        if reading is None:
            return 0
        before = tuple(itertools.takewhile(lambda turn: (turn.timestamp_ms or 0) <= record.at, reading.turns))
        fresh = drop_stored_actions(self._store, record.session_id, before)
        if len(fresh) > HURRIED_TURNS:
            return 0
        return self._store_batch(record, transcript, replace(reading, turns=fresh), is_read=before == reading.turns)

    def place_record(self, record: CaptureRecord) -> CaptureRecord:
        """Return a record with the session and the project that it belongs to by now."""
        return self._assign_scope(record)

    def _assign_scope(self, record: CaptureRecord) -> CaptureRecord:
        """Return a record with the scope of its place; a session that goes on in another project is another there."""
        scope = self._store.places.get_scope_id(record.project_id)
        session = self._store.sessions.get_session(record.session_id)
        if session is not None and session.scope != scope:
            return replace(record, project_id=scope, session_id=f"{record.session_id}@{scope}")
        return record if scope == record.project_id else replace(record, project_id=scope)

    def _store_record(self, record: CaptureRecord) -> int:
        now = self._clock()
        with self._store.transaction():
            self._register_project(record, now)
            if record.kind is CaptureKind.STARTED:
                self._start_session(record, now, source=record.text, transcript=record.path)
            elif record.kind is CaptureKind.ENDED:
                self._end_session(record, now)
            elif record.text:
                node = add_turn(self._store, record.session_id, record.project_id, _make_turn(record), now=now)
                return int(node is not None)
        return 0

    def _start_session(
        self, record: CaptureRecord, told_at: int, *, source: str = "", transcript: str | None = None
    ) -> None:
        start_session(
            self._store,
            record.session_id,
            record.project_id,
            now=record.at,
            told_at=told_at,
            source=source,
            transcript=transcript,
            client=record.client,
            client_version=record.client_version or self._find_client_version(record),
            parents=record.parents,
        )

    def _find_client_version(self, record: CaptureRecord) -> str | None:
        """Return the version that the client told the server which it started last, for hooks that tell none."""
        return self._store.meta.get(f"{CLIENT_VERSION_NOTE}{record.client}")

    def _end_session(self, record: CaptureRecord, told_at: int) -> None:
        if self._store.sessions.get_session(record.session_id) is None:
            self._start_session(record, told_at)
        end_session(self._store, record.session_id, now=record.at, reason=record.text)

    def _store_transcript(self, record: CaptureRecord, path: Path, *, is_late: bool = False) -> int:
        """Store what a transcript has gained; batch by batch, so that a hook that is cut off has not worked in vain.

        With `is_late` an ended session stays ended.
        """
        from hyperloci.conversations.capture.transcript import read_batch

        new = 0
        mark = self._store.sessions.get_transcript_mark(str(path))
        while True:
            try:
                reading = read_batch(path, mark, root=record.project_root)
            except (FileNotFoundError, NotADirectoryError):
                return new  # Claude Code writes it after the first prompt.
            if reading is None:
                return new
            new += self._store_batch(record, path, reading, is_late=is_late)
            mark = reading.mark
            if not reading.has_more:
                return new

    def _store_batch(
        self,
        record: CaptureRecord,
        path: Path,
        reading: TranscriptBatch,
        *,
        is_late: bool = False,
        is_read: bool = True,
    ) -> int:
        """Store a batch's turns and return how many were new; with `is_read` it is not read again."""
        # A hook dates its record itself: what it tells of was said by then, whatever this process's clock says.
        now = max(self._clock(), record.at)
        session, scope = record.session_id, record.project_id
        with self._store.transaction():
            self._register_project(record, now)
            new = add_turns(self._store, session, scope, reading.turns, now=now, client=record.client, are_late=is_late)
            if is_read:
                set_lines_aside(self._store, session, scope, reading.failed, now=now)
                self._store.sessions.set_transcript_mark(str(path), reading.mark, now=now)
        return new

    def _register_project(self, record: CaptureRecord, now: int) -> None:
        scopes = self._store.scopes
        if scopes.find_key(record.project_id) is None:
            scopes.ensure_scope(record.project_id, now=now, name=record.project_name, root=record.project_root)

    def context_after(self, record: CaptureRecord, found: PromptSearch | None = None, mark: str = "") -> str:
        """Return what to put before the assistant after a kept record, '' for nothing; it reinforces nothing.

        `mark` tells the hook's run that hands it over.
        """
        record = self._assign_scope(record)
        if record.kind is CaptureKind.STARTED:
            return self._session_context(record, mark)
        if record.kind is CaptureKind.PROMPT and found is not None:
            return self._prompt_context(record, found, mark)
        return ""

    def take_back_context(self, record: CaptureRecord, marks: Collection[str]) -> None:
        """Forget that a record's session was shown what hooks handed over too late (`marks`): it is to be told yet."""
        from hyperloci.conversations.capture.shown_memories import list_injections, take_back_injections

        session_id = self._assign_scope(record).session_id
        noted = list_injections(self._store.sessions.get_session(session_id))
        if any(one.mark and one.mark in marks for one in noted):
            with self._store.transaction():
                take_back_injections(self._store, session_id, marks)

    def describe_recall(self, record: CaptureRecord) -> str:
        """Return in one line what was recalled with a prompt, '' for nothing."""
        from hyperloci.conversations.capture.shown_memories import describe_recall, list_injections

        session = self._store.sessions.get_session(self._assign_scope(record).session_id)
        injection = next((one for one in list_injections(session) if one.record == record.id), None)
        if injection is None or record.kind is not CaptureKind.PROMPT:
            return ""
        nodes = filter(None, map(self._store.nodes.get_node, injection.ids))
        return describe_recall([node.subtype or node.type for node in nodes])

    def _session_context(self, record: CaptureRecord, mark: str) -> str:
        from hyperloci.conversations.capture.consolidation_offer import make_offer
        from hyperloci.conversations.capture.context_injection import open_session
        from hyperloci.conversations.capture.shown_memories import Injection, save_injection

        session = self._store.sessions.get_session(record.session_id)
        if session is None:
            return ""
        with self._store.transaction():
            injection = open_session(
                self._store,
                session,
                project=record.project_id,
                settings=self._settings,
                now=record.at,
                source=record.text,
            )
            shown = Injection(record.id, "session start", record.at, injection.ids, mark)
            save_injection(self._store, session, shown, anew=record.text in CONTEXT_LOST_SOURCES)
        offer = make_offer(self._store, self._settings, record.project_id, source=record.text, now=record.at)
        return "\n".join(filter(None, (injection.text, offer)))

    def read_ready_opening(self, record: CaptureRecord) -> str:
        """Return the opening that was rendered ahead for a session that starts, '' where there is none; reads only."""
        from hyperloci.conversations.capture.context_injection import read_ready_opening

        if record.kind is not CaptureKind.STARTED:
            return ""
        record = self._assign_scope(record)
        known = self._store.sessions.get_session(record.session_id)
        return read_ready_opening(
            self._store,
            record.project_id,
            self._settings,
            now=record.at,
            source=record.text,
            client=record.client,
            besides=None if known is None else known.key,
        )

    def prepare_opening(self, scope: str) -> bool:
        """Render what the next session of a project begins with, unless that is there; return whether it was done."""
        from hyperloci.conversations.capture.context_injection import prepare_opening

        return prepare_opening(self._store, scope, self._settings, self._clock())

    def _prompt_context(self, record: CaptureRecord, found: PromptSearch, mark: str) -> str:
        from hyperloci.conversations.capture.injection_format import name_clients
        from hyperloci.conversations.capture.prompt_context import PromptOccasion, build_prompt_context
        from hyperloci.conversations.capture.shown_memories import Injection, load_shown_ids, save_injection

        session = self._store.sessions.get_session(record.session_id)
        occasion = PromptOccasion(
            prompt=record.text,
            scope=record.project_id,
            session_id=record.session_id,
            seen=load_shown_ids(session),
            now=record.at,
        )
        injection = build_prompt_context(self._store, occasion, found)
        if injection.ids and session is not None:
            with self._store.transaction():
                shown = Injection(record.id, "prompt", record.at, injection.ids, mark)
                save_injection(self._store, session, shown, anew=False)
        return name_clients(injection.text, None if session is None else session.client)

    def store_late_turns(self, scope: str) -> int:
        """Store the turns of ended sessions that were written after the last hook ran; return how many.

        A transcript that can't be read is left for the next time.
        """
        new = 0
        root = next((known.root for known in self._store.scopes.list_scopes() if known.id == scope), None)
        for session in self._store.sessions.list_recent(scope, RECENT_SESSIONS):
            path = session.metadata.get("transcript")
            if session.ended_at is None or not isinstance(path, str):
                continue
            record = CaptureRecord(
                id="",
                kind=CaptureKind.TURNS,
                session_id=session.id,
                project_id=scope,
                project_name=scope,
                project_root=root or "",
                at=session.ended_at,
                client=session.client or CLAUDE_CODE,
            )
            try:
                new += self._store_transcript(record, Path(path), is_late=True)
            except OSError as error:
                _log.warning("the transcript of session %s can't be read: %s", session.id, error)
        return new


def prepare_openings(context: MaintenanceContext) -> int:
    """Job: render ahead what the next session of each project begins with; return how many were rendered."""
    capture = Capture(context.store, context.settings, context.clock)
    rendered = 0
    for scope in context.list_scopes():
        if scope != GLOBAL_SCOPE and context.store.sessions.list_recent(scope, 1):
            rendered += capture.prepare_opening(scope)
            context.yield_to_others()
    return rendered


def _make_turn(record: CaptureRecord) -> NewTurn:
    """Return the turn in a record: a prompt, an action, or the assistant's last message."""
    action = record.kind is CaptureKind.ACTION
    return NewTurn(
        role=Speaker.USER if record.kind is CaptureKind.PROMPT else Speaker.ASSISTANT,
        text=record.text,
        at=record.at,
        kind=TurnKind.ACTION if action else TurnKind.TEXT,
        uuid=record.id if action else None,
        ref=None if action else record.id,
        path=record.path if action else None,
        flags=record.flags,
        client=record.client,
        client_version=record.client_version,
    )
