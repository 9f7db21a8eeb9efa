"""Consolidator: makes facts of sessions that are over, once each, with the configured strategy (B.16, B.17).

A session is read in parts. The findings of some turns and the mark that they were read are stored in one transaction,
so a killed process leaves each turn done or untouched, and a second process at the same work stores nothing. A session
that goes on after its end is consolidated from there when it ends again.

It is one file, though long: which strategy a session gets, how far it was read and what its failure means are one
decision, and every strategy ends in the same transaction.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.clock import MS_PER_DAY, Clock
from hyperloci.config import Settings
from hyperloci.conversations import transcript_prompt
from hyperloci.conversations.chat_model import ChatError, ChatModel
from hyperloci.conversations.claude_allowance import AllowanceSpentError, ClaudeAllowance
from hyperloci.conversations.consolidation.finding_plans import FindingPlan, FindingPlanner
from hyperloci.conversations.consolidation.finding_writer import FindingWriter, SavedFindings
from hyperloci.conversations.consolidation.findings import HEURISTIC_STRATEGY, ConsolidationPayload, read_payload
from hyperloci.conversations.consolidation.heuristics import extract
from hyperloci.conversations.consolidation.subject_memories import find_standing_memories
from hyperloci.errors import NotFoundError
from hyperloci.jobs import MaintenanceContext
from hyperloci.knowledge.cross_reading import PairScorer
from hyperloci.model.kinds import NodeId, Tier
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

PORTION_FINDINGS: Final = 4
"""Findings stored in one transaction, a millisecond or two each: so long others wait who have something to store."""

EARLIER_TURNS: Final = 2
"""What was said before a part and is read with it: the assistant's last words, and the prompt that they answer."""

LLM_PART_CHARS: Final = 24_000
"""Characters of turns and memories put to a model at once: some 6,000 tokens, for which a small model has room."""

MAX_HOST_TURNS: Final = 1_000

