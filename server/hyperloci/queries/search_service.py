"""Search service: searches a project's memory, presents hits, adds hints, records recalls (B.06, B.09, B.12)."""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from hyperloci.clock import Clock
from hyperloci.errors import BadRequestError, NotFoundError, StoreError
from hyperloci.facts.facts import Facts
from hyperloci.knowledge.names.resolver import NameResolver
from hyperloci.model.kinds import GLOBAL_SCOPE, NodeKey, Origin
from hyperloci.model.node import Node
from hyperloci.model.search import Hit, Placement, SearchAnswer, SearchFilter
from hyperloci.model.write_answers import StatementCheck
from hyperloci.project.identity import Project
from hyperloci.queries.dated_search import TOLD_TYPES, DatedResult, DatedSearch
from hyperloci.queries.starting_point import BY_ID, StartingPoint, find_by_id, remark_on_id, start_at_name
from hyperloci.retrieval.explanation import explain_scores
from hyperloci.retrieval.filters import Conditions, build_conditions
from hyperloci.retrieval.order.hit_order import (
    SPARE_HITS,
    arrange_hits,
    find_whole_statements,
    fold_said_twice,
    move_scores,
)
from hyperloci.retrieval.presentation import present_hits
from hyperloci.retrieval.relevance import make_term_share, select_for_question
from hyperloci.retrieval.scoring import show_score
from hyperloci.retrieval.search import MAX_LIMIT, NAMED, Searcher, SearchResult
from hyperloci.store import Store
from hyperloci.store.ids import find_node
from hyperloci.store.keywords.analysis import analyse_query, analyse_search
from hyperloci.system.values import dataclass

if TYPE_CHECKING:
    from hyperloci.knowledge.contradictions.detector import ContradictionCandidate, EntailmentModel
    from hyperloci.knowledge.cross_reading import PairScorer
    from hyperloci.model.answers import ContradictionReport

logger = logging.getLogger(__name__)

CONTRADICTION_CANDIDATES: Final = 30
"""Memories that a claim is compared with: those nearest in words, and in meaning."""

CHECKED_ON_WRITING: Final = 12
"""The same for what is about to be stored: to compare is most of what remembering costs. With 8, 12 or 30 the same is
found (`bench contradictions`, pairs, BEAM's conflicts and 10,000 facts), in 21, 28 and 43 ms."""

REINFORCE_PATIENCE_MS: Final = 100
"""How long a search waits to note what it recalled while another process writes."""

NOTHING_NEAR: Final = "Weak: nothing found is near the question in meaning, or has its words; these are merely nearest."
"""Said of 9 in 10 questions about something else, of 3 in 100 of a memory's own at most (`python -m bench floor`)."""

TOOK_NEAREST: Final = "took the memory nearest to the words"

