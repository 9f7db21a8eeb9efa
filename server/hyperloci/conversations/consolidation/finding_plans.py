"""Finding plans: what of a payload is stored, and all that is read for it, before anything is written (B.17).

A finding is data: it is cleaned and redacted like any text, rejected if it reads like an instruction to the assistant
or isn't supported by the turns it names, and gets no more confidence than the least trusted of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from hyperloci.conversations.consolidation.contradiction_resolution import ContradictionResolver
from hyperloci.conversations.consolidation.findings import (
    HEURISTIC_STRATEGY,
    ConsolidationPayload,
    ExtractedFinding,
    FindingKind,
    RejectedItem,
    Sureness,
)
from hyperloci.conversations.consolidation.rewording import TurnMemories, find_reworded, is_told_by, read_said
from hyperloci.conversations.consolidation.text_similarity import Said, repeats, why_ungrounded
from hyperloci.knowledge.deadlines.due_dates import note_days, read_due_date
from hyperloci.model.kinds import GLOBAL_SCOPE, Origin
from hyperloci.model.node import Node
from hyperloci.store import Store
from hyperloci.store.conversations.consolidations import ConsolidationProgress
from hyperloci.store.memories.decay import PRUNE_OPERATION
from hyperloci.system.values import dataclass
from hyperloci.text.sanitize.prompt_injection import FLAG_REASONS
from hyperloci.text.sanitize.sanitizer import SanitizedText, sanitize

FORGOTTEN: Final = "was forgotten on purpose, so it is not restored"
REPLACED: Final = "was made of the same turns before, and replaced since"
"""Why something is not made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingPlan:
    """A finding that will be stored, with everything that was read for it beforehand.

    Attributes:
        finding: what was found.
        text: the statement, cleaned.
        scope: where it belongs.
        confidence: no more than the least trusted of its sources.
        flags: what is suspicious about them.
        sources: the turns that say so.
        explained_by: the turns that only say what it is about.
        known: a memory that says so already.
        repeats: the place of an item of the same payload that says so too, and is kept only if it changes what holds.
        reworded: what rules made of the same turns, and it says in other words.
    """

    finding: ExtractedFinding
    text: SanitizedText
    scope: str
    confidence: float
    flags: tuple[str, ...]
    sources: tuple[Node, ...]
    explained_by: tuple[Node, ...]
    known: Node | None
    repeats: str = ""
    reworded: tuple[Node, ...] = ()


class FindingPlanner:
    """Decides what of a payload is stored, over one store; it only reads."""

    def __init__(self, store: Store, contradictions: ContradictionResolver) -> None:
        self._store = store
        self._contradictions = contradictions

    def plan_findings(
        self,
        progress: ConsolidationProgress,
        payload: ConsolidationPayload,
        turns: Mapping[int, Node],
        *,
        strategy: str,
    ) -> tuple[list[FindingPlan], list[RejectedItem]]:
        """Decide what of a payload is stored, outside of any transaction."""
        rejected = list(payload.rejected)
        plans: list[FindingPlan] = []
        memories = TurnMemories(self._store)
        for given in payload.findings:
            sources = tuple(turns[seq] for seq in given.sources)
            finding = given if strategy == HEURISTIC_STRATEGY else _read_due(given, sources)
            text = sanitize(finding.statement)
            explained_by = tuple(turns[seq] for seq in finding.explained_by)
            reason = _refusal_reason(text, (*sources, *explained_by))
            statement = Said(text.text, finding.said.answer)
            known = memories.find_said(statement, sources) if reason is None else None
            if known is not None and known.valid_until is not None:
                reason = REPLACED
            elif known is not None and was_forgotten(self._store, known):
                reason = FORGOTTEN
            # What has only faded says nothing now: something else that holds may.
            known = known if known is not None and known.holds else None
            alike = [
                plan.finding for plan in plans if repeats(statement, Said(plan.text.text, plan.finding.said.answer))
            ]
            # What is less sure may come to nothing, so it is in the place of nothing surer.
            if reason is None and any(other.sureness >= finding.sureness for other in alike):
                reason = "another item of this payload says the same"
            if reason is not None:
                if not finding.is_passing:
                    rejected.append(RejectedItem(finding.place or finding.kind, reason))
                continue
            maybe = next((other.place for other in alike if other.sureness is Sureness.TENTATIVE), "")
            plan = self._make_plan(progress, finding, text, sources, explained_by, known)
            plans.append(replace(plan, repeats=maybe))
        return plans if strategy == HEURISTIC_STRATEGY else self._note_reworded(plans, memories, rejected), rejected

    def _note_reworded(
        self, plans: Sequence[FindingPlan], memories: TurnMemories, rejected: list[RejectedItem]
    ) -> list[FindingPlan]:
        """Return plans, with what rules made of the same turns and they word anew; none of what a person settled."""
        readings = [(plan.text.text, plan.sources) for plan in plans]
        reworded = find_reworded(readings, memories, made_by=HEURISTIC_STRATEGY)
        kept: list[FindingPlan] = []
        for place, plan in enumerate(plans):
            alike = (old for old in reworded.get(place, ()) if is_told_by(plan.text.text, old.content))
            settled = filter(None, map(self._why_settled, alike))
            if plan.known is None and (reason := next(settled, None)) is not None:
                rejected.append(RejectedItem(plan.finding.place or plan.finding.kind, reason))
            else:
                kept.append(replace(plan, reworded=tuple(old for old in reworded.get(place, ()) if old.holds)))
        return kept

    def _why_settled(self, node: Node) -> str | None:
        """Return why a past memory is not made again in other words: somebody forgot or corrected it on purpose."""
        if was_forgotten(self._store, node):
            return FORGOTTEN
        # Not by steps: a correction settled it, though it was forgotten since.
        edges = self._store.edges.list_of_node(node.key, "supersedes")
        newer = self._store.nodes.get_by_keys({edge.members[0].node for edge in edges} - {node.key}).values()
        return REPLACED if any(one.origin is Origin.TOOL or one.was_told for one in newer) else None

    def _make_plan(
        self,
        progress: ConsolidationProgress,
        finding: ExtractedFinding,
        text: SanitizedText,
        sources: tuple[Node, ...],
        explained_by: tuple[Node, ...],
        known: Node | None,
    ) -> FindingPlan:
        scope = choose_scope(progress.scope, finding, sources)
        if known is None and not finding.is_passing:
            known = find_known(self._contradictions, Said(text.text, finding.said.answer), progress.scope, sources)
        flags = dict.fromkeys(flag for node in sources for flag in node.metadata.get("flags") or ())
        return FindingPlan(
            finding=finding,
            text=text,
            scope=scope,
            confidence=min(finding.confidence, trust_in(finding, sources)),
            flags=tuple(flags),
            sources=sources,
            explained_by=explained_by,
            known=known,
        )


