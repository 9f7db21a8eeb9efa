"""Transcript import: the sessions that assistants have kept, also from before Hyperloci was installed (E.10).

Each goes the way of a hook's record, at its own times, and its session ends when its last turn was. How far a
transcript was read is kept with its turns, so an import that was cut off goes on, and a second one finds nothing new.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from hyperloci.clock import Clock, format_day, from_iso
from hyperloci.config import Settings
from hyperloci.conversations.capture.records import RecordFactory
from hyperloci.conversations.capture.session_events import Capture
from hyperloci.conversations.capture.sessions import ABANDONED_AFTER_MS, end_session
from hyperloci.conversations.capture.transcript import MAX_DOCUMENT_BYTES
from hyperloci.conversations.consolidation.consolidator import Consolidation
from hyperloci.conversations.consolidation.statement_reading import TextReader
from hyperloci.errors import BadRequestError
from hyperloci.model.answers import Progress, TranscriptReport
from hyperloci.model.kinds import GLOBAL_SCOPE
from hyperloci.model.record import CLAUDE_CODE
from hyperloci.project.identity import Project, find_place_folder
from hyperloci.store import Store
from hyperloci.store.conversations.sessions import StoredSession
from hyperloci.system.regular_file import open_regular_file
from hyperloci.system.values import dataclass

HEAD_LINES: Final = 200
"""Lines in which a transcript names its folder and its time: it begins with summaries of others and copies of files."""

MAX_HEAD_LINE: Final = 4 << 20
"""Bytes of one of them: a longer one holds pictures."""

_HEAD_WORDS: Final = (b'"cwd"', b'"projectHash"')

SUBAGENT_PREFIX: Final = "agent-"

IMPORT_SOURCE: Final = "import"
"""The word for how a session started and ended that was only imported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptFile:
    """A transcript as its first lines tell of it.

    Attributes:
        path: the file.
        session_id: the session's id.
        folder: where the session was begun; it need not exist any more.
        started_at: when, in milliseconds.
        client, client_version: the program that kept it; its version may be unknown.
    """

    path: Path
    session_id: str
    folder: Path
    started_at: int
    client: str = CLAUDE_CODE
    client_version: str | None = None


def find_transcripts(place: Path) -> list[TranscriptFile]:
    """Return the transcripts in a folder and all below it (or the one file), the oldest first; no sub-agent's."""
    paths = [place] if place.is_file() else [*place.rglob("*.jsonl"), *place.rglob("chats/*.json")]
    found = (_read_head(path) for path in paths if not path.name.startswith(SUBAGENT_PREFIX))
    return sorted(filter(None, found), key=lambda file: (file.started_at, file.session_id))


def select_of_places(transcripts: Sequence[TranscriptFile], places: Collection[Path]) -> list[TranscriptFile]:
    """Return the transcripts whose sessions were begun in a project, given by the folders that stand for it."""
    of_folder = {folder: find_place_folder(folder) for folder in {file.folder for file in transcripts}}
    return [file for file in transcripts if of_folder[file.folder] in places]


def _read_head(path: Path) -> TranscriptFile | None:
    """Return what a transcript's first lines tell; None where the file is none, or can't be read."""
    try:
        with open_regular_file(path) as file:
            if path.suffix == ".json":
                return _make_file(path, _parse_line(file.read(MAX_DOCUMENT_BYTES)))
            entries = (_parse_line(file.readline(MAX_HEAD_LINE)) for _ in range(HEAD_LINES))
            return next((made for entry in entries if (made := _make_file(path, entry)) is not None), None)
    except OSError:
        return None


def _parse_line(line: bytes) -> dict[str, Any]:
    try:
        entry = json.loads(line) if any(word in line for word in _HEAD_WORDS) else None
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _make_file(path: Path, entry: dict[str, Any]) -> TranscriptFile | None:
    try:
        if entry.get("type") == "session_meta":
            return _make_codex_file(path, entry["payload"])
        if "sessionId" in entry and "projectHash" in entry:
            return _make_gemini_file(path, entry)
        folder, started_at = Path(entry["cwd"]), from_iso(entry["timestamp"])
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return None
    return TranscriptFile(path=path, session_id=path.stem, folder=folder, started_at=started_at)


