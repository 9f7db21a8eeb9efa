"""Consolidator: makes facts of sessions that are over, once each, with the configured strategy (B.16, B.17).

A session is read in parts. The findings of some turns and the mark that they were read are stored in one transaction,
so a killed process leaves each turn done or untouched, and a second process at the same work stores nothing. A session
that goes on after its end is consolidated from there when it ends again.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock
from hyperloci.config import Settings
from hyperloci.conversations import transcript_prompt
from hyperloci.conversations.chat_model import ChatError, ChatModel
from hyperloci.conversations.claude_allowance import AllowanceSpentError, ClaudeAllowance
from hyperloci.conversations.consolidation.finding_writer import FindingWriter, SavedFindings
from hyperloci.conversations.consolidation.findings import HEURISTIC_STRATEGY, ConsolidationPayload, read_payload
from hyperloci.conversations.consolidation.heuristics import extract
from hyperloci.conversations.consolidation.payload_writer import PayloadWriter, merge_saved
from hyperloci.conversations.consolidation.statement_reading import (
    READ_SECONDS,
    LateReadingError,
    ReadingSession,
    TextReader,
)
from hyperloci.conversations.consolidation.subject_memories import find_standing_memories
from hyperloci.jobs import MaintenanceContext
from hyperloci.model.node import Node
from hyperloci.model.set_aside import SetAsideKind
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress
from hyperloci.store.projects.set_aside import describe_failure, is_fault_of_content
from hyperloci.system.values import dataclass

_log = logging.getLogger(__name__)

LLM_STRATEGY: Final = "llm"
CLAUDE_STRATEGY: Final = "claude"
HOST_STRATEGY: Final = "host"

PART_TURNS: Final = 100
"""Turns read at once."""

EARLIER_TURNS: Final = 2
"""What was said before a part and is read with it: the assistant's last words, and the prompt that they answer."""

WAITING_PROMPTS: Final = 12
"""So many prompts wait for the model that reads them. An embedder that starts with the session has loaded it in some
seconds, on a busy machine in a minute or two; one that takes longer is not worth more waiting."""

LLM_PART_CHARS: Final = 24_000
"""Characters of turns and memories put to a model at once: some 6,000 tokens, for which a small model has room."""

PENDING_LIMIT: Final = 20
"""Sessions taken up between two looks at what is pending."""

MAX_ATTEMPTS: Final = 3
"""After this many failures of the model in a row, a session is consolidated by rules, so that it is not lost."""

