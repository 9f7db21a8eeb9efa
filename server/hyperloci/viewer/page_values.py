"""Page values: what each page shows, read from one memory in one go."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from hyperloci.clock import end_of_day, format_day, from_iso, to_iso
from hyperloci.errors import BadRequestError
from hyperloci.memory import Memory
from hyperloci.model.kinds import NodeKey
from hyperloci.model.search import Placement
from hyperloci.model.topic import EventPlace
from hyperloci.queries.browsing import ALL_EVENTS, EVENT_KINDS
from hyperloci.retrieval.filters import CONTENT_TYPES
from hyperloci.system.values import dataclass
from hyperloci.viewer.graph_drawing import draw_graph, order_members
from hyperloci.viewer.rendering import name_state
from hyperloci.viewer.score_account import account_for_score

Values = dict[str, Any]
PageQuery = Mapping[str, str]
PageLoader = Callable[[Memory, str, PageQuery], Values]
"""Reads the values of a page from the memory, the last part of its address and the rest of that."""

SEARCH_STEPS: Final = (10, 25, 50)
LATEST: Final = 12
LEFT_OUT: Final = 8
RELATED: Final = 24
GRAPH_NODES: Final = 24
"""More boxes than this and nobody reads them; the list below the drawing leads on."""

PAGE_EVENTS: Final = 50
REVIEW_ITEMS: Final = 20
FORGOTTEN: Final = "forgotten"

CORRECTABLE: Final = frozenset({"fact", "decision", "experience"})
"""What is stated can be restated; what is in a file is changed in the file."""


@dataclass(frozen=True, slots=True)
class ReviewTab:
    """One list of the review: what its entries are, in a sentence, and what one and several are called."""

    name: str
    title: str
    about: str
    few: str = ""
    many: str = ""

    @property
    def path(self) -> str:
        """The page's address, to which more may be added."""
        return "/weak?" if self.name == "weak" else f"/review?tab={self.name}&"


WEAK: Final = ReviewTab("weak", "Low confidence", "Unsure or fading; forgotten in time unless somebody confirms it.")
REVIEW_TABS: Final = (
    ReviewTab(
        "contradictions",
        "Contradictions",
        "Memories that cannot all be true. Say which one holds.",
        "contradiction",
        "contradictions",
    ),
    ReviewTab(
        "replaced",
        "Possibly replaced",
        "A later statement may have taken the place of an earlier one.",
        "possible replacement",
        "possible replacements",
    ),
    ReviewTab("outdated", "Changed code", "What is remembered of code that has changed since."),
    WEAK,
    ReviewTab(
        "quarantine",
        "Quarantine",
        "It reads like an instruction to the assistant, so no session is shown it unasked.",
        "in quarantine",
        "in quarantine",
    ),
)


PLACEMENTS: Final[Mapping[Placement, str]] = {
    Placement.NAMED: "It leads because the question names it, or asks for what it is related to.",
    Placement.NEWER: "It stands here because it replaced, or may have replaced, what comes next.",
    Placement.LATER: "It was said in a later session than a hit behind it, on the same subject.",
    Placement.SAID: "It stands where the turn would that it was made of: that says the same and was found as well.",
    Placement.TIME: "The question asks for an order of time.",
}
"""Why a hit stands before hits that score more, for who asks."""


def load_search(memory: Memory, _: str, query: PageQuery) -> Values:
    """Return the answer to a question with the account of each score, or what was used last."""
    said, kind = query.get("q", "").strip(), query.get("kind", "any")
    values: Values = {"said": said, "kind": kind, "kinds": tuple(CONTENT_TYPES)}
    if not said:
        return values | {
            "answer": None,
            "latest": memory.list_events(limit=LATEST).events,
            "waiting": _count_waiting(memory),
        }
    limit = _parse_limit(query.get("limit"))
    answer = memory.search_by_query_line(said, limit=limit, explain=True, reinforce=False, content_type=kind)
    return values | {
        "answer": answer,
        "placements": PLACEMENTS,
        "accounts": {hit.id: account_for_score(hit) for hit in answer.results},
        "left_out": () if answer.mode == "list" else memory.list_left_out(said, limit=LEFT_OUT),
        "more": next((step for step in SEARCH_STEPS if step > limit), None) if len(answer.results) == limit else None,
    }


def load_memory(memory: Memory, id: str, _: PageQuery) -> Values:
    """Return a memory with where it came from, what became of it, and what it is related to."""
    explanation = memory.explain_fact(id)
    node = explanation.node
    state = name_state(node)
    return {
        "explanation": explanation,
        "memory": node,
        "state": state,
        "is_pinned": any(line.operation == "confirm" for line in explanation.log),
        "is_correctable": node.type in CORRECTABLE and state in ("holds", "withheld") and node.subtype != "commit",
        "disputes": memory.list_disputes_of(node.id),
        "related": () if state == FORGOTTEN else memory.find_related(node.id, limit=RELATED).related,
        "facets": {name: value for name, value in memory.get_facets(node.id).items() if value},
    }


def load_sessions(memory: Memory, _: str, query: PageQuery) -> Values:
    """Return a page of sessions."""
    return {"sessions": memory.list_session_page(before=_parse_place(query.get("before")))}


def load_session(memory: Memory, id: str, query: PageQuery) -> Values:
    """Return a page of one session's replay."""
    return {"replay": memory.replay_session(id, _parse_number("from", query.get("from", "0")))}


def load_review(memory: Memory, _: str, query: PageQuery) -> Values:
    """Return one list of what may be settled."""
    tab = next((tab for tab in REVIEW_TABS if tab.name == query.get("tab", REVIEW_TABS[0].name)), None)
    if tab is None or tab == WEAK:
        raise BadRequestError(f"tab={query['tab']!r:.80} is unknown: use {', '.join(_REVIEW)}.")
    place = query.get("before")
    number = None if place is None else _parse_number("before", place)
    return {"tab": tab, "tabs": REVIEW_TABS, **_REVIEW[tab.name](memory, number)}


