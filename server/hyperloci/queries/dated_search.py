"""Dated search: a question that speaks of time is searched within it, and the answer says how the time was taken.

Bounds are conditions here, not a taste: who asks for last week wants last week. Where nothing within them bears on the
question, the best from outside is given and marked, so that a misremembered date never hides what is known.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Final

from hyperloci.clock import Clock, format_day
from hyperloci.model.kinds import NodeType
from hyperloci.model.node import Node
from hyperloci.model.search import Hit, SearchFilter
from hyperloci.queries.question_time import EventBound, QuestionTime, TimeOrder, read_question_time
from hyperloci.queries.recall_targets import KINDS, RecallRequest, read_recall_request, remove_words
from hyperloci.retrieval.filters import Conditions
from hyperloci.retrieval.relevance import make_term_share, select_for_question
from hyperloci.retrieval.search import SearchResult
from hyperloci.retrieval.time_bounds import TimeBounds
from hyperloci.store import Store
from hyperloci.store.keywords.analysis import analyse_query, analyse_text
from hyperloci.system.values import dataclass

UNDATED_SUBTYPES: Final = frozenset({"code", "markdown", "text", "section"})
"""What files hold is there at any time: who asks for code with `last week` in its words asks for no date."""

TOLD_TYPES: Final = tuple(kind for kind in NodeType if kind not in (NodeType.SNIPPET, NodeType.ENTITY))
"""What happened, or was said: what a file holds and a thing are neither."""

SAME_SUBJECT_SHARE: Final = 0.8
SAME_WORDS_SHARE: Final = 0.5
"""Of the best score, and of the words of both: hits that reach so much beside the best are taken for other values of
the same thing, and put in order of time. By their scores alone a dozen turns about other things came before the answer
of a question of BEAM that says "currently"."""

MISREMEMBERED_FACTOR: Final = 1.75
"""What lies outside of the bounds and scores so many times what lies within was meant: the date was misremembered. Of
98 dated questions of LoCoMo with its true dates it holds for 4, and recall@10 is 0.863 (0.853 with 1.3, 0.839 without,
0.720 without bounds)."""

SHORT_ID: Final = 8
"""Characters of an id, as lists show it."""

Find = Callable[[str, Conditions], SearchResult]
"""Searches for a text under conditions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedResult:
    """What a search found, and what is to be said of time.

    Attributes:
        found: the hits.
        remarks: how the time was taken.
        notes: of single memories, by their id.
        by_time: the ids of those that are in order of time.
        is_of_past: whether what holds no longer is among what was searched, so that it answers as it is.
    """

    found: SearchResult
    remarks: tuple[str, ...] = ()
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    by_time: frozenset[str] = frozenset()
    is_of_past: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedSearch:
    """Searches for one question under the conditions of its caller."""

    store: Store
    clock: Clock
    find: Find
    list_all: Callable[[Conditions], SearchResult]
    present: Callable[[SearchResult], list[Hit]]

    def search(self, query: str, conditions: Conditions) -> DatedResult:
        """Find what answers a question; bounds that the caller gave come before those that the question names."""
        asked = _read_time(query, conditions, self.clock())
        bounds, remark = self._resolve_bounds(asked, conditions)
        if bounds is None:
            wanted = _include_ended(conditions) if asked.is_about_past else conditions
            result = DatedResult(found=self.find(query, wanted), remarks=remark, is_of_past=asked.is_about_past)
        else:
            result = self._search_within(query, asked, bounds, remark, conditions)
        return result if asked.order is None else _put_in_order(result, asked.order, asked.order_word)

    def _resolve_bounds(self, asked: QuestionTime, conditions: Conditions) -> tuple[TimeBounds | None, tuple[str, ...]]:
        """Return the bounds in force, and what is to be said of them."""
        if asked.event is not None:
            return self._date_event(asked.event, conditions)
        if asked.bounds is None:
            return None, ()
        return asked.bounds, (f"Took {asked.bounds.expression!r} as {asked.bounds.describe()}.",)

    def _date_event(self, event: EventBound, conditions: Conditions) -> tuple[TimeBounds | None, tuple[str, ...]]:
        """Return the bounds that an event gives: the best memory that names what it was about tells when it was."""
        terms = frozenset(analyse_query(event.about))
        everything = Conditions(where=SearchFilter(scopes=conditions.where.scopes, types=TOLD_TYPES, ended=True))
        nodes = self.find(event.event, everything).nodes if terms else ()
        telling = [node for node in nodes if _can_tell_event(node) and terms.issubset(analyse_text(node.content))]
        if not telling:
            return None, (f"No memory tells when it was: {event.event!r}; so it bounds nothing.",)
        # What was decided or committed tells more surely than what was said of it.
        node = min(telling, key=lambda node: node.subtype == "episode")
        after, before = (node.event_time, None) if event.side == "after" else (None, node.event_time)
        day = format_day(node.event_time)
        kind = node.subtype or node.type
        remark = f"Took {event.expression!r} as {event.side} {day}: {kind} {node.id[:SHORT_ID]} is of that day."
        return TimeBounds(after, before, event.expression), (remark,)

    def _search_within(
        self, query: str, asked: QuestionTime, bounds: TimeBounds, remark: tuple[str, ...], conditions: Conditions
    ) -> DatedResult:
        text = remove_words(query, bounds.expression)
        request = read_recall_request(query) or read_recall_request(text, is_dated=True)
        subject = text if request is None else remove_words(request.subject, bounds.expression)
        kinds = _narrow_to_kind(conditions, request)
        # A question for a time and nothing else is answered by what is of that time, the latest first.
        # Of another thing than the event that bounds it: that one's words would only lead there.
        wording = query if asked.event is None else text
        find = self.list_all if not analyse_query(subject) else functools.partial(self.find, wording)
        # Only where it is compared, or shown: of what is listed nothing is better, and an event is not misremembered.
        look_outside = functools.cache(
            functools.partial(self.find, query, conditions)
            if analyse_query(subject)
            else functools.partial(self.list_all, kinds)
        )
        is_compared = asked.event is None and bool(analyse_query(subject))
        for wanted in dict.fromkeys((kinds, conditions)):
            found = find(_include_ended(wanted, bounds))
            if self._has_answer(subject, found) and not (is_compared and _is_far_better(look_outside(), found)):
                return DatedResult(found=found, remarks=remark, is_of_past=True)
        return self._mark_outside(look_outside(), bounds, remark, _include_ended(conditions, bounds))

    def _mark_outside(
        self, found: SearchResult, bounds: TimeBounds, remark: tuple[str, ...], within: Conditions
    ) -> DatedResult:
        """Return the best from any time; what is not of the time asked for is marked."""
        allowed = self.store.filters.select_allowed(within.where)
        note = f"outside of {bounds.expression!r}"
        notes = {str(node.id): (note,) for node in found.nodes if not allowed[int(node.key)]}
        said = f"Little or nothing within {bounds.expression!r} bears on the question: the best from any time."
        return DatedResult(found=found, remarks=(*remark, *([said] if notes else [])), notes=notes)

    def _has_answer(self, subject: str, found: SearchResult) -> bool:
        """Return whether anything that was found bears on a subject; on none, everything does."""
        if not found.nodes or not analyse_query(subject):
            return bool(found.nodes)
        return bool(select_for_question(subject, self.present(found), make_term_share(self.store)))