HOST_WAIT_MS: Final = 3 * MS_PER_DAY
"""A session that waited so long, for the assistant to be asked or for a call of Claude Code to be left, is consolidated
by rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """What became of one session.

    Attributes:
        session_id: which.
        strategy: how it was done last.
        through: turns below this number are done.
        saved: what was stored and what was refused.
        error: why it is not done to its end, if it isn't.
    """

    session_id: str
    strategy: str
    through: int
    saved: SavedFindings
    error: str | None = None


class Consolidation:
    """Consolidates the sessions of one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
        scorer: TextReader | None = None,
        reading_seconds: float = READ_SECONDS,
    ) -> None:
        """Create it.

        Args:
            store, settings, clock: what it works with.
            should_stop: asked while a model is waited for that is run here.
            scorer: reads two statements together, and a sentence with what was said around it.
            reading_seconds: how long may be waited in all until sentences are read.
        """
        self._store = store
        self._settings = settings
        self._clock = clock
        self._reading = ReadingSession(scorer, reading_seconds, should_stop)
        self._should_stop = should_stop
        self._progress = store.consolidations
        self._allowance = ClaudeAllowance(store, settings, clock)
        self.write = FindingWriter(store, settings, clock, scorer)
        self._payloads = PayloadWriter(store, clock, self.write)

    def list_pending(self, limit: int = PENDING_LIMIT) -> list[ConsolidationProgress]:
        """Return the sessions that wait, the oldest first; those left to the assistant only when it let them lie."""
        strategy = self._settings.consolidation
        if strategy == "off":
            return []
        must_wait = strategy == HOST_STRATEGY or (strategy == CLAUDE_STRATEGY and not self._allowance.has_room())
        return self._progress.list_pending(limit, seen_before=self._clock() - HOST_WAIT_MS if must_wait else None)

    def consolidate(
        self, progress: ConsolidationProgress, *, offline: bool = False, part_turns: int = PART_TURNS
    ) -> ConsolidationResult:
        """Consolidate a session from where it was left to its end.

        Args:
            progress: how far it is.
            offline: ask no model that writes.
            part_turns: turns read at once.
        """
        chat = None if offline or progress.attempts >= MAX_ATTEMPTS else self._open_chat_model(progress)
        if chat is None:
            progress = self._accept_ahead(progress)
        try:
            return self._consolidate_parts(progress, chat, part_turns)
        except AllowanceSpentError as error:
            return self._report_failure(progress, str(error))
        except ChatError as error:
            return self._note_failure(progress, str(error))

    def consolidate_now(self, session_id: str, until: float = math.inf, *, may_wait: bool = False) -> SavedFindings:
        """Store at once what the finished turns of a session yield, by rules; another strategy reads them later.

        A prompt without an answer is left for later in a session that goes on: what follows tells what it was worth.
        With `may_wait` so is, for `WAITING_PROMPTS`, what an embedder that is only late could read.
        With `until` (milliseconds) so is what was finished after that: a prompt that came in since, and what is done
        for it, may be stored already where the answer before them is not.
        """
        strategy, progress = self._settings.consolidation, self._progress.get_progress(session_id)
        if progress is None or strategy == "off":
            return SavedFindings()
        progress = self._accept_ahead(progress) if strategy == HEURISTIC_STRATEGY else progress.read_ahead()
        if progress.status == "active":
            progress = replace(progress, next_seq=self._progress.find_finished_seq(progress, until))
        may_wait = may_wait and self._progress.count_unread_prompts(progress) <= WAITING_PROMPTS
        return self._consolidate_parts(progress, None, PART_TURNS, may_wait=may_wait).saved

    def _accept_ahead(self, progress: ConsolidationProgress) -> ConsolidationProgress:
        """Take what rules read ahead as done, where rules are to read the rest too."""
        if progress.ahead_seq <= progress.through_seq:
            return progress
        with self._store.transaction():
            self.write.mark_session_consolidated(progress, progress.ahead_seq, strategy=HEURISTIC_STRATEGY)
        return self._progress.get_progress(progress.session_id) or progress

    def _open_chat_model(self, progress: ConsolidationProgress) -> ChatModel | None:
        """Return the model that the settings name; None where rules do it."""
        # The clients load what speaks HTTP and starts programs: a hook, which reads by rules, is spared it.
        strategy = self._settings.consolidation
        if strategy == LLM_STRATEGY:
            from hyperloci.conversations.llm_client import ChatClient

            return ChatClient(self._settings)
        has_waited = progress.last_seen_at < self._clock() - HOST_WAIT_MS
        if strategy == CLAUDE_STRATEGY and (not has_waited or self._allowance.has_room()):
            from hyperloci.conversations.claude_client import ClaudeClient

            return ClaudeClient(self._settings, self._allowance, self._should_stop)
        return None

    def _consolidate_parts(
        self, progress: ConsolidationProgress, chat: ChatModel | None, part_turns: int, *, may_wait: bool = False
    ) -> ConsolidationResult:
        saved, name, size = SavedFindings(), HEURISTIC_STRATEGY if chat is None else chat.strategy, part_turns
        if progress.through_seq == 0:
            with self._store.transaction():
                self.write.replacements.end_timed_statements(progress.scope, progress.last_seen_at)
        while progress.through_seq < progress.next_seq:
            left = progress.next_seq - progress.through_seq
            turns = self._progress.list_turns(progress.session_key, progress.through_seq, min(size, left))
            turns = [turn for turn in turns if (turn.seq or 0) < progress.next_seq]
            try:
                is_rest = len(turns) < min(size, left)
                part, through = self._consolidate_turns(progress, chat, turns, is_rest=is_rest, may_wait=may_wait)
            except Exception as error:
                if not is_fault_of_content(error) or not turns:
                    raise
                progress = self._reload(progress)
                if size == 1:
                    progress = self._skip_turn(progress, turns[0], describe_failure(error), name)
                # One turn after the other tells which one it is.
                size = part_turns if size == 1 else 1
                continue
            saved = merge_saved(saved, part)
            if through is None:
                break  # Another process was as quick, or the next turn waits.
            progress = replace(progress, through_seq=through)
        self._payloads.promote_explicit_memories(progress.session_key)
        return ConsolidationResult(
            session_id=progress.session_id, strategy=name, through=progress.through_seq, saved=saved
        )

    def _reload(self, progress: ConsolidationProgress) -> ConsolidationProgress:
        """Return how far a session is by now; where it ends to this reading stays."""
        now = self._progress.get_progress(progress.session_id) or progress
        return replace(now.read_ahead() if progress.is_ahead else now, next_seq=progress.next_seq)

    def _consolidate_turns(
        self,
        progress: ConsolidationProgress,
        chat: ChatModel | None,
        turns: list[Node],
        *,
        is_rest: bool,
        may_wait: bool,
    ) -> tuple[SavedFindings, int | None]:
        """Store what some turns yield; return it with the first turn that is not done.

        That is None where nothing was done: another process did it, or the first turn waits.
        """
        if chat is None:
            ready, payload = self._read_turns(progress, turns, may_wait=may_wait)
            if turns and not ready:
                return SavedFindings(), None
            turns = ready
        else:
            turns, payload = self._ask_model(chat, progress, turns)
        is_rest = is_rest and (not turns or self._is_last(progress, turns[-1]))
        through = progress.next_seq if is_rest else int(turns[-1].seq or 0) + 1
        strategy = HEURISTIC_STRATEGY if chat is None else chat.strategy
        part, is_mine = self._payloads.save_part(
            progress, payload, turns, self._list_earlier(progress), through=through, strategy=strategy
        )
        return part, through if is_mine else None

    def _skip_turn(
        self, progress: ConsolidationProgress, turn: Node, reason: str, strategy: str
    ) -> ConsolidationProgress:
        """Set a turn aside that nothing can be made of, and go on behind it."""
        through = int(turn.seq or 0) + 1
        with self._store.transaction():
            now = self._clock()
            scope_key = self._store.scopes.ensure_scope(progress.scope, now=now)
            subject = f"consolidate {turn.id}"
            self._store.set_aside.add_failure(scope_key, SetAsideKind.MEMORY, subject, reason, now=now, node=turn.key)
            self.write.mark_session_consolidated(progress, through, strategy=strategy)
        return replace(progress, through_seq=through)

    def _is_last(self, progress: ConsolidationProgress, turn: Node) -> bool:
        return not self._progress.list_turns(progress.session_key, int(turn.seq or 0) + 1, 1)

    def _read_turns(
        self, progress: ConsolidationProgress, turns: list[Node], *, may_wait: bool
    ) -> tuple[list[Node], ConsolidationPayload]:
        """Return what rules find in some turns, and those: a turn that waits until it can be read, and later ones, not.

        Without them it is as if nobody had gone on yet.
        """
        earlier = self._list_earlier(progress)
        self._reading.begin_part(may_wait=may_wait)
        while True:
            try:
                return turns, extract(turns, earlier, tentative=True, reading=self._reading)
            except LateReadingError as late:
                turns = [turn for turn in turns if (turn.seq or 0) < late.seq]

    def _list_earlier(self, progress: ConsolidationProgress) -> list[Node]:
        return self._progress.list_said_before(progress.session_key, progress.through_seq, EARLIER_TURNS)

    def _ask_model(
        self, chat: ChatModel, progress: ConsolidationProgress, turns: Sequence[Node]
    ) -> tuple[list[Node], ConsolidationPayload]:
        """Return as many of the turns as a model is shown at once, and what it found in them."""
        standing = transcript_prompt.format_standing(find_standing_memories(self._store, progress.scope, turns))
        text, count = transcript_prompt.format_turns(turns, LLM_PART_CHARS - len(standing))
        shown = list(turns[:count])
        if not shown:
            return shown, ConsolidationPayload()
        system = (
            f"You turn the record of a session into lasting memory. {transcript_prompt.RULES}\n\n"
            f"Answer with one JSON object of this form and nothing else:\n{transcript_prompt.SCHEMA}"
        )
        answer = chat.ask_for_json(system, "\n\n".join(filter(None, (standing, transcript_prompt.DATA, text))))
        return shown, read_payload(answer, [int(turn.seq) for turn in shown if turn.seq is not None])

    def _note_failure(self, progress: ConsolidationProgress, error: str) -> ConsolidationResult:
        with self._store.transaction():
            self._progress.note_failure(progress, now=self._clock())
        _log.warning("could not consolidate session %s: %s", progress.session_id, error)
        return self._report_failure(progress, error)

    def _report_failure(self, progress: ConsolidationProgress, error: str) -> ConsolidationResult:
        now = self._progress.get_progress(progress.session_id) or progress
        return ConsolidationResult(
            session_id=progress.session_id,
            strategy=self._settings.consolidation,
            through=now.through_seq,
            saved=SavedFindings(),
            error=error,
        )


def consolidate_sessions(context: MaintenanceContext) -> int:
    """Consolidate every session that is over; return how many memories were made, replaced or said again."""
    consolidation = Consolidation(
        context.store, context.settings, context.clock, context.should_stop, context.client, reading_seconds=math.inf
    )
    changed, tried = 0, set[int]()
    while waiting := [item for item in consolidation.list_pending() if item.session_key not in tried]:
        for progress in waiting:
            context.yield_to_others()
            tried.add(progress.session_key)
            saved = consolidation.consolidate(progress, offline=context.dry_run).saved
            changed += len(saved.new) + len(saved.known) + len(saved.superseded)
    PayloadWriter(context.store, context.clock, consolidation.write).promote_explicit_memories()
    return changed + consolidation.write.replacements.review_statements(may_wait=True)


def store_late_turns(context: MaintenanceContext) -> int:
    """Store the turns of ended sessions that no hook reported, so that consolidation sees all of them."""
    from hyperloci.conversations.capture.session_events import Capture

    capture = Capture(context.store, context.settings, context.clock)
    stored = 0
    for scope in context.list_scopes():
        context.yield_to_others()
        stored += capture.store_late_turns(scope)
    return stored