FILE_ORIGINS: Final = frozenset({Origin.CODE, Origin.MARKDOWN})
"""Memories that show files as they were indexed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchService:
    """Asks for one project and what is global; made anew for each question, of parts that stay.

    `nli` is the user's own inference model and `scorer` reads two statements together; None where there is none.
    """

    store: Store
    searcher: Searcher
    facts: Facts
    project: Project
    clock: Clock
    token_budget: int
    nli: EntailmentModel | None = None
    scorer: PairScorer | None = None

    def search(
        self,
        query: str,
        *,
        limit: int,
        profile: str = "auto",
        explain: bool = False,
        reinforce: bool = True,
        quick: bool = False,
        **narrowed: Any,
    ) -> SearchAnswer:
        """Answer a question; `narrowed` is what `filters.build_conditions` takes, the rest as `Memory.search`.

        Raises:
            BadRequestError: an argument is invalid; the message says what is valid.
        """
        started = time.perf_counter()
        conditions = self._build_conditions(**narrowed)
        named = find_by_id(self.store, self.searcher, query, conditions)
        if named is not None:
            return self._compose(query, named, self.present_hits(named.nodes), conditions, started)
        looked_for = min(limit + SPARE_HITS, MAX_LIMIT) if 1 <= limit <= MAX_LIMIT else limit
        find = functools.partial(self.searcher.find, limit=looked_for, profile=profile, explain=explain)
        if quick:
            # A prompt is no question: what it says of time is rarely when something was told.
            dated = DatedResult(found=find(query, conditions, quick=True))
        else:
            present = functools.partial(self._explain_hits, query, profile)
            # A question that names a time may be searched three times: within it, among all kinds, and at any time.
            encode = functools.cache(self.searcher.encode_query)
            dated = DatedSearch(
                store=self.store,
                clock=self.clock,
                find=functools.partial(find, encode=encode),
                list_all=functools.partial(self.searcher.list_memories, limit=limit),
                present=present,
            ).search(query, conditions)
        found = dated.found
        if dated.is_of_past:
            arranged = fold_said_twice(self.store, found.nodes)
        else:
            scopes = conditions.where.scopes
            may_add = conditions == Conditions(where=SearchFilter(scopes=scopes))
            arranged = arrange_hits(
                self.store, query, found.nodes, limit=limit, may_add=may_add, scores=found.scores, scopes=scopes
            )
        found = replace(found, nodes=arranged.nodes[:limit])
        shown = self._explain_hits(query, profile, found, behind=arranged.behind)
        told = () if quick else (*remark_on_id(query), *self._remark_on_weakness(query, found, shown))
        placed = _tell_placements(found, arranged.placed, dated.by_time)
        hits = [
            replace(
                hit,
                notes=(*hit.notes, *dated.notes.get(hit.id, ())),
                explain=hit.explain if explain else None,
                placed=placed.get(hit.id),
            )
            for hit in shown
        ]
        if reinforce:
            self._reinforce_recalled([node.key for node in found.nodes])
        return self._compose(query, found, hits, conditions, started, (*dated.remarks, *told))

    def _build_conditions(self, **narrowed: Any) -> Conditions:
        return build_conditions(project=self.project.id, root=self.project.root, now=self.clock(), **narrowed)

    def _remark_on_weakness(self, query: str, found: SearchResult, hits: Sequence[Hit]) -> tuple[str, ...]:
        """Say that nothing found bears on the question, where its meaning was looked at and nothing has its name."""
        if found.mode != "hybrid" or found.named or not hits:
            return ()
        return () if select_for_question(query, hits, make_term_share(self.store)) else (NOTHING_NEAR,)

    def _explain_hits(self, query: str, profile: str, found: SearchResult, *, behind: Sequence[Node] = ()) -> list[Hit]:
        terms = analyse_query(query)
        explanations = {key: explain_scores(scores, terms, profile) for key, scores in found.scores.items()}
        return self.present_hits(found.nodes, scores=_carry_scores(found, behind), explanations=explanations)

    def search_line(self, line: str, *, limit: int, explain: bool, reinforce: bool, **otherwise: Any) -> SearchAnswer:
        """Answer a line of words and conditions; one of conditions alone lists what meets them.

        Raises:
            QuerySyntaxError: the line can't be read, or a condition can't be met; it says at which column.
            BadRequestError: an argument beside the line is invalid.
        """
        from hyperloci.retrieval.query_language import locate_error, parse_query, search_arguments

        query = parse_query(line, project=self.project.id, now=self.clock())
        given = search_arguments(query, limit=limit, **otherwise)
        try:
            if query.text:
                return self.search(query.text, explain=explain, reinforce=reinforce, **given)
            return self._list_memories(line, **given)
        except (BadRequestError, NotFoundError) as error:
            raise locate_error(line, error) from None

    def _list_memories(self, line: str, *, limit: int, profile: str = "auto", **narrowed: Any) -> SearchAnswer:
        """List what meets the conditions of a line without words; no `profile` matters to that, but it must exist."""
        started = time.perf_counter()
        conditions = self._build_conditions(**narrowed)
        found = self.searcher.list_memories(conditions, limit=limit, profile=profile)
        more = f"{found.unlisted:,} more meet these conditions; `limit:` lists {MAX_LIMIT} at most."
        shown = self.present_hits(found.nodes)
        return self._compose(line, found, shown, conditions, started, (more,) if found.unlisted else ())

    def find_contradictions(self, statement: str, limit: int) -> ContradictionReport:
        """Compare a statement with the memories, documents and code nearest to it in words and in meaning (D.10)."""
        from hyperloci.knowledge.contradictions.affected import select_affected
        from hyperloci.knowledge.contradictions.detector import ContradictionFinder

        near, by_words = self._find_near_statements(statement, ("fact", "decision", "experience"))
        documents, _ = self._find_near_statements(statement, ("snippet",), subtypes=("markdown", "section"))
        code, _ = self._find_near_statements(statement, ("snippet",), subtypes=("code",))
        report = ContradictionFinder(self.store, self.nli, self.scorer).find(
            statement, [*near, *documents, *code], scopes=self._scopes, limit=limit
        )
        named = {item.id for item in report.contradictions}
        others = [node for node in select_affected(statement, near, by_words, named) if node.id not in named]
        return replace(report, on_subject=tuple(self.present_hits(others)))

    def check_statement(self, statement: str, *, limit: int = 5) -> StatementCheck:
        """Return what contradicts a statement that is about to be stored, and what else is said on its subject."""
        from hyperloci.knowledge.contradictions.affected import select_affected
        from hyperloci.knowledge.contradictions.detector import ContradictionFinder

        near, by_words = self._find_near_statements(
            statement, ("fact", "decision", "experience"), most=CHECKED_ON_WRITING
        )
        # Not read together: that takes some 50 ms, four times what telling a fact takes.
        report = ContradictionFinder(self.store, self.nli).find(statement, near, scopes=self._scopes, limit=limit)
        against = {item.id for item in report.contradictions}
        affected = select_affected(statement, near, by_words, against)
        return StatementCheck(contradictions=report.contradictions, affected=tuple(affected))

    def find_proposing(self, approach: str) -> StatementCheck:
        """Return what proposes an approach that is about to be stored as a dead end."""
        from hyperloci.knowledge.contradictions.affected import select_proposing

        near, by_words = self._find_near_statements(
            approach, ("fact", "decision", "experience"), most=CHECKED_ON_WRITING
        )
        return StatementCheck(affected=tuple(select_proposing(approach, near, by_words)))

    @property
    def _scopes(self) -> tuple[str, str]:
        return (self.project.id, GLOBAL_SCOPE)

    def _find_near_statements(
        self,
        statement: str,
        types: tuple[str, ...],
        subtypes: tuple[str, ...] = (),
        most: int = CONTRADICTION_CANDIDATES,
    ) -> tuple[list[ContradictionCandidate], Mapping[int, float]]:
        """Return memories near a statement in words or in meaning, past ones too, and the scores in words."""
        from hyperloci.knowledge.contradictions.detector import ContradictionCandidate

        said = SearchFilter(scopes=self._scopes, types=types, subtypes=subtypes, as_of=None)
        allowed = self.store.filters.select_allowed(said)
        by_words = self.store.keyword_search.rank_by_bm25(analyse_search(statement), allowed, most)
        near = self.searcher.find_nearest(statement, allowed, most)
        nodes = self.store.nodes.get_by_keys({*(NodeKey(key) for key in by_words), *near})
        # What a turn says counts once, as the statement that is made of it: that one ends when minds change.
        whole = find_whole_statements(self.store, list(nodes.values()))
        # Of one that says more, its statements speak: once all of them were replaced, it says nothing that holds.
        spent = self.store.edges.select_spent_turns(nodes.keys() - whole.keys())
        said_once = {
            node.key: node for node in (whole.get(key, node) for key, node in nodes.items() if key not in spent)
        }
        like, in_words = move_scores(near, whole), move_scores(by_words, whole)
        return [ContradictionCandidate(node, like.get(key)) for key, node in sorted(said_once.items())], in_words

    def find_event(self, topic: str, argument: str = "topic") -> StartingPoint:
        """Return the memory of something that happened that an id, or words mean; else what `find_start` takes.

        What a file holds, and a thing that has a name, happened at no time: they stand where they were first seen.
        """
        if topic.strip() and find_node(self.store.nodes, topic, argument, scopes=self._scopes) is None:
            told = self.search(topic, limit=1, reinforce=False, where={"types": TOLD_TYPES})
            if told.results:
                nearest = self.facts.resolve_living_node(told.results[0].id, argument)
                doubts = [hint for hint in told.hints if hint == NOTHING_NEAR]
                return StartingPoint(node=nearest, described=" ".join([f"{TOOK_NEAREST}.", *doubts]))
        return self.find_start(topic, argument)

    def find_start(self, topic: str, argument: str = "topic") -> StartingPoint:
        """Return the memory that an id, the beginning of one, or a name means; else the one that words describe best.

        Raises:
            BadRequestError: no words.
            NotFoundError: no memory is meant.
        """
        if not topic.strip():
            raise BadRequestError(f"{argument} is empty: give a memory's id, a name, or words that find it.")
        node = find_node(self.store.nodes, topic, argument, scopes=self._scopes)
        if node is not None:
            living = self.facts.resolve_living_node(node.id, argument)
            return StartingPoint(node=living, described=f"took the memory {node.id}")
        named = NameResolver(self.store, self._scopes).resolve(topic)
        if named is not None:
            return start_at_name(self.store, named, self._scopes)
        answer = self.search(topic, limit=1, reinforce=False)
        if not answer.results:
            raise NotFoundError(f"{argument}={topic!r:.80}: no memory matches it; give other words or a memory's id.")
        nearest = self.facts.resolve_living_node(answer.results[0].id, argument)
        return StartingPoint(node=nearest, described=f"nothing is called so; {TOOK_NEAREST}")

    def present_hits(
        self,
        nodes: Sequence[Node],
        *,
        scores: Mapping[NodeKey, float] | None = None,
        explanations: Mapping[NodeKey, Mapping[str, Any]] | None = None,
    ) -> list[Hit]:
        """Return nodes as hits, in their order."""
        now, project = self.clock(), self.project.id
        return present_hits(self.store, nodes, now=now, scores=scores, explanations=explanations, project=project)

    def _compose(
        self,
        query: str,
        found: SearchResult,
        hits: Sequence[Hit],
        conditions: Conditions,
        started: float,
        remarks: Sequence[str] = (),
    ) -> SearchAnswer:
        return SearchAnswer(
            query=query,
            intent=found.intent,
            strategy=found.strategy,
            mode=found.mode,
            degraded=found.degraded,
            by_meaning=found.by_meaning,
            results=tuple(hits),
            hints=(
                *remarks,
                *((found.named,) if found.named else ()),
                *_suggest_changes(found, conditions),
                *self._tree_hint(found.nodes),
                *self._history_hint(conditions.where),
            ),
            took_ms=round(1_000 * (time.perf_counter() - started), 2),
        )

    def _history_hint(self, where: SearchFilter) -> tuple[str, ...]:
        """Return a hint that older commits are still to be read, for searches of commits."""
        if where.subtypes != ("commit",):
            return ()
        scope = self.store.scopes.find_key(self.project.id) or 0
        state = self.store.history.get_state(scope)
        if state is None or not state.waiting:
            return ()
        return (f"{state.waiting:,} older commits are not read yet: watchers read them, newest first.",)

    def _tree_hint(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        """Say whose files are shown, where they are another worktree's."""
        if not any(node.origin in FILE_ORIGINS for node in nodes):
            return ()
        root = self.store.files.get_indexed_root(self.project.id)
        if root is None or self.store.files.is_indexed_root(self.project.id, str(self.project.root)):
            return ()
        return (f"Files and lines are those of {root}; `hyperloci index` reads this worktree's.",)

    def reinforce_ids(self, ids: Iterable[str]) -> None:
        """Record that memories, by their ids, were recalled."""
        found = (self.store.nodes.get_node(id) for id in ids)
        self._reinforce_recalled([node.key for node in found if node is not None])

    def _reinforce_recalled(self, keys: Sequence[NodeKey]) -> None:
        """Record that memories were recalled (B.12); if that fails, the answer is given all the same."""
        if not keys:
            return
        try:
            with self.store.limit_lock_wait(REINFORCE_PATIENCE_MS), self.store.transaction():
                self.store.nodes.reinforce_nodes(keys, now=self.clock())
        except StoreError as error:
            logger.info("could not record a recall: %s", error)