def _read_time(query: str, conditions: Conditions, now: int) -> QuestionTime:
    """Return what a question says of time, where it is the question's to say."""
    where = conditions.where
    if where.subtypes and UNDATED_SUBTYPES.issuperset(where.subtypes):
        return QuestionTime()
    asked = read_question_time(query, now)
    if where.after is not None or where.before is not None or where.as_of is not None:
        return replace(asked, bounds=None, event=None)
    return asked


def _include_ended(conditions: Conditions, bounds: TimeBounds | None = None) -> Conditions:
    """Return conditions under which also what no longer holds is found: a question of the past asks for it."""
    where = replace(conditions.where, ended=True)
    if bounds is not None:
        where = replace(where, after=bounds.after, before=bounds.before)
    return replace(conditions, where=where)


def _is_far_better(found: SearchResult, other: SearchResult) -> bool:
    return _find_best_score(found) > MISREMEMBERED_FACTOR * _find_best_score(other) > 0


def _find_best_score(found: SearchResult) -> float:
    return max((scores.total for scores in found.scores.values()), default=0.0)


def _narrow_to_kind(conditions: Conditions, request: RecallRequest | None) -> Conditions:
    """Return conditions for what a question of the memory itself asks for; a caller's own kinds stay."""
    where = conditions.where
    if request is None or where.types or where.subtypes:
        return conditions
    if request.target in KINDS:
        return replace(conditions, where=replace(where, subtypes=KINDS[request.target][1]))
    return replace(conditions, where=replace(where, types=TOLD_TYPES))


def _can_tell_event(node: Node) -> bool:
    return node.type in TOLD_TYPES and not (node.subtype or "").startswith("chunk_")


def _put_in_order(result: DatedResult, order: TimeOrder, word: str) -> DatedResult:
    """Put the best hit and other values of what it says in order of time, before all other hits."""
    found = result.found
    values = _find_values(found)
    if len(values) < 2:
        return result
    ordered = sorted(values, key=lambda node: node.event_time, reverse=order is TimeOrder.NEWEST)
    rest = [node for node in found.nodes if node not in values]
    said = f"{word!r} asks for the {order} first: {len(values)} hits that say nearly the same are in order of time."
    return replace(
        result,
        found=replace(found, nodes=(*ordered, *rest)),
        remarks=(*result.remarks, said),
        by_time=frozenset(node.id for node in ordered),
    )


def _find_values(found: SearchResult) -> list[Node]:
    """Return the best hit and those that say nearly the same of nearly the same relevance; none of files."""
    if not found.scores or found.nodes[0].subtype in UNDATED_SUBTYPES:
        return []
    least = SAME_SUBJECT_SHARE * found.scores[found.nodes[0].key].total
    near = [node for node in found.nodes if node.type in TOLD_TYPES and found.scores[node.key].total >= least]
    words = {node.key: frozenset(analyse_text(node.content)) for node in near}
    best = words.get(found.nodes[0].key, frozenset())
    return [node for node in near if len(best & words[node.key]) >= SAME_WORDS_SHARE * len(best | words[node.key])]