HOST_CHARS: Final = 40_000
"""Characters of turns put before the assistant at once: Claude Code shows 50,000 of a tool's answer."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRequest:
    """What an assistant is shown that is to consolidate a session: its turns, and up to which.

    Attributes:
        session_id: which.
        turns: the turns, as JSON lines; '' where nothing waits.
        standing: memories on their subjects, likewise, with what to do about them; '' for none.
        through: the number after the last one shown.
        left: turns that wait for another time.
    """

    session_id: str
    turns: str
    standing: str
    through: int
    left: int


class Consolidation:
    """Consolidates the sessions of one store."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        clock: Clock,
        should_stop: Callable[[], bool] = lambda: False,
        scorer: PairScorer | None = None,
    ) -> None:
        """Create it.

        Args:
            store, settings, clock: what it works with.
            should_stop: asked while a model is waited for that is run here.
            scorer: reads two statements together.
        """
        self._store = store
        self._settings = settings
        self._clock = clock
        self._should_stop = should_stop
        self._progress = store.consolidations
        self._allowance = ClaudeAllowance(store, settings, clock)
        self.write = FindingWriter(store, settings, clock, scorer)
        self._plan = FindingPlanner(store, self.write.contradictions)

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
            offline: ask no model.
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

    def consolidate_now(self, session_id: str) -> SavedFindings:
        """Store at once what the finished turns of a session yield, by rules; another strategy reads them later.

        A prompt without an answer is left for later in a session that goes on: what follows tells what it was worth.
        """
        strategy, progress = self._settings.consolidation, self._progress.get_progress(session_id)
        if progress is None or strategy == "off":
            return SavedFindings()
        progress = self._accept_ahead(progress) if strategy == HEURISTIC_STRATEGY else progress.read_ahead()
        if progress.status == "active":
            progress = replace(progress, next_seq=self._progress.find_finished_seq(progress))
        return self._consolidate_parts(progress, None, PART_TURNS).saved

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
        self, progress: ConsolidationProgress, chat: ChatModel | None, part_turns: int
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
                part, through = self._consolidate_turns(progress, chat, turns, is_rest=len(turns) < min(size, left))
            except Exception as error:
                if not is_fault_of_content(error) or not turns:
                    raise
                progress = self._reload(progress)
                if size == 1:
                    progress = self._skip_turn(progress, turns[0], describe_failure(error), name)
                # One turn after the other tells which one it is.
                size = part_turns if size == 1 else 1
                continue
            saved = _merge_saved(saved, part)
            if through is None:
                break  # Another process was as quick.
            progress = replace(progress, through_seq=through)
        self.promote_explicit_memories(progress.session_key)
        return ConsolidationResult(
            session_id=progress.session_id, strategy=name, through=progress.through_seq, saved=saved
        )

    def _reload(self, progress: ConsolidationProgress) -> ConsolidationProgress:
        """Return how far a session is by now; where it ends to this reading stays."""
        now = self._progress.get_progress(progress.session_id) or progress
        return replace(now.read_ahead() if progress.is_ahead else now, next_seq=progress.next_seq)

    def _consolidate_turns(
        self, progress: ConsolidationProgress, chat: ChatModel | None, turns: list[Node], *, is_rest: bool
    ) -> tuple[SavedFindings, int | None]:
        """Store what some turns yield; return it with the first turn that is not done, None if another process did."""
        turns, payload = (
            self._ask_model(chat, progress, turns) if chat else (turns, self._extract_findings(progress, turns))
        )
        is_rest = is_rest and (not turns or self._is_last(progress, turns[-1]))
        through = progress.next_seq if is_rest else int(turns[-1].seq or 0) + 1
        part, is_mine = self._save_payload(
            progress, payload, turns, through, HEURISTIC_STRATEGY if chat is None else chat.strategy
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

    def _extract_findings(self, progress: ConsolidationProgress, turns: Sequence[Node]) -> ConsolidationPayload:
        return extract(turns, self._list_earlier(progress), tentative=True)

    def _list_earlier(self, progress: ConsolidationProgress) -> list[Node]:
        return self._progress.list_said_before(progress.session_key, progress.through_seq, EARLIER_TURNS)

    def _ask_model(
        self, chat: ChatModel, progress: ConsolidationProgress, turns: Sequence[Node]
    ) -> tuple[list[Node], ConsolidationPayload]:
        """Return as many of the turns as a model is shown at once, and what it found in them."""
        standing = self._format_standing(progress.scope, turns)
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

    def _format_standing(self, scope: str, turns: Sequence[Node]) -> str:
        return transcript_prompt.format_standing(find_standing_memories(self._store, scope, turns))

    def _save_payload(
        self,
        progress: ConsolidationProgress,
        payload: ConsolidationPayload,
        turns: Sequence[Node],
        through: int,
        strategy: str,
    ) -> tuple[SavedFindings, bool]:
        """Store what a part yields, some findings at a time, each time with the mark of how far that was.

        Returns:
            What was stored, and False if another process has read the part meanwhile.
        """
        by_seq = {int(turn.seq): turn for turn in turns if turn.seq is not None}
        by_seq |= {int(turn.seq): turn for turn in self._list_earlier(progress) if turn.seq is not None}
        plans, refused = self._plan.plan_findings(progress, payload, by_seq, strategy=strategy)
        saved, nodes = SavedFindings(), dict[str, Node]()
        declared = {conflict.old for conflict in payload.conflicts}
        for portion, mark in _split_portions(plans, progress.through_seq, through):
            with self._store.transaction():
                if not self.write.mark_session_consolidated(progress, mark, strategy=strategy):
                    return saved, False
                part, stored = self.write.save_nodes_batch(
                    progress, portion, strategy=strategy, declared=declared, stored=nodes
                )
                nodes |= stored
                if mark == through:
                    self.write.replacements.end_released_statements(progress.scope, turns)
                    part = self._save_relations(progress, payload, part, nodes, by_seq, strategy)
                    part = replace(part, rejected=(*refused, *part.rejected))
                self._progress.add_counts(progress.session_key, kept=len(part.new), rejected=len(part.rejected))
                self._promote_sources(progress, part.made_of)
            saved, progress = _merge_saved(saved, part), replace(progress, through_seq=mark)
        return saved, True

    def _save_relations(
        self,
        progress: ConsolidationProgress,
        payload: ConsolidationPayload,
        saved: SavedFindings,
        nodes: Mapping[str, Node],
        turns: Mapping[int, Node],
        strategy: str,
    ) -> SavedFindings:
        """Store what a payload says of its findings: names, causes, what they replace."""
        superseded, unresolved = self.write.contradictions.resolve_declared_conflicts(
            payload.conflicts, nodes, progress.scope
        )
        return replace(
            saved,
            superseded=(*saved.superseded, *superseded),
            entities=self.write.extract_and_link_entities(payload.entities, list(nodes.values())),
            causes=self.write.save_causal_edges(payload.causes, turns, strategy=strategy),
            rejected=(*saved.rejected, *unresolved),
        )

    def _promote_sources(self, progress: ConsolidationProgress, sources: Sequence[Node]) -> None:
        """Move what was extracted from to `session`."""
        used = {source.id for source in sources if source.tier is Tier.TASK}
        self._move_to_tier(
            sorted(used), Tier.TASK, Tier.SESSION, f"facts of session {progress.session_id} were made of it"
        )

    def promote_explicit_memories(self, session_key: int | None = None) -> None:
        """Move what was remembered on purpose to the long term, of one or all sessions that are over and consolidated.

        Not while a session goes on, whose turns are read as they come: what is said next may take it back.
        """
        explicit = self._progress.list_explicit_memories(session_key)
        if not explicit:
            return
        with self._store.transaction():
            for (tier, session_id), group in itertools.groupby(explicit, key=lambda one: (one.tier, one.session_id)):
                ids = [one.node_id for one in group]
                self._move_to_tier(ids, tier, Tier.LONGTERM, f"session {session_id} was consolidated")

    def _move_to_tier(self, node_ids: Sequence[NodeId], before: Tier, after: Tier, reason: str) -> None:
        if node_ids:
            now = self._clock()
            self._store.decay.move_to_tier(node_ids, after, now=now)
            self._store.log.add_entry("tier", node_ids, now=now, from_tier=before, to_tier=after, reasoning=reason)

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

    # -- by the assistant --------------------------------------------------------------------------------------------

    def make_host_request(self, session_id: str | None, scope: str) -> HostRequest:
        """Return what an assistant is shown that is to consolidate a session; the oldest that waits, if none is named.

        Raises:
            NotFoundError: there is no such session, or none waits.
        """
        if session_id is None:
            waiting = self._progress.list_pending(1, scope=scope)
            if not waiting:
                raise NotFoundError("No session of this project waits to be consolidated.")
            progress = waiting[0]
        else:
            progress = self._find_progress(session_id)
        turns, text, through = self._choose_host_part(progress)
        left = max(0, progress.next_seq - through) if turns else 0
        standing = self._format_standing(progress.scope, turns)
        return HostRequest(session_id=progress.session_id, turns=text, standing=standing, through=through, left=left)

    def _choose_host_part(self, progress: ConsolidationProgress) -> tuple[list[Node], str, int]:
        """Return the turns that an assistant is shown, as it reads them, and the first that it is not shown."""
        turns = self._progress.list_turns(progress.session_key, progress.through_seq, MAX_HOST_TURNS)
        text, shown = transcript_prompt.format_turns(turns, HOST_CHARS)
        return turns[:shown], text, int(turns[shown - 1].seq or 0) + 1 if shown else progress.through_seq

    def save_host_findings(self, session_id: str, given: object) -> ConsolidationResult:
        """Store what an assistant found in a session (`save_consolidation`); what is known already is counted again.

        Without `through`, the turns that it was shown at once are done.

        Raises:
            NotFoundError: there is no such session.
        """
        progress = self._find_progress(session_id)
        turns = {
            int(turn.seq): turn
            for turn in self._progress.list_turns(progress.session_key, 0, progress.next_seq)
            if turn.seq is not None
        }
        payload = read_payload(given, turns)
        plans, refused = self._plan.plan_findings(progress, payload, turns, strategy=HOST_STRATEGY)
        done = self._choose_host_part(progress)[2] if payload.through is None else payload.through
        through = max(progress.through_seq, min(done, progress.next_seq))
        with self._store.transaction():
            saved, nodes = self.write.save_nodes_batch(
                progress, plans, strategy=HOST_STRATEGY, declared={conflict.old for conflict in payload.conflicts}
            )
            saved = self._save_relations(progress, payload, saved, nodes, turns, HOST_STRATEGY)
            saved = replace(saved, rejected=(*refused, *saved.rejected))
            self.write.mark_session_consolidated(progress, through, strategy=HOST_STRATEGY)
            self._progress.add_counts(progress.session_key, kept=len(saved.new), rejected=len(saved.rejected))
            self._promote_sources(progress, saved.made_of)
        self.promote_explicit_memories(progress.session_key)
        return ConsolidationResult(session_id=session_id, strategy=HOST_STRATEGY, through=through, saved=saved)

    def _find_progress(self, session_id: str) -> ConsolidationProgress:
        progress = self._progress.get_progress(session_id)
        if progress is None:
            raise NotFoundError(
                f"session_id={session_id!r:.80}: there is no such session; `hyperloci sessions` lists them."
            )
        return progress


def consolidate_sessions(context: MaintenanceContext) -> int:
    """Consolidate every session that is over; return how many memories were made, replaced or said again."""
    consolidation = Consolidation(context.store, context.settings, context.clock, context.should_stop, context.client)
    changed, tried = 0, set[int]()
    while waiting := [item for item in consolidation.list_pending() if item.session_key not in tried]:
        for progress in waiting:
            context.yield_to_others()
            tried.add(progress.session_key)
            saved = consolidation.consolidate(progress, offline=context.dry_run).saved
            changed += len(saved.new) + len(saved.known) + len(saved.superseded)
    consolidation.promote_explicit_memories()
    return changed + consolidation.write.replacements.review_statements()


def store_late_turns(context: MaintenanceContext) -> int:
    """Store the turns of ended sessions that no hook reported, so that consolidation sees all of them."""
    from hyperloci.conversations.capture.session_events import Capture

    capture = Capture(context.store, context.settings, context.clock)
    stored = 0
    for scope in context.list_scopes():
        context.yield_to_others()
        stored += capture.store_late_turns(scope)
    return stored


def _split_portions(plans: Sequence[FindingPlan], first: int, through: int) -> Iterator[tuple[list[FindingPlan], int]]:
    """Cut what was planned where a turn ends, with the number of the first turn that is not done then.

    Args:
        plans: what is stored, some of it found in turns before `first`.
        first: the first turn that was not done before.
        through: the first turn that is not done afterwards.
    """
    ordered = sorted(plans, key=lambda plan: max(plan.finding.sources))
    portion: list[FindingPlan] = []
    for plan, following in itertools.zip_longest(ordered, ordered[1:]):
        portion.append(plan)
        end = max(first, max(plan.finding.sources) + 1)
        if following is not None and len(portion) >= PORTION_FINDINGS and max(following.finding.sources) >= end:
            yield portion, end
            portion = []
    yield portion, through


def _merge_saved(one: SavedFindings, other: SavedFindings) -> SavedFindings:
    return SavedFindings(
        new=(*one.new, *other.new),
        known=(*one.known, *other.known),
        superseded=(*one.superseded, *other.superseded),
        uncertain=one.uncertain + other.uncertain,
        entities=one.entities + other.entities,
        causes=one.causes + other.causes,
        rejected=(*one.rejected, *other.rejected),
        made_of=(*one.made_of, *other.made_of),
    )
