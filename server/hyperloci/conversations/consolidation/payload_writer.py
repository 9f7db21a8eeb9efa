"""Payload writer: stores a payload, what reading some turns yielded, with the mark of how far the session was read.

Both are stored in one transaction, whatever the strategy: a killed process leaves each turn done or untouched.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hyperloci.clock import Clock
from hyperloci.conversations.consolidation.finding_plans import FindingPlan, FindingPlanner
from hyperloci.conversations.consolidation.finding_writer import FindingWriter, SavedFindings
from hyperloci.conversations.consolidation.findings import ConsolidationPayload
from hyperloci.model.kinds import NodeId, Tier
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress

PORTION_FINDINGS: Final = 4
"""Findings stored in one transaction, a millisecond or two each: so long others wait who have something to store."""


class PayloadWriter:
    """Stores payloads, over one store."""

    def __init__(self, store: Store, clock: Clock, write: FindingWriter) -> None:
        self._store = store
        self._clock = clock
        self._write = write
        self._progress = store.consolidations
        self._plan = FindingPlanner(store, write.contradictions)

    def save_part(
        self,
        progress: ConsolidationProgress,
        payload: ConsolidationPayload,
        turns: Sequence[Node],
        earlier: Sequence[Node],
        *,
        through: int,
        strategy: str,
    ) -> tuple[SavedFindings, bool]:
        """Store what a part yields, some findings at a time, each time with the mark of how far that was.

        Args:
            progress: how far the session was.
            payload: what was found.
            turns: the turns of the part.
            earlier: what was said before them and was read with them.
            through: the first turn that is not done afterwards.
            strategy: how it was found.

        Returns:
            What was stored, and False if another process has read the part meanwhile.
        """
        by_seq = {int(turn.seq): turn for turn in (*turns, *earlier) if turn.seq is not None}
        plans, refused = self._plan.plan_findings(progress, payload, by_seq, strategy=strategy)
        saved, nodes = SavedFindings(), dict[str, Node]()
        declared = {conflict.old for conflict in payload.conflicts}
        for portion, mark in _split_portions(plans, progress.through_seq, through):
            with self._store.transaction():
                if not self._write.mark_session_consolidated(progress, mark, strategy=strategy):
                    return saved, False
                part, stored = self._write.save_nodes_batch(
                    progress, portion, strategy=strategy, declared=declared, stored=nodes
                )
                nodes |= stored
                if mark == through:
                    self._write.replacements.end_released_statements(progress.scope, turns)
                    part = self._save_relations(progress, payload, part, nodes, by_seq, strategy)
                    part = replace(part, rejected=(*refused, *part.rejected))
                self._progress.add_counts(progress.session_key, kept=len(part.new), rejected=len(part.rejected))
                self._promote_sources(progress, part.made_of)
            saved, progress = merge_saved(saved, part), replace(progress, through_seq=mark)
        return saved, True

    def save_whole(
        self,
        progress: ConsolidationProgress,
        payload: ConsolidationPayload,
        turns: Mapping[int, Node],
        *,
        through: int,
        strategy: str,
    ) -> SavedFindings:
        """Store all that a payload says of a session, by the turns' numbers, in one transaction."""
        plans, refused = self._plan.plan_findings(progress, payload, turns, strategy=strategy)
        with self._store.transaction():
            saved, nodes = self._write.save_nodes_batch(
                progress, plans, strategy=strategy, declared={conflict.old for conflict in payload.conflicts}
            )
            saved = self._save_relations(progress, payload, saved, nodes, turns, strategy)
            saved = replace(saved, rejected=(*refused, *saved.rejected))
            self._write.mark_session_consolidated(progress, through, strategy=strategy)
            self._progress.add_counts(progress.session_key, kept=len(saved.new), rejected=len(saved.rejected))
            self._promote_sources(progress, saved.made_of)
        return saved

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
        superseded, unresolved = self._write.contradictions.resolve_declared_conflicts(
            payload.conflicts, nodes, progress.scope
        )
        return replace(
            saved,
            superseded=(*saved.superseded, *superseded),
            entities=self._write.extract_and_link_entities(payload.entities, list(nodes.values())),
            causes=self._write.save_causal_edges(payload.causes, turns, strategy=strategy),
            rejected=(*saved.rejected, *unresolved),
        )

    def _promote_sources(self, progress: ConsolidationProgress, sources: Sequence[Node]) -> None:
        """Move what was extracted from to `session`."""
        used = {source.id for source in sources if source.tier is Tier.TASK}
        self._move_to_tier(
            sorted(used), Tier.TASK, Tier.SESSION, f"facts of session {progress.session_id} were made of it"
        )

    def _move_to_tier(self, node_ids: Sequence[NodeId], before: Tier, after: Tier, reason: str) -> None:
        if node_ids:
            now = self._clock()
            self._store.decay.move_to_tier(node_ids, after, now=now)
            self._store.log.add_entry("tier", node_ids, now=now, from_tier=before, to_tier=after, reasoning=reason)


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


def merge_saved(one: SavedFindings, other: SavedFindings) -> SavedFindings:
    """Return what became of two payloads together."""
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
