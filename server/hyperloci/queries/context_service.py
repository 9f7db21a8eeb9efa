"""Context service: what an assistant should know for a question or a task, as Markdown within a budget (B.09).

A question about the memory itself gets what it asks for: an account of sessions, or all memories of a kind; every other
gets the memories that are relevant to it, and what is known of the entities that it names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hyperloci.knowledge.entities.recognition import extract_entities
from hyperloci.model.answers import AssembledContext
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey
from hyperloci.model.search import Hit, SearchFilter
from hyperloci.queries.recall_targets import KINDS, RecallRequest, RecallTarget, read_recall_request, remove_words
from hyperloci.queries.search_service import SearchService
from hyperloci.queries.session_digest import SessionDigester, select_sessions, title_session
from hyperloci.retrieval.context_assembly import (
    ContextLine,
    ContextPart,
    arrange_hits,
    assemble_context,
    render_hit,
)
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.intent import COMPLEX, Intent, estimate_effort
from hyperloci.retrieval.relevance import make_term_share, select_for_question, sort_terms
from hyperloci.retrieval.search import MAX_LIMIT
from hyperloci.retrieval.time_bounds import TimeBounds, find_time_bounds
from hyperloci.store.memories.entities import Entity, squash_name
from hyperloci.system.values import dataclass
from hyperloci.text.cutting import cut_line

CANDIDATES: Final = 20
"""Memories that a context is chosen from, at least."""

DEFAULT_TOKENS: Final = 2_000
"""The budget of B.20 at which simple and complex questions get the 1,000 and 3,000 tokens of B.08."""

SESSIONS_SEARCHED: Final = 100
MAX_SESSIONS: Final = 5
"""Sessions that are told of: each needs some 200 tokens."""

MAX_ENTITIES: Final = 5
MAX_NAME_WORDS: Final = 3
MAX_RELATED: Final = 4
ENTITY_CHARS: Final = 500

KIND_SHARE: Final = 0.6
"""Of the budget, for memories of the kind that is asked for, where a subject is named too; the rest tells of that."""


@dataclass(frozen=True, slots=True)
class ContextService:
    """Assembles contexts from one project's memory."""

    asking: SearchService

    def assemble(self, query: str, max_tokens: int | None) -> AssembledContext:
        """Assemble what a prompt should know, and note what of it was recalled; empty if nothing is relevant."""
        request = read_recall_request(query)
        parts = [] if request is None else self._answer_request(query, request)
        if request is None or request.subject or not parts:
            parts = [*parts, *self._find_relevant(request.subject if parts and request else query)]
        own = (COMPLEX if request else estimate_effort(query)).tokens * self.asking.token_budget // DEFAULT_TOKENS
        context = assemble_context(query, parts, own if max_tokens is None else max_tokens)
        self.asking.reinforce_ids(context.sources)
        return context

    # -- questions about the memory itself -----------------------------------------------------------------------------

    def _answer_request(self, query: str, request: RecallRequest) -> list[ContextPart]:
        bounds = find_time_bounds(query, self.asking.clock())
        if request.target is RecallTarget.SESSIONS:
            return self._tell_sessions(request, bounds)
        title, subtypes = KINDS[request.target]
        subject = remove_words(request.subject, "" if bounds is None else bounds.expression)
        if subject:
            hits, said = self._search_kind(subject, subtypes, subject if bounds is None else query), ""
            is_told = bool(hits)
        else:
            hits, said, is_told = self._list_kind(subtypes, bounds)
        account = self._tell_sessions(request, bounds) if request.is_account_too and not is_told else []
        lines = tuple(ContextLine(hit.id, render_hit(hit)) for hit in hits)
        share = KIND_SHARE if subject or account else 1.0
        return [*([ContextPart(title + said, share, lines)] if lines else []), *account]

    def _tell_sessions(self, request: RecallRequest, bounds: TimeBounds | None) -> list[ContextPart]:
        store, now = self.asking.store, self.asking.clock()
        known = store.sessions.list_recent(self.asking.project.id, SESSIONS_SEARCHED)
        over = select_sessions(known, now=now, after=None, before=None)
        within = [] if bounds is None else select_sessions(over, now=now, after=bounds.after, before=bounds.before)
        told = within[:MAX_SESSIONS] or over[: MAX_SESSIONS if request.is_about_several else 1]
        digester = SessionDigester(store, self.asking.present_hits)
        return [
            ContextPart(
                title_session(session, is_last=session.id == over[0].id), 1 / len(told), digester.describe(session)
            )
            for session in told
        ]

    def _search_kind(self, subject: str, subtypes: Sequence[str], query: str) -> list[Hit]:
        answer = self.asking.search(
            query, limit=CANDIDATES, explain=True, reinforce=False, where={"subtypes": list(subtypes)}
        )
        return select_for_question(subject, answer.results, make_term_share(self.asking.store))

    def _list_kind(self, subtypes: Sequence[str], bounds: TimeBounds | None) -> tuple[list[Hit], str, bool]:
        """Return the memories of a kind, of each subtype the latest first: those of a time, or all if it left none.

        Also which those are in words, and whether they are of that time.
        """
        where = SearchFilter(scopes=(self.asking.project.id, GLOBAL_SCOPE), subtypes=tuple(subtypes))
        if bounds is None:
            return self._list_matching(where), "", False
        dated = self._list_matching(replace(where, after=bounds.after, before=bounds.before, ended=True))
        if dated:
            return dated, f", {bounds.describe()}", True
        return self._list_matching(where), f", none of them of {bounds.describe()}", False

    def _list_matching(self, where: SearchFilter) -> list[Hit]:
        kinds = [Conditions(where=replace(where, subtypes=(subtype,))) for subtype in where.subtypes]
        found = [self.asking.searcher.list_memories(one, limit=MAX_LIMIT).nodes for one in kinds]
        return self.asking.present_hits([node for nodes in found for node in nodes])

    # -- every other question ------------------------------------------------------------------------------------------

    def _find_relevant(self, query: str) -> tuple[ContextPart, ...]:
        limit = max(CANDIDATES, estimate_effort(query).limit)
        answer = self.asking.search(query, limit=limit, explain=True, reinforce=False)
        share = make_term_share(self.asking.store)
        relevant = select_for_question(query, answer.results, share)
        if answer.intent == Intent.WHY:
            relevant = self._admit_causes(answer.results, relevant)
        hits = _drop_repetitions(relevant)
        entities = self._describe_entities(query) if sort_terms(query, share).subject else ()
        return arrange_hits(hits, entities)

    def _list_said_in(self, key: NodeKey) -> list[NodeKey]:
        """Return a memory, and the turns that it was made of: causes are joined as turns."""
        edges = self.asking.store.edges.list_of_node(key, "derived_from")
        return [key, *(member.node for edge in edges if edge.members[0].node == key for member in edge.members[1:])]

    def _admit_causes(self, found: Sequence[Hit], relevant: Sequence[Hit]) -> list[Hit]:
        """Return the relevant hits and those found that are a known cause of one, in the order in which they came."""
        nodes = {hit.id: self.asking.store.nodes.get_node(hit.id) for hit in found}
        keys = {id: node.key for id, node in nodes.items() if node is not None}
        is_cause = self.asking.store.consolidations.are_linked_causes
        effects = [place for hit in relevant if hit.id in keys for place in self._list_said_in(keys[hit.id])]
        said_in = {id: self._list_said_in(key) for id, key in keys.items()}
        causes = {
            id for id, places in said_in.items() if any(is_cause(one, other) for one in places for other in effects)
        }
        return [hit for hit in found if hit in relevant or hit.id in causes]

    def _describe_entities(self, query: str) -> tuple[ContextLine, ...]:
        """Return what is known of the entities that a question names, where something is."""
        keys = [self.asking.store.scopes.find_key(scope) for scope in (self.asking.project.id, GLOBAL_SCOPE)]
        scopes = [key for key in keys if key is not None]
        told: dict[NodeKey, Entity] = {}
        for name in _names_in(query):
            for entity in self.asking.store.entities.find_by_name(name, scopes)[:1]:
                if entity.summary and len(told) < MAX_ENTITIES:
                    told.setdefault(entity.node_key, entity)
        # Once for all: it looks at whatever was forgotten.
        forgotten = self.asking.store.entities.count_forgotten_mentions(told) if told else {}
        return tuple(
            ContextLine(entity.id, self._render_entity(entity, scopes, forgotten.get(key, 0)))
            for key, entity in told.items()
        )

    def _render_entity(self, entity: Entity, scopes: Sequence[int], forgotten: int) -> str:
        related = self.asking.store.entities.list_mentioned_with([entity.node_key], scopes, MAX_RELATED)
        beside = ", ".join(other.canonical_name for other, _ in related)
        text = cut_line(entity.summary or "", ENTITY_CHARS)
        more = f"; with {beside}" if beside else ""
        count = entity.mention_count - forgotten
        return f"- [{entity.kind}] {entity.canonical_name}: {text} (id {entity.id}; {count} mentions{more})"