def load_timeline(memory: Memory, _: str, query: PageQuery) -> Values:
    """Return a page of what happened, or of what was forgotten."""
    kind, day = query.get("kind", "learnt"), query.get("day", "")
    before = _parse_place(query.get("before")) or _parse_day(day)
    page = (
        memory.list_forgotten(limit=PAGE_EVENTS, before=before)
        if kind == FORGOTTEN
        else memory.list_events(kind, limit=PAGE_EVENTS, before=before)
    )
    days = [
        (date, tuple(events))
        for date, events in itertools.groupby(page.events, lambda event: format_day(from_iso(event.at)))
    ]
    return {"page": page, "days": days, "kind": kind, "kinds": (*EVENT_KINDS, ALL_EVENTS, FORGOTTEN), "day": day}


def load_topics(memory: Memory, _: str, query: PageQuery) -> Values:
    """Return the topics of the project."""
    return {"topics": memory.list_topics(60)}


def load_topic(memory: Memory, id: str, query: PageQuery) -> Values:
    """Return one topic with its most typical members."""
    return {"topic": memory.get_topic(id)}


def load_graph(memory: Memory, id: str, query: PageQuery) -> Values:
    """Return the neighbourhood of a memory as a drawing and as a list."""
    depth = 1 if query.get("depth") == "1" else 2
    graph = memory.get_subgraph(id, depth=depth, limit=GRAPH_NODES)
    return {
        "middle": graph.nodes[0],
        "graph": graph,
        "nodes": {node.id: node for node in graph.nodes},
        "drawing": draw_graph(graph),
        "order_members": order_members,
        "depth": depth,
    }


def load_contradictions(memory: Memory, before: int | None) -> Values:
    """Return a page of contradictions."""
    page = memory.list_disputes("contradicts", limit=REVIEW_ITEMS, before=before)
    return {"disputes": page.disputes, "more": page.older}


def load_replaced(memory: Memory, before: int | None) -> Values:
    """Return a page of possible replacements."""
    page = memory.list_disputes("updates", limit=REVIEW_ITEMS, before=before)
    return {"disputes": page.disputes, "more": page.older}


def load_outdated(memory: Memory, after: int | None) -> Values:
    """Return a page of memories of changed code."""
    page = memory.list_outdated(after=after or 0)
    return {"memories": page.memories, "more": page.more}


def load_quarantine(memory: Memory, before: int | None) -> Values:
    """Return a page of what looked like an instruction."""
    page = memory.list_suspicious(limit=REVIEW_ITEMS, before=before)
    return {"memories": page.memories, "more": page.more}


_REVIEW: Final[Mapping[str, Callable[[Memory, int | None], Values]]] = {
    "contradictions": load_contradictions,
    "replaced": load_replaced,
    "outdated": load_outdated,
    "quarantine": load_quarantine,
}


def _read_latest(memory: Memory) -> None:
    for event in memory.list_events(limit=1).events:
        load_memory(memory, event.memory.id, {})
        load_graph(memory, event.memory.id, {})


def _read_last_session(memory: Memory) -> None:
    for session in memory.list_session_page(1).sessions:
        load_session(memory, session.id, {})


WARM_UP: Final[tuple[Callable[[Memory], object], ...]] = (
    lambda memory: load_timeline(memory, "", {}),
    _read_latest,
    _read_last_session,
    lambda memory: load_review(memory, "", {}),
    lambda memory: load_topics(memory, "", {}),
    lambda memory: memory.search("memory", limit=1, explain=True, reinforce=False),
    lambda memory: memory.list_left_out("memory"),
)
"""What the first pages need is read ahead, in steps that let a page in between."""


def _count_waiting(memory: Memory) -> Sequence[tuple[ReviewTab, str]]:
    """Return the lists of the review in which something waits, with how much, at most `20+`."""
    found = (
        (REVIEW_TABS[0], memory.list_disputes("contradicts", limit=REVIEW_ITEMS)),
        (REVIEW_TABS[1], memory.list_disputes("updates", limit=REVIEW_ITEMS)),
    )
    counts = [(tab, len(page.disputes), page.older) for tab, page in found]
    flagged = memory.list_suspicious(limit=REVIEW_ITEMS)
    counts.append((REVIEW_TABS[4], len(flagged.memories), flagged.more))
    return [(tab, f"{count}{'+' if more else ''}") for tab, count, more in counts if count]


def _parse_limit(said: str | None) -> int:
    limit = SEARCH_STEPS[0] if said is None else _parse_number("limit", said)
    return limit if limit in SEARCH_STEPS else SEARCH_STEPS[0]


def _parse_place(said: str | None) -> EventPlace | None:
    """Return the place that a page's address names as `time.key`."""
    if said is None:
        return None
    time, _, key = said.partition(".")
    return EventPlace(_parse_number("before", time), NodeKey(_parse_number("before", key)))


def _parse_day(said: str) -> EventPlace | None:
    """Return the end of a day."""
    if not said:
        return None
    try:
        end = end_of_day(dt.date.fromisoformat(said[:10]))
    except ValueError as error:
        raise BadRequestError(f"day={said!r:.80} is no day: write it as {to_iso(0)[:10]}.") from error
    return EventPlace(end, NodeKey(0))


def _parse_number(name: str, said: str) -> int:
    if not (said.isascii() and said.isdigit() and len(said) < 19):
        raise BadRequestError(f"{name}={said!r:.80} is no place on a page: follow the links of the page before.")
    return int(said)
