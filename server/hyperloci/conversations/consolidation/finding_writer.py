"""Finding writer: stores what was found in a session, in the same way for every strategy (B.17, B.19).

What is stored is decided before (`finding_plans`); here it is written, with all that follows from it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from hyperloci.clock import Clock
from hyperloci.config import Settings
from hyperloci.conversations.consolidation.contradiction_resolution import ContradictionResolver, may_replace
from hyperloci.conversations.consolidation.finding_plans import (
    FORGOTTEN,
    FindingPlan,
    choose_scope,
    find_known,
    note_plan_days,
    said_fields,
    speaker_word,
    told_by_others,
    trust_in,
    was_forgotten,
)
from hyperloci.conversations.consolidation.findings import (
    NODE_TYPES,
    CausalClaim,
    ExtractedFinding,
    FindingKind,
    NamedEntity,
    RejectedItem,
)
from hyperloci.conversations.consolidation.replacement.standing import MAX_PASSING
from hyperloci.conversations.consolidation.replacements import ReplacementResolver, Resolution
from hyperloci.conversations.consolidation.statement_scorer import choose_kind
from hyperloci.conversations.consolidation.text_similarity import Said, meaningful_words, repeats
from hyperloci.facts.memory_writer import MemoryWriter
from hyperloci.knowledge.cross_reading import PairScorer
from hyperloci.knowledge.entities.recognition import EntityMention
from hyperloci.knowledge.entities.registry import EntityLinker
from hyperloci.model.kinds import EntityKind, NodeKey, NodeType, Origin, Tier
from hyperloci.model.node import NewNode, Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress
from hyperloci.system.values import dataclass
from hyperloci.text.language.questions import is_question
from hyperloci.text.language.sentences import sentence_spans, split_sentences
from hyperloci.text.sanitize.sanitizer import sanitize

CAUSAL_CONFIDENCE: Final = 0.7
"""B.18: that one thing brought about another is inferred, not said."""

HABIT_WORDS: Final = 3
"""Meaningful words of a sentence that two sessions share: with fewer, chance does (`please commit these changes`)."""

Span = tuple[int, int]
"""Where a sentence stands in a text."""

NOTHING_STORED: Final[Mapping[str, Node]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFindings:
    """What became of a payload.

    Attributes:
        new: ids of the memories that were made.
        known: ids of memories that said so already; they were counted again.
        superseded: ids of memories that newer ones replaced.
        uncertain: pairs of which the newer may replace the older; both stand.
        entities, causes: how many names and causal edges were stored.
        rejected: what was not stored, and why.
        made_of: the turns that what was made, or said again, is found in.
    """

    new: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    uncertain: int = 0
    entities: int = 0
    causes: int = 0
    rejected: tuple[RejectedItem, ...] = ()
    made_of: tuple[Node, ...] = ()


class FindingWriter:
    """Writes what consolidation finds, over one store."""

    def __init__(self, store: Store, settings: Settings, clock: Clock, scorer: PairScorer | None = None) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self._progress = store.consolidations
        self.contradictions = ContradictionResolver(store, clock)
        self.replacements = ReplacementResolver(store, self.contradictions, clock, scorer)

    # -- sessions ----------------------------------------------------------------------------------------------------

    def mark_session_consolidated(self, progress: ConsolidationProgress, through_seq: int, *, strategy: str) -> bool:
        """Note that the turns below a place are done; False if that was done meanwhile. Runs in a transaction."""
        return self._progress.advance_facts(progress, through_seq, now=self._clock(), strategy=strategy)

    # -- findings ----------------------------------------------------------------------------------------------------

    def save_nodes_batch(
        self,
        progress: ConsolidationProgress,
        plans: Sequence[FindingPlan],
        *,
        strategy: str,
        declared: Collection[str] = (),
        stored: Mapping[str, Node] = NOTHING_STORED,
    ) -> tuple[SavedFindings, dict[str, Node]]:
        """Store what was planned, with its provenance; runs in a transaction.

        Args:
            progress: of the session that it was found in.
            plans: what is stored.
            strategy: who found it.
            declared: ids of memories that the finder says are replaced: rules leave them to its word.
            stored: what was stored of the same payload before, by place.

        Returns:
            What became of it, and the node of each finding's place.
        """
        new: list[str] = []
        known: list[str] = []
        superseded: list[str] = []
        rejected: list[RejectedItem] = []
        nodes: dict[str, Node] = {}
        made_of: list[Node] = []
        uncertain = 0
        for planned in plans:
            plan = self._look_again(planned, {**stored, **nodes})
            if plan is None:
                continue
            if plan.finding.is_tentative:
                plan = self._keep_tentative(progress, plan)
                if plan is None:
                    continue
            node, is_new = self._store_plan(progress, plan, strategy)
            if node is None:
                place = plan.finding.place or plan.finding.kind
                rejected.append(RejectedItem(place, FORGOTTEN))
                continue
            nodes[plan.finding.place] = node
            made_of += plan.sources
            (new if is_new else known).append(node.id)
            if is_new:
                self._progress.queue_review(node.key)
                superseded += self._replace_reworded(node, plan.reworded, strategy)
                became = self._replace_older(node, plan.finding, progress, declared)
                superseded += [id for id, resolution in became if resolution is Resolution.ENDED]
                uncertain += sum(resolution is Resolution.MARKED for _, resolution in became)
        saved = SavedFindings(
            new=tuple(new),
            known=tuple(known),
            superseded=tuple(superseded),
            uncertain=uncertain,
            rejected=tuple(rejected),
            made_of=tuple(made_of),
        )
        return saved, nodes

    def _look_again(self, plan: FindingPlan, stored: Mapping[str, Node]) -> FindingPlan | None:
        """Return a plan with the memory that says so now; None where that was replaced by what was said later.

        What was stored since it was planned may have ended that one, or say so itself.
        """
        if plan.known is None:
            return replace(plan, known=stored.get(plan.repeats)) if plan.repeats else plan
        known = self._store.nodes.get_by_key(plan.known.key)
        if known is not None and known.holds:
            return plan
        said_at = max(source.event_time for source in plan.sources)
        if known is not None and known.valid_until is not None and known.valid_until > said_at:
            return None
        return replace(plan, known=None)

    def _keep_tentative(self, progress: ConsolidationProgress, plan: FindingPlan) -> FindingPlan | None:
        """Return what is kept of something that is not sure enough by itself: all if it changes what holds, else what
        is a habit of the user's. The rest is noted as said in passing; what of it is known already is counted again."""
        finding, sources, scope = plan.finding, plan.sources, progress.scope
        known: dict[Span, Node] = {}
        if plan.known is None and not finding.is_passing:
            if not finding.about:
                known = self._find_known_sentences(finding.content, sources, scope)
            # What says once more what holds doesn't change it, whatever stands around it.
            rest = "".join(finding.content[slice(*span)] for span in _list_sentences(finding.content, known)).strip()
            if rest and self.replacements.changes_what_holds(replace(finding, content=rest), sources, scope):
                return plan
            if not finding.about and (habit := self._find_habit(finding.content, known, sources, scope)):
                return _narrow_plan(plan, habit, scope)
        self.replacements.note_in_passing(finding, sources)
        for span, node in known.items():
            return _narrow_plan(plan, finding.content[slice(*span)].strip(), scope, known=node)
        return None

    def _find_known_sentences(self, text: str, sources: Sequence[Node], scope: str) -> dict[Span, Node]:
        """Return where the sentences of a text stand that a memory says already, with that memory."""
        return {
            span: node
            for span in sentence_spans(text)
            if _may_be_habit(sentence := text[slice(*span)].strip())
            and (node := find_known(self.contradictions, Said(sentence), scope, sources)) is not None
        }

    def _find_habit(self, text: str, known: Collection[Span], sources: Sequence[Node], scope: str) -> str:
        """Return the words of a text that the user also said in another session, besides known ones; '' for none.

        What is asked for anew each time is a rule, though it sounds like a request of the moment.
        """
        sessions = {source.session_id for source in sources}
        passing = self._store.passing_statements.list_latest(scope, MAX_PASSING)
        others = [
            Said(sentence)
            for one in passing
            if one.turn.session_id not in sessions and not one.about
            for sentence in split_sentences(one.quote)
        ]
        again = [
            span
            for span in _list_sentences(text, known)
            if _may_be_habit(sentence := text[slice(*span)].strip())
            and any(repeats(Said(sentence), other) for other in others)
        ]
        if not again:
            return ""
        start, end = again[0]
        for next_start, next_end in again[1:]:
            end = next_end if next_start == end else end  # What stands apart is another matter.
        return text[start:end].strip()

    def _store_plan(
        self, progress: ConsolidationProgress, plan: FindingPlan, strategy: str
    ) -> tuple[Node | None, bool]:
        now = self._clock()
        besides = told_by_others(plan.sources)
        node = plan.known or self._store.nodes.find_duplicate(plan.text.text, plan.scope, besides=besides)
        if node is None:
            node = self._find_tombstone(plan)
            if node is not None and node.deleted_at is not None:
                return None, False
        if node is None:
            node = self._create_statement(progress, plan, strategy, now)
            self._link_sources(node, (*plan.sources, *plan.explained_by), strategy, now)
            return node, True
        # A turn that is read a second time, by another strategy, does not say it again.
        if self._link_sources(node, plan.sources, strategy, now):
            if (until := note_plan_days(plan).get("until")) is not None and until != node.metadata.get("until"):
                self._store.nodes.update_node(node.id, now=now, metadata={**node.metadata, "until": until})
            # The assistant may repeat what it was shown: only what the user says again fades anew. By the session's
            # time, so that an import of old ones revives nothing.
            said = [source.event_time for source in plan.sources if source.origin is Origin.USER_PROMPT]
            self._store.nodes.count_repetition(node.key, now=now, said_at=max(said, default=None))
            self._promote_repeated(node, progress, now)
        return node, False

    def _replace_older(
        self, new: Node, finding: ExtractedFinding, progress: ConsolidationProgress, declared: Collection[str]
    ) -> list[tuple[str, Resolution]]:
        """Return what became of the memories that a new one replaces, or may, by their ids; declared ones stay."""
        likely = self.replacements.detect_replacements(new, finding, progress)
        return [
            (old.id, self.replacements.resolve_replacement(new, old, probability))
            for old, probability in likely
            if old.id not in declared
        ]

    def _replace_reworded(self, new: Node, reworded: Sequence[Node], strategy: str) -> list[str]:
        """End what rules made of the same turns and a finding words anew; return the ids."""
        ended = [old for old in reworded if old.key != new.key and may_replace(new, old)]
        for old in ended:
            self.contradictions.supersede(old, new, f"worded anew by {strategy}, from the same turns")
        return [old.id for old in ended]

    def _create_statement(self, progress: ConsolidationProgress, plan: FindingPlan, strategy: str, now: int) -> Node:
        said = max(node.event_time for node in plan.sources)
        kind = plan.finding.kind
        turns = ", ".join(str(node.seq) for node in plan.sources)
        metadata: dict[str, Any] = {"strategy": strategy, "trust": trust_in(plan.finding, plan.sources)}
        metadata |= {"flags": list(plan.flags), "redactions": len(plan.text.redactions)}
        if kind is FindingKind.DEAD_END:
            metadata["approach"] = plan.text.text
        who = " and ".join(sorted({f"the {speaker_word(source)}" for source in plan.sources}))
        why = f"{strategy}: a {kind.replace('_', ' ')} in turn {turns} of session {progress.session_id}, said by {who}"
        return MemoryWriter(self._store, sparing=True).write_statement(
            NewNode(
                type=NODE_TYPES.get(kind, NodeType.FACT),
                subtype=kind.value,
                content=plan.text.text,
                tier=Tier.SESSION,
                confidence=plan.confidence,
                decay_rate=self._settings.decay_rate_default,
                provenance=f"session {progress.session_id}, turn {turns}",
                origin=Origin.EXTRACTION,
                scope=plan.scope,
                event_time=said,
                valid_from=said,
                metadata={name: value for name, value in metadata.items() if value} | said_fields(plan),
            ),
            progress.scope,
            now=now,
            session_key=progress.session_key,
            operation="extract",
            reason=why,
        )

    def _link_sources(self, node: Node, sources: Sequence[Node], strategy: str, now: int) -> bool:
        """Join a memory to the turns that say so; return whether one of them was not known to."""
        known = {
            member.node
            for edge in self._store.edges.list_of_node(node.key, "derived_from")
            for member in edge.members
            if edge.members[0].node == node.key
        }
        fresh = [source.key for source in sources if source.key not in known and source.key != node.key]
        if fresh:
            self._store.edges.link_nodes("derived_from", node.key, fresh, now=now, automatic=True, evidence=strategy)
        return bool(fresh)

    def _promote_repeated(self, node: Node, progress: ConsolidationProgress, now: int) -> None:
        """Move what a later session says again to the long term (requirements, F)."""
        if node.tier in (Tier.TASK, Tier.SESSION) and node.session_id != progress.session_id:
            why = f"said again in session {progress.session_id}"
            self._store.nodes.update_node(node.id, now=now, reason=why, tier=Tier.LONGTERM)

    def _find_tombstone(self, plan: FindingPlan) -> Node | None:
        """Return the forgotten node with this content: restored if it faded, as it is if forgotten on request."""
        besides = told_by_others(plan.sources)
        node = self._store.nodes.find_forgotten(plan.text.text, plan.scope, besides=besides)
        if node is None or was_forgotten(self._store, node):
            return node
        if not self._store.nodes.restore_node(node.id, now=self._clock(), reason="said again"):
            return None
        return self._store.nodes.get_by_key(node.key)

    # -- names and causes --------------------------------------------------------------------------------------------

    def extract_and_link_entities(self, things: Sequence[NamedEntity], nodes: Sequence[Node]) -> int:
        """Join named things to the memories whose text names them, and make them known; runs in a transaction.

        What no stored memory names is not made known. Returns how many things were joined.
        """
        linker, now, joined = EntityLinker(self._store), self._clock(), 0
        for thing in things:
            names = [name for given in (thing.name, *thing.aliases) if (name := sanitize(given).text.strip())]
            speaking = [node for node in nodes if any(name.casefold() in node.content.casefold() for name in names)]
            keys: list[NodeKey] = []
            for node in speaking:
                keys += linker.link_mentions(
                    node.key, node.scope, [EntityMention(names[0], EntityKind(thing.type))], now=now
                )
            for alias in names[1:] if keys else ():
                self._store.entities.add_alias(keys[0], alias)
            joined += bool(keys)
        return joined

    def save_causal_edges(self, causes: Sequence[CausalClaim], turns: Mapping[int, Node], *, strategy: str) -> int:
        """Join turns that brought about others (B.18); each pair once. Returns how many; runs in a transaction."""
        added = 0
        for item in causes:
            cause, effect = turns.get(item.cause), turns.get(item.effect)
            if cause is None or effect is None or self._progress.are_linked_causes(cause.key, effect.key):
                continue
            self._store.edges.link_nodes(
                "causes",
                cause.key,
                [effect.key],
                now=self._clock(),
                confidence=min(CAUSAL_CONFIDENCE, cause.confidence, effect.confidence),
                automatic=True,
                evidence=sanitize(item.evidence).text or strategy,
            )
            added += 1
        return added


def _may_be_habit(sentence: str) -> bool:
    return not is_question(sentence) and len(meaningful_words(sentence)) >= HABIT_WORDS


def _list_sentences(text: str, besides: Collection[Span]) -> list[Span]:
    return [span for span in sentence_spans(text) if span not in besides]


def _narrow_plan(plan: FindingPlan, content: str, scope: str, *, known: Node | None = None) -> FindingPlan:
    """Return a plan for some words of a finding alone."""
    kind, due = choose_kind(content, plan.sources[-1].event_time)
    finding = replace(plan.finding, content=content, kind=kind, due=due)
    place = choose_scope(scope, finding, plan.sources)
    return replace(plan, finding=finding, text=sanitize(content), scope=place, known=known)