def _drop_repetitions(hits: Sequence[Hit]) -> list[Hit]:
    """Leave out summaries that mostly quote what better hits say: a mini those of its micros, a macro those of both.

    Turns are left out too whose every word a better hit says: the statement that was made of them.
    """
    kept: list[Hit] = []
    said = ""
    for hit in hits:
        if hit.subtype == "episode" and hit.content.strip() in said:
            continue
        lines = hit.content.splitlines()
        repeated = [line for line in lines if line.partition(": ")[2] in said]
        if not (hit.subtype or "").startswith("chunk_") or 2 * len(repeated) < len(lines):
            kept.append(hit)
            said += f"\n{hit.content}"
    return kept


def _names_in(query: str) -> list[str]:
    """Return what may be names in a question: what is written as one, then runs of its words, the longest first."""
    words = [word.strip(".,;:!?()\"'`*") for word in query.split()]
    runs = (
        " ".join(words[at : at + length])
        for length in range(MAX_NAME_WORDS, 0, -1)
        for at in range(len(words) - length + 1)
    )
    names = (*(named.name for named in extract_entities(query)), *runs)
    return [name for name in dict.fromkeys(names) if len(squash_name(name)) > 2 and sort_terms(name, _is_rare).subject]


def _is_rare(term: str) -> float:
    return 0.0