def _carry_scores(found: SearchResult, behind: Sequence[Node]) -> dict[NodeKey, float]:
    """Return the score of each hit; what stands before a hit because it replaced it has that one's.

    `behind` are those that have no room behind the hits: the last ones may stand before one of them.
    """
    scores = {key: show_score(scores.total) for key, scores in found.scores.items()}
    carried = 0.0
    for node in reversed((*found.nodes, *behind)):
        carried = scores.setdefault(node.key, carried)
    return scores


def _tell_placements(
    found: SearchResult, placed: Mapping[NodeKey, Placement], by_time: Collection[str]
) -> dict[str, Placement]:
    """Return, by id, why hits stand where they do, of those whose score does not say it."""
    told: dict[str, Placement] = {}
    for node in found.nodes:
        scores = found.scores.get(node.key)
        if node.key in placed:
            told[node.id] = placed[node.key]
        elif node.id in by_time:
            told[node.id] = Placement.TIME
        elif scores is not None and NAMED in scores.parts:
            told[node.id] = Placement.NAMED
    return told


def _suggest_changes(found: SearchResult, conditions: Conditions) -> tuple[str, ...]:
    hints = []
    if not found.nodes and found.strategy != BY_ID:
        hints.append("Nothing found; try other words" + (" or fewer conditions." if conditions.are_narrow else "."))
    if any(node.subtype == "dead_end" for node in found.nodes):
        hints.append("A dead end is among the results: it was tried and failed.")
    return tuple(hints)