def _read_due(finding: ExtractedFinding, sources: Sequence[Node]) -> ExtractedFinding:
    """Return a finding with the day on which it is due: who names the kind names no day but in its words."""
    if finding.kind is not FindingKind.DEADLINE:
        return finding
    return replace(finding, due=read_due_date(finding.content, _said_at(sources)))


def _said_at(sources: Sequence[Node]) -> int:
    return max(node.event_time for node in sources)


def _refusal_reason(text: SanitizedText, sources: Sequence[Node]) -> str | None:
    if not text.text.strip() or text.text.strip() == "[private]":
        return "content is empty, or all of it is private"
    if text.flags:
        meaning = FLAG_REASONS.get(text.flags[0], text.flags[0])
        return f"reads like an instruction, not like something learned: it {meaning}"
    return why_ungrounded(text.text, (node.content for node in sources))


def choose_scope(project: str, finding: ExtractedFinding, sources: Sequence[Node]) -> str:
    """Return where a finding belongs: who the user is, in words of their own, concerns every project."""
    about_user = finding.kind is FindingKind.USER_INFO
    own_words = all(node.origin is Origin.USER_PROMPT and not node.metadata.get("flags") for node in sources)
    return GLOBAL_SCOPE if about_user and own_words else project


def was_forgotten(store: Store, node: Node) -> bool:
    """Return whether somebody forgot a memory on purpose; one that had only faded comes back when it is said again."""
    last = store.log.list_of_node(node.id, limit=1) if node.deleted_at is not None else []
    return node.deleted_at is not None and not (last and last[-1].operation == PRUNE_OPERATION)


def told_by_others(sources: Sequence[Node]) -> Origin | None:
    """Return whose memories don't count as saying what turns say: what the user says stays if a teammate unsays it.

    An assistant that alone says it may repeat what it was shown.
    """
    return Origin.TEAMMATE if any(node.origin is Origin.USER_PROMPT for node in sources) else None


def find_known(contradictions: ContradictionResolver, said: Said, scope: str, sources: Sequence[Node]) -> Node | None:
    """Return the memory of a project, or of all, that holds and says what some turns say; None where there is none."""
    besides = told_by_others(sources)
    near = (node for node in contradictions.find_near(said.text, scope) if node.origin is not besides)
    return next((node for node in near if node.holds and repeats(said, read_said(node))), None)


def trust_in(finding: ExtractedFinding, sources: Sequence[Node]) -> float:
    """Return how far the turns can be believed: of an answer, the turn that gave it; what it answers only explains."""
    said = [max(sources, key=lambda node: node.seq or 0)] if finding.about else sources
    return min(node.confidence for node in said)


def said_fields(plan: FindingPlan) -> dict[str, Any]:
    """Return what is noted beside the text: the words themselves, what they answer, who said them and in which turn."""
    finding, last = plan.finding, max(plan.sources, key=lambda node: node.seq or 0)
    fields = {"quote": sanitize(finding.content).text if finding.about else None, "turn": last.seq}
    fields |= {"about": sanitize(finding.about).text if finding.about else None, "speaker": speaker_word(last)}
    return {name: value for name, value in fields.items() if value is not None} | note_plan_days(plan)


def note_plan_days(plan: FindingPlan) -> dict[str, str]:
    """Return when a statement is due, and the last day on which it holds by its own words (`note_days`)."""
    return note_days(plan.finding.content, _said_at(plan.sources), due=plan.finding.due)


def speaker_word(node: Node) -> str:
    """Return who said a turn, in a word."""
    words = {Origin.USER_PROMPT: "user", Origin.CLAUDE_RESPONSE: "assistant", Origin.HOOK: "tool"}
    return words.get(node.origin, str(node.origin))