def _make_codex_file(path: Path, told: dict[str, Any]) -> TranscriptFile:
    return TranscriptFile(
        path=path,
        session_id=str(told["id"]),
        folder=Path(told["cwd"]),
        started_at=from_iso(told["timestamp"]),
        client="codex",
        client_version=told.get("cli_version"),
    )


def _make_gemini_file(path: Path, told: dict[str, Any]) -> TranscriptFile | None:
    """Return what a transcript of Gemini CLI's tells; None where its folder does not stand beside it."""
    root = path.parent.parent / ".project_root"
    if told.get("kind") == "subagent" or not root.is_file():
        return None
    return TranscriptFile(
        path=path,
        session_id=str(told["sessionId"]),
        folder=Path(root.read_text("utf-8").strip()),
        started_at=from_iso(told["startTime"]),
        client="gemini",
    )


@dataclass(frozen=True, slots=True)
class _Imported:
    """What one transcript gave: new turns, the facts made of its session."""

    turns: int = 0
    facts: int = 0


class TranscriptImporter:
    """Imports transcripts into one store."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, scorer: TextReader | None = None) -> None:
        """Create it; `scorer` reads what was said, however long that takes."""
        self._store = store
        self._clock = clock
        self._capture = Capture(store, settings, clock)
        self._consolidation = Consolidation(store, settings, clock, scorer=scorer, reading_seconds=math.inf)

    def list_places(self, project: Project) -> frozenset[Path]:
        """Return the folders that stand for a project: its own, and those of the places that share its memory."""
        known = self._store.places.list_of_scope(project.id)
        return frozenset({project.place, *(Path(folder) for place in known for folder in (place.path, place.root))})

    def import_sessions(
        self,
        transcripts: Sequence[TranscriptFile],
        find_project: Callable[[Path], Project],
        progress: Progress | None = None,
        prepare: Callable[[], object] = lambda: None,
    ) -> TranscriptReport:
        """Store the turns of transcripts, in the order given, and what each session yields.

        Args:
            transcripts: the oldest first: a later decision replaces an earlier one.
            find_project: tells the project that a session's folder belongs to.
            progress: called with each transcript.
            prepare: called before something is read that was not stored yet.
        """
        report = TranscriptReport()
        scopes = set[str]()
        for done, file in enumerate(transcripts):
            if progress is not None:
                progress(done, len(transcripts), f"session of {format_day(file.started_at)}")
            try:
                project = find_project(file.folder)
                report = _add_to_report(report, self._import_session(file, project, prepare))
                scopes.add(project.id)
            except (OSError, BadRequestError) as error:
                report = replace(report, failed=(*report.failed, f"{file.path}: {error}"))
        for scope in scopes - {GLOBAL_SCOPE}:
            self._capture.prepare_opening(scope)
        return report

    def _import_session(self, file: TranscriptFile, project: Project, prepare: Callable[[], object]) -> _Imported:
        records = RecordFactory(
            project, file.session_id, now=file.started_at, client=file.client, client_version=file.client_version
        )
        record = records.record_turns(file.path)
        session_id = self._capture.place_record(record).session_id
        is_live = self._is_live(self._store.sessions.get_session(session_id))
        turns = self._capture.store_record(record)
        session = self._store.sessions.get_session(session_id)
        if session is None or is_live:
            return _Imported(turns)
        self._end_session(session, file)
        if turns:
            prepare()
        return _Imported(turns, len(self._consolidation.consolidate_now(session_id).new))

    def _is_live(self, session: StoredSession | None) -> bool:
        """Tell whether hooks report on a session that goes on: they will end it."""
        if session is None or session.status != "active" or session.metadata.get("source") == IMPORT_SOURCE:
            return False
        return self._clock() - session.last_seen_at < ABANDONED_AFTER_MS

    def _end_session(self, session: StoredSession, file: TranscriptFile) -> None:
        if session.status != "active":
            return
        with self._store.transaction():
            facts = {"source": session.metadata.get("source", IMPORT_SOURCE), "transcript": str(file.path)}
            self._store.sessions.merge_metadata(session.id, **facts)
            end_session(self._store, session.id, now=session.last_seen_at, reason=IMPORT_SOURCE)


def _add_to_report(report: TranscriptReport, imported: _Imported) -> TranscriptReport:
    return replace(
        report,
        sessions=report.sessions + bool(imported.turns),
        unchanged=report.unchanged + (not imported.turns),
        turns=report.turns + imported.turns,
        facts=report.facts + imported.facts,
    )
