"""Facts: remember, correct, confirm and forget them (B.12, B.13, D.09, E.16)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hyperloci.clock import MS_PER_DAY, Clock, to_iso
from hyperloci.errors import BadRequestError, NotFoundError
from hyperloci.facts import past_memories
from hyperloci.facts.affected_memories import (
    NOTHING_AFFECTED,
    REPLACE_BY_CORRECTING,
    REPLACE_BY_REMEMBERING,
    name_affected,
)
from hyperloci.facts.categories import resolve_category
from hyperloci.facts.safe_arguments import collect_flags, safety_metadata, sanitize_names, sanitize_reason
from hyperloci.knowledge.exceptions import is_exception
from hyperloci.model.facets import Verification
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeType, Origin, Tier
from hyperloci.model.node import RESTORE_DAYS, NewNode, Node, last_day_of
from hyperloci.model.write_answers import ForgottenFact, RememberedFact, StatementCheck
from hyperloci.store import Store
from hyperloci.store.ids import node_ids, resolve_id
from hyperloci.text.sanitize.sanitizer import SanitizedText

if TYPE_CHECKING:
    from hyperloci.facts.memory_writer import MemoryWriter

TOLD_BEFORE_CHARS: Final = 300
"""How much of the fact told before helps to find a fact by its words, as of the turn before a turn: recall@10 .720 to
.760 on LoCoMo told turn by turn as facts (docs/benchmarks/quality.md, "Told as facts")."""

BOTH_REPLACE: Final = "both replace the same memory: one was forgotten when the other came, and restored since"
"""Why a memory that was restored contradicts another one."""


class Facts:
    """What a caller states and unstates, over one store."""

    def __init__(self, store: Store, project: str, clock: Clock) -> None:
        self._store = store
        self._project = project
        self._scopes = (project, GLOBAL_SCOPE)
        self._clock = clock

    def remember_fact(
        self,
        fact: SanitizedText,
        *,
        category: str,
        confidence: float,
        scope: str,
        entities: Sequence[str] = (),
        replaces: str | None = None,
        session_id: str | None = None,
        check: StatementCheck = NOTHING_AFFECTED,
    ) -> RememberedFact:
        """Store a fact, or count it again if it is known; `replaces` invalidates an older one.

        What surely contradicts it is stored with it; what else is said on its subject is named (`check`).
        """
        node_type, subtype = resolve_category(category)
        names = sanitize_names(entities)
        # As with the writer: the grammar of dates is no hook's business.
        from hyperloci.facts.told_days import note_told_days

        days = note_told_days(fact.text, subtype, self._clock())
        new = NewNode(
            type=node_type,
            subtype=subtype,
            content=fact.text,
            confidence=confidence,
            origin=Origin.TOOL,
            provenance="remember_fact",
            scope=scope,
            metadata={**safety_metadata(fact), **days},
        )
        with self._store.transaction():
            old = None if replaces is None else self.resolve_living_node(replaces, "replaces")
            before = self._store.nodes.find_told_before(scope, now=self._clock()) if node_type is NodeType.FACT else ""
            new = replace(new, extra_terms=before[:TOLD_BEFORE_CHARS])
            stored = self._store_or_count(new, (fact,), session_id, names, replaced=old)
            self._store_disputes(stored, check)
        return name_affected(stored, check, REPLACE_BY_REMEMBERING, asker=self._store.nodes.signature.asker)

    def mark_dead_end(
        self,
        approach: SanitizedText,
        reason: SanitizedText,
        *,
        scope: str,
        session_id: str | None = None,
        check: StatementCheck = NOTHING_AFFECTED,
    ) -> RememberedFact:
        """Store that an approach was tried and failed, and why; name what proposes the approach (`check`)."""
        stored = self._remember_experience(
            "dead_end",
            f"Dead end: {approach.text}\nWhy it failed: {reason.text}",
            (approach, reason),
            {"approach": approach.text, "reason": reason.text},
            provenance="mark_dead_end",
            scope=scope,
            session_id=session_id,
        )
        return name_affected(stored, check, REPLACE_BY_CORRECTING, asker=self._store.nodes.signature.asker)

    def add_experience(
        self,
        content: SanitizedText,
        outcome: SanitizedText,
        *,
        success: bool,
        scope: str,
        session_id: str | None = None,
    ) -> RememberedFact:
        """Store what was done and what came of it (SPEC-02.29)."""
        return self._remember_experience(
            "outcome",
            f"{content.text}\n{'It worked' if success else 'It failed'}: {outcome.text}",
            (content, outcome),
            {"outcome": outcome.text, "success": success},
            provenance="memory_add_experience",
            scope=scope,
            session_id=session_id,
        )

    def _remember_experience(
        self,
        subtype: str,
        content: str,
        parts: Sequence[SanitizedText],
        told: Mapping[str, Any],
        *,
        provenance: str,
        scope: str,
        session_id: str | None,
    ) -> RememberedFact:
        """Store an experience made of several texts, or count it again if it is known."""
        new = NewNode(
            type=NodeType.EXPERIENCE,
            subtype=subtype,
            content=content,
            confidence=1.0,
            origin=Origin.TOOL,
            provenance=provenance,
            scope=scope,
            metadata={**safety_metadata(*parts), **told},
        )
        with self._store.transaction():
            return self._store_or_count(new, parts, session_id)

    def _store_or_count(
        self,
        new: NewNode,
        parts: Sequence[SanitizedText],
        session_id: str | None,
        entities: Sequence[str] = (),
        *,
        replaced: Node | None = None,
    ) -> RememberedFact:
        """Store a statement made of some texts, or count it again if it is known. Runs in a transaction.

        Either way it ends what it replaces: a newer memory may be named as the one that holds.
        """
        redactions, reason = sum(len(part.redactions) for part in parts), "replaced by a newer fact"
        superseded = None if replaced is None else replaced.id
        known = self._find_own(new)
        if replaced is not None:
            why = past_memories.why_not_replaceable(self._store, replaced, known, self._scopes)
            if why is not None:
                raise BadRequestError(f"replaces={superseded!r} {why}")
        if known is not None and known.id != superseded:
            known = self._count_known(known, new, replaced, reason)
            return RememberedFact(
                id=known.id,
                scope=known.scope,
                duplicate_of=known.id,
                redactions=redactions,
                supersedes=superseded,
                until=last_day_of(known),
                withheld=self._store.withheld.select_withheld([known.key]) != frozenset(),
            )
        node = self._write_statement(new, session_id, entities, replaced=replaced, reason=reason)
        return RememberedFact(
            id=node.id,
            scope=node.scope,
            redactions=redactions,
            supersedes=superseded,
            flags=collect_flags(*parts),
            until=last_day_of(node),
        )

    def _store_disputes(self, stored: RememberedFact, check: StatementCheck) -> None:
        """Store what surely contradicts a statement that was just stored. Runs in a transaction.

        What a project says otherwise than what holds in all of them is its exception, and disputes nothing elsewhere.
        """
        sure = [item for item in check.contradictions if item.sure and item.id != stored.supersedes]
        if not sure or stored.duplicate_of is not None:
            return
        new, writer, now = self.resolve_living_node(stored.id, "id"), self._make_writer(), self._clock()
        for item in sure:
            old = self._store.nodes.get_node(item.id)
            if old is None or not old.holds:
                continue
            sureness = min(1.0, item.score)
            if is_exception(new, old):
                writer.add_exception(new, old, item.reason, confidence=sureness, now=now)
            elif old.scope == new.scope:
                writer.dispute(new, old, item.reason, confidence=sureness, now=now)

    def correct_fact(
        self,
        node_id: str,
        fact: SanitizedText,
        *,
        reason: str | None,
        session_id: str | None,
        check: StatementCheck = NOTHING_AFFECTED,
    ) -> RememberedFact:
        """Replace a fact by a right one: the old is invalidated and kept, `supersedes` joins them (B.13)."""
        from hyperloci.facts.told_days import note_corrected_days

        reason = sanitize_reason(reason)
        with self._store.transaction():
            old = self.resolve_living_node(node_id, "id")
            if (why := past_memories.why_not_correctable(self._store, old, self._scopes)) is not None:
                raise BadRequestError(f"id={node_id!r} {why}")
            new = NewNode(
                type=old.type,
                subtype=old.subtype,
                content=fact.text,
                confidence=1.0,
                # What was confirmed stays protected; what was extracted fades as what is told from now on.
                decay_rate=None if old.decay_rate else 0.0,
                origin=Origin.TOOL,
                provenance=f"correction: {reason}" if reason else "correction",
                scope=old.scope,
                tier=old.tier,
                metadata={**safety_metadata(fact), **note_corrected_days(fact.text, old, self._clock())},
            )
            known = self._find_own(new)
            if known is not None and known.key != old.key:
                known = self._count_known(known, new, old, reason or "corrected")
                return RememberedFact(
                    id=known.id,
                    scope=known.scope,
                    duplicate_of=known.id,
                    redactions=len(fact.redactions),
                    supersedes=old.id,
                    until=last_day_of(known),
                    withheld=self._store.withheld.select_withheld([known.key]) != frozenset(),
                )
            node = self._write_statement(new, session_id, replaced=old, reason=reason or "corrected")
            stored = RememberedFact(
                id=node.id,
                scope=node.scope,
                redactions=len(fact.redactions),
                supersedes=old.id,
                flags=fact.flags,
                until=last_day_of(node),
            )
            self._store_disputes(stored, check)
        return name_affected(stored, check, REPLACE_BY_REMEMBERING, asker=self._store.nodes.signature.asker)

    def confirm_fact(self, node_id: str) -> Node:
        """Protect a fact: full confidence, no decay, long-term (B.13).

        Raises:
            NotFoundError: no such memory, or a forgotten one.
            BadRequestError: something else has taken its place.
        """
        now = self._clock()
        with self._store.transaction():
            node = self.resolve_living_node(node_id, "id")
            changes = past_memories.hold_on(node, now)
            # What ended by its own words may have been replaced since.
            newest = past_memories.find_successor(self._store, node, self._scopes) if node.valid_until else None
            if newest is not None or changes.get("valid_until", node.valid_until) is not None:
                why = past_memories.why_not_confirmable(self._store, node, self._scopes)
                raise BadRequestError(f"id={node_id!r} {why}")
            self._store.nodes.update_node(
                node.id,
                now=now,
                reason="confirmed",
                confidence=1.0,
                decay_rate=0.0,
                last_accessed=now,
                tier=Tier.LONGTERM,
                **changes,
            )
            self._store.facets.set_verification(node.key, Verification.VERIFIED)
            self._store.log.add_entry("confirm", [node.id], now=now)
            # What is confirmed is right about the code as it is now.
            self._make_writer().anchor(node, self._project, now=now)
            return self.resolve_living_node(node_id, "id")

    def forget_memory(self, node_id: str, *, reason: str | None) -> ForgottenFact:
        """Forget a memory; it can be restored for 30 days. One that somebody forgot stays so, and for as long."""
        reason = sanitize_reason(reason)
        with self._store.transaction():
            node, since = self.resolve_node(node_id, "id"), self._clock()
            if self._store.nodes.delete_node(node.id, now=since, reason=reason):
                self._make_writer().clear_traces(node)
            else:
                since = node.deleted_at or since
        return ForgottenFact(id=node.id, restorable_until=to_iso(since + RESTORE_DAYS * MS_PER_DAY))

    def restore_memory(self, node_id: str, *, reason: str | None) -> Node:
        """Bring a forgotten memory back; what replaced the same meanwhile contradicts it until that is settled.

        Raises:
            NotFoundError: no such memory.
            BadRequestError: it is not forgotten, its 30 days are over, or another one says the same by now.
        """
        reason = sanitize_reason(reason)
        with self._store.transaction():
            node, now = self.resolve_node(node_id, "id"), self._clock()
            if (why := past_memories.why_not_restorable(self._store, node, now=now)) is not None:
                raise BadRequestError(f"id={node_id!r} {why}")
            self._store.nodes.restore_node(node.id, now=now, reason=reason)
            if node.valid_until is None:
                for rival in past_memories.find_rivals(self._store, node, self._scopes):
                    self._make_writer().dispute(node, rival, BOTH_REPLACE, confidence=1.0, now=now)
            return self.resolve_living_node(node.id, "id")

    def resolve_node(self, node_id: str, argument: str) -> Node:
        """Return a memory by its id or the beginning of it (`store.ids.resolve_id`), forgotten ones too."""
        return resolve_id(node_ids(self._store.nodes, scopes=self._scopes), node_id, argument)

    def resolve_living_node(self, node_id: str, argument: str) -> Node:
        """Return a memory that is not forgotten.

        Raises:
            NotFoundError: no such memory, or a forgotten one.
        """
        node = self.resolve_node(node_id, argument)
        if node.deleted_at is not None:
            raise NotFoundError(f"{argument}={node_id!r} was forgotten; restore it first.")
        return node

    def _find_own(self, new: NewNode) -> Node | None:
        """Return a memory that says the same; not a teammate's, which goes when they withdraw it."""
        return self._store.nodes.find_duplicate(new.content, new.scope, besides=Origin.TEAMMATE)

    def _count_known(self, known: Node, new: NewNode, replaced: Node | None, reason: str) -> Node:
        """Count a known statement again, as it is told now; what it replaces ends now."""
        from hyperloci.facts.told_again import renew_known

        now, changes = self._clock(), renew_known(known, new)
        # Acknowledged now, it must not have faded tomorrow.
        self._store.nodes.count_repetition(known.key, now=now, said_at=now)
        self._store.nodes.update_node(known.id, now=now, **changes)
        if "confidence" in changes or "subtype" in changes:
            kind = changes.get("subtype")
            told = None if kind is None else f"as {kind}; it was kept as {known.subtype}"
            self._store.log.add_entry("tell", [known.id], now=now, reasoning=told)
        if replaced is not None and replaced.valid_until is None:
            self._make_writer().supersede(replaced, known, reason, now=now, until=now)
        return self.resolve_living_node(known.id, "id")

    def _write_statement(
        self,
        new: NewNode,
        session_id: str | None,
        entities: Sequence[str] = (),
        *,
        replaced: Node | None = None,
        reason: str = "",
    ) -> Node:
        """Store a statement about some entities; what it replaces ends now."""
        now, writer = self._clock(), self._make_writer()
        session = None
        if session_id is not None:
            session = self._store.sessions.note_seen(
                session_id, self._store.scopes.ensure_scope(self._project, now=now), now=now
            )
        declared = [writer.declare_entity(name, new.scope, now=now) for name in entities]
        node = writer.write_statement(
            new,
            self._project,
            now=now,
            session_key=session.key if session else None,
            about=[key for key in declared if key is not None],
        )
        if replaced is not None:
            # What ended by its own words did not hold any longer than that.
            until = now if replaced.valid_until is None else min(now, replaced.valid_until)
            writer.supersede(replaced, node, reason, now=now, until=until)
        return node

    def _make_writer(self) -> MemoryWriter:
        # Hooks load this module and remember no facts: reading names takes as long to load as all the rest of it.
        from hyperloci.facts.memory_writer import MemoryWriter

        return MemoryWriter(self._store)
